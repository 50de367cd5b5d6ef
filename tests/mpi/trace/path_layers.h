/* Receives an int from rank 1, far below. */
void outer(int* value, int length);
