// MPI for SignalsJava.java, by JNI.
#include <dlfcn.h>
#include <jni.h>
#include <mpi.h>
#include <unistd.h>

#define NATIVE(result, name) JNIEXPORT result JNICALL Java_SignalsJava_##name

NATIVE(void, init)(JNIEnv* java, jclass class) {
  (void)java, (void)class;
  dlopen("libmpi.so.40", RTLD_NOW | RTLD_GLOBAL);  // the host's plug-ins need its symbols
  MPI_Init(NULL, NULL);
}

NATIVE(jint, rank)(JNIEnv* java, jclass class) {
  (void)java, (void)class;
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

NATIVE(void, receive)(JNIEnv* java, jclass class, jobject buffer, jint from) {
  (void)class;
  void* to = (*java)->GetDirectBufferAddress(java, buffer);
  MPI_Recv(to, (int)(*java)->GetDirectBufferCapacity(java, buffer), MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

NATIVE(void, sendLate)(JNIEnv* java, jclass class, jobject buffer, jint to) {
  (void)class;
  usleep(10000);
  void* from = (*java)->GetDirectBufferAddress(java, buffer);
  MPI_Send(from, (int)(*java)->GetDirectBufferCapacity(java, buffer), MPI_BYTE, to, 1, MPI_COMM_WORLD);
}

NATIVE(void, end)(JNIEnv* java, jclass class) {
  (void)java, (void)class;
  MPI_Finalize();
}
