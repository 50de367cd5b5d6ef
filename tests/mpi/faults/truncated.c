/* A message longer than the receive buffer, for every way to receive it. Every rank's error handler returns; what each call
 * returned and what the statuses say is printed. The message is there before the call, so that nothing can be released. */
#include <string.h>

#include "common.h"

enum { tag = 77, max_bytes = 1 << 20 };

static const char* name(int code) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  return class == MPI_SUCCESS         ? "MPI_SUCCESS"
         : class == MPI_ERR_TRUNCATE  ? "MPI_ERR_TRUNCATE"
         : class == MPI_ERR_IN_STATUS ? "MPI_ERR_IN_STATUS"
                                      : "other";
}

static void show(const char* call, int bytes, int code, const MPI_Status* status) {
  printf("%s of %d bytes: %s, source %d, tag %d\n", call, bytes, name(code), status->MPI_SOURCE, status->MPI_TAG);
}

static void receive(int way, unsigned char* buffer, int capacity, int bytes) {
  MPI_Status status = {0};
  MPI_Status statuses[2];
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Message message = MPI_MESSAGE_NULL;
  int code = MPI_SUCCESS;
  switch (way) {
    case 0:
      show("Recv", bytes, MPI_Recv(buffer, capacity, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &status), &status);
      break;
    case 1:
      MPI_Irecv(buffer, capacity, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &request);
      show("Irecv and Wait", bytes, MPI_Wait(&request, &status), &status);
      break;
    case 2:
      MPI_Irecv(buffer, capacity, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
      code = MPI_Waitall(2, requests, statuses);
      show("Waitall", bytes, code, &statuses[0]);
      printf("  first %s, second %s\n", name(statuses[0].MPI_ERROR), name(statuses[1].MPI_ERROR));
      break;
    case 3:
      MPI_Mprobe(1, tag, MPI_COMM_WORLD, &message, &status);
      show("Mprobe and Mrecv", bytes, MPI_Mrecv(buffer, capacity, MPI_BYTE, &message, &status), &status);
      break;
    default:
      code = MPI_Sendrecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, buffer, capacity, MPI_BYTE, 1, tag, MPI_COMM_WORLD, &status);
      show("Sendrecv", bytes, code, &status);
      break;
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  static unsigned char buffer[max_bytes + 64];
  static const int sizes[] = {100, 3000, 60000, max_bytes};
  for (size_t size = 0; size < sizeof sizes / sizeof *sizes; ++size) {
    for (int way = 0; way < 5; ++way) {
      const int bytes = sizes[size];
      const int capacity = bytes / 2;
      MPI_Request request = MPI_REQUEST_NULL;
      memset(buffer, 0x5a, sizeof buffer);
      if (world_rank() == 1) MPI_Isend(buffer, bytes, MPI_BYTE, 0, tag, MPI_COMM_WORLD, &request);
      MPI_Barrier(MPI_COMM_WORLD);
      if (world_rank() == 0) {
        MPI_Probe(1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        memset(buffer, 0x11, sizeof buffer);
        receive(way, buffer, capacity, bytes);
        for (int i = capacity; i < max_bytes + 64; ++i) {
          if (buffer[i] != 0x11) {
            printf("  byte %d beyond the buffer was changed\n", i - capacity);
            break;
          }
        }
      }
      if (world_rank() == 1) MPI_Wait(&request, MPI_STATUS_IGNORE);
      MPI_Barrier(MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return 0;
}
