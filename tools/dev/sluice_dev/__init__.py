"""What builds, tests and measures this tree. README.md beside it is the map."""
