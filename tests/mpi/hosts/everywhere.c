// Calls of every kind that Sluice takes, in plain MPI-3: on hosts whose handles, constants and statuses are other than Open
// MPI's, each must pass through as if Sluice were not there. Rank 0 prints what all ranks found; with -DMODULE it is a library
// that comes in by dlopen.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 300001 };

static int rank, size, wrong;
static int previous, next;

#define MUST(condition)                                                  \
  do {                                                                   \
    if (!(condition)) {                                                  \
      wrong++;                                                           \
      printf("WRONG rank %d line %d: %s\n", rank, __LINE__, #condition); \
    }                                                                    \
  } while (0)

static void blocking(void) {
  char *sent = malloc(LARGE), *received = malloc(LARGE);
  memset(sent, rank + 1, LARGE);
  MPI_Status status;
  int count = 0;
  MPI_Sendrecv(sent, LARGE, MPI_BYTE, next, 7, received, LARGE, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  MPI_Get_count(&status, MPI_BYTE, &count);
  MUST(count == LARGE && status.MPI_SOURCE == previous && status.MPI_TAG == 7 && received[LARGE - 1] == previous + 1);
  if (rank == 0 && size > 1) {
    MPI_Ssend(sent, 1000, MPI_BYTE, next, 8, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Probe(previous, 8, MPI_COMM_WORLD, &status);
    MPI_Get_elements(&status, MPI_BYTE, &count);
    MUST(count == 1000);
    MPI_Recv(received, 1000, MPI_BYTE, previous, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MUST(received[999] == previous + 1);
  }
  MPI_Recv(received, 1, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
  MUST(status.MPI_SOURCE == MPI_PROC_NULL);
  free(sent);
  free(received);
}

static void requests(void) {
  int sent[3] = {rank, rank + 100, rank + 200}, received[3] = {-1, -1, -1}, done = 0, index = 0;
  MPI_Request all[6];
  MPI_Status statuses[6];
  for (int i = 0; i < 3; i++) MPI_Irecv(&received[i], 1, MPI_INT, previous, i, MPI_COMM_WORLD, &all[i]);
  MPI_Isend(&sent[0], 1, MPI_INT, next, 0, MPI_COMM_WORLD, &all[3]);
  MPI_Issend(&sent[1], 1, MPI_INT, next, 1, MPI_COMM_WORLD, &all[4]);
  MPI_Send_init(&sent[2], 1, MPI_INT, next, 2, MPI_COMM_WORLD, &all[5]);
  MPI_Start(&all[5]);
  MPI_Waitall(6, all, statuses);
  for (int i = 0; i < 3; i++) MUST(received[i] == previous + 100 * i && statuses[i].MPI_TAG == i);
  MPI_Request_free(&all[5]);
  MUST(all[5] == MPI_REQUEST_NULL && all[0] == MPI_REQUEST_NULL);
  MPI_Testany(6, all, &index, &done, MPI_STATUS_IGNORE);
  MUST(done && index == MPI_UNDEFINED);
  MPI_Irecv(&received[0], 1, MPI_INT, MPI_ANY_SOURCE, 999, MPI_COMM_SELF, &all[0]);
  MPI_Cancel(&all[0]);
  MPI_Wait(&all[0], &statuses[0]);
  MPI_Test_cancelled(&statuses[0], &done);
  MUST(done);
}

static void matched(void) {
  int value = rank, found = 0, flag = 0;
  MPI_Message message;
  MPI_Request request;
  MPI_Isend(&value, 1, MPI_INT, next, 5, MPI_COMM_WORLD, &request);
  while (!flag) MPI_Improbe(previous, 5, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(&found, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  MUST(found == previous && message == MPI_MESSAGE_NULL);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void collectives(void) {
  int sum = 0, one = 1, largest = 0;
  MPI_Comm duplicate, half;
  MPI_Request request;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MUST(sum == size);
  MPI_Comm_dup(MPI_COMM_WORLD, &duplicate);
  MPI_Iallreduce(&rank, &largest, 1, MPI_INT, MPI_MAX, duplicate, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MUST(largest == size - 1);
  MPI_Comm_split(duplicate, rank % 2, rank, &half);
  MPI_Bcast(&largest, 1, MPI_INT, 0, half);
  MPI_Barrier(half);
  MPI_Comm_free(&half);
  MPI_Comm_free(&duplicate);
  MUST(duplicate == MPI_COMM_NULL);
}

static void types(void) {
  double matrix[8][8], column[8];
  MPI_Datatype strided;
  MPI_Status status;
  int position = 0;
  char packed[256];
  for (int i = 0; i < 64; i++) matrix[i / 8][i % 8] = rank * 100 + i;
  MPI_Type_vector(8, 1, 8, MPI_DOUBLE, &strided);
  MPI_Type_commit(&strided);
  MPI_Sendrecv(&matrix[0][3], 1, strided, next, 1, column, 8, MPI_DOUBLE, previous, 1, MPI_COMM_WORLD, &status);
  for (int i = 0; i < 8; i++) MUST(column[i] == previous * 100 + i * 8 + 3);
  MPI_Pack(&matrix[0][3], 1, strided, packed, sizeof packed, &position, MPI_COMM_WORLD);
  MUST(position == 8 * (int)sizeof(double));
  MPI_Type_free(&strided);
}

static void one_sided(void) {
  int memory[1] = {0}, value = rank + 1;
  MPI_Win window;
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Put(&value, 1, MPI_INT, next, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  MUST(*memory == previous + 1);
  MPI_Win_free(&window);
}

static void errors(void) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int class = 0, code = MPI_Send(&rank, 1, MPI_INT, size + 5, 0, MPI_COMM_WORLD);
  MPI_Error_class(code, &class);
  MUST(class == MPI_ERR_RANK);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int run(int* argc, char*** argv) {
  int flag = 0, provided = 0;
  MPI_Initialized(&flag);
  if (*argc > 2) {
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
  } else {
    MPI_Init(argc, argv);
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  previous = (rank + size - 1) % size;
  next = (rank + 1) % size;
  blocking();
  requests();
  matched();
  collectives();
  types();
  one_sided();
  errors();
  int all = 0;
  MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks, %d wrong\n", size, all);
  fflush(stdout);
  MPI_Finalize();
  return wrong != 0;
}

#ifndef MODULE
int main(int argc, char** argv) { return run(&argc, &argv); }
#endif
