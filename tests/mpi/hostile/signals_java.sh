#!/bin/sh
# Starts SignalsJava with the class and the library that lie beside this script.
here=$(dirname "$0")/signals_java.d
exec java -Xcheck:jni -XX:+UseSerialGC -Xmx64m -cp "$here" -Djava.library.path="$here" SignalsJava
