// Sessions and no MPI_Init: there is no MPI_COMM_WORLD, and everything is the host's.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 300001 };

int main(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  int rank = 0, size = 0;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "sluice.test.sessions", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  char *sent = malloc(BYTES), *received = malloc(BYTES);
  memset(sent, rank + 1, BYTES);
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  MPI_Sendrecv(sent, BYTES, MPI_BYTE, next, 1, received, BYTES, MPI_BYTE, previous, 1, comm, MPI_STATUS_IGNORE);
  const int wrong = received[BYTES - 1] != previous + 1;
  if (rank == 0) printf("%d ranks, %d wrong\n", size, wrong);
  free(sent);
  free(received);
  MPI_Comm_free(&comm);
  MPI_Session_finalize(&session);
  return wrong;
}
