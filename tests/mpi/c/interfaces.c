// The other ways into MPI: PMPI names, handles converted to Fortran's and back, statuses in every shape.
#include "late.h"

static void pmpi_names(void) {
  char* buffer = allocate(large);
  if (rank == 0) {
    fill(buffer, large, 1);
    be_late();
    PMPI_Send(buffer, large, MPI_BYTE, 1, 0, WORLD);
    PMPI_Ssend(buffer, 10, MPI_BYTE, 1, 1, WORLD);
  } else if (rank == 1) {
    MPI_Status status;
    MPI_Request request;
    PMPI_Recv(buffer, large, MPI_BYTE, 0, 0, WORLD, &status);
    expect_filled(buffer, large, 1);
    PMPI_Irecv(buffer, 10, MPI_BYTE, 0, 1, WORLD, &request);
    PMPI_Wait(&request, &status);
    expect_status(&status, 0, 1, MPI_BYTE, 10);
  }
  free(buffer);
}

static void pmpi_and_mpi_mixed(void) {
  int in = -1;
  MPI_Request requests[2];
  PMPI_Irecv(&in, 1, MPI_INT, (rank + 1) % size, 0, WORLD, &requests[0]);
  MPI_Isend(&rank, 1, MPI_INT, (rank + size - 1) % size, 0, WORLD, &requests[1]);
  PMPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  EXPECT_EQ(in, (rank + 1) % size);
}

static void requests_converted_to_fortran_and_back(void) {
  int in = -1;
  MPI_Request requests[2];
  MPI_Fint numbers[2];
  MPI_Irecv(&in, 1, MPI_INT, (rank + 1) % size, 0, WORLD, &requests[0]);
  MPI_Isend(&rank, 1, MPI_INT, (rank + size - 1) % size, 0, WORLD, &requests[1]);
  for (int i = 0; i < 2; i++) numbers[i] = MPI_Request_c2f(requests[i]);
  EXPECT(numbers[0] != numbers[1], "two requests have the same number");
  for (int i = 0; i < 2; i++) {
    EXPECT(MPI_Request_f2c(numbers[i]) == requests[i], "request %d is another after two conversions", i);
    requests[i] = MPI_Request_f2c(numbers[i]);
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  EXPECT_EQ(in, (rank + 1) % size);
  EXPECT(MPI_Request_f2c(MPI_Request_c2f(MPI_REQUEST_NULL)) == MPI_REQUEST_NULL, "the null request changed");
}

static void messages_converted_to_fortran_and_back(void) {
  int value = 3;
  if (rank == 1) MPI_Send(&value, 1, MPI_INT, 0, 0, WORLD);
  if (rank == 0) {
    MPI_Message message;
    value = 0;
    MPI_Mprobe(1, 0, WORLD, &message, IGNORE);
    const MPI_Fint number = MPI_Message_c2f(message);
    message = MPI_Message_f2c(number);
    MPI_Mrecv(&value, 1, MPI_INT, &message, IGNORE);
    EXPECT_EQ(value, 3);
  }
}

static void error_field_is_left_alone_by_single_completions(void) {
  MPI_Status status;
  int in = -1;
  status.MPI_ERROR = 12345;
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, (rank + size - 1) % size, 0, WORLD, &status);
  note("%d", status.MPI_ERROR == 12345);
  MPI_Request request;
  MPI_Irecv(&in, 1, MPI_INT, rank, 0, WORLD, &request);
  MPI_Send(&rank, 1, MPI_INT, rank, 0, WORLD);
  status.MPI_ERROR = 54321;
  MPI_Wait(&request, &status);
  note("%d", status.MPI_ERROR == 54321);
  expect_status(&status, rank, 0, MPI_INT, 1);
}

static void statuses_set_by_hand(void) {
  MPI_Status status;
  int count;
  MPI_Count elements;
  memset(&status, 0, sizeof status);
  MPI_Status_set_elements(&status, MPI_INT, 12);
  MPI_Get_count(&status, MPI_INT, &count);
  EXPECT_EQ(count, 12);
  MPI_Status_set_elements_x(&status, MPI_BYTE, (MPI_Count)1 << 33);
  MPI_Get_elements_x(&status, MPI_BYTE, &elements);
  EXPECT_EQ(elements, (MPI_Count)1 << 33);
  MPI_Get_count(&status, MPI_BYTE, &count);
  EXPECT_EQ(count, MPI_UNDEFINED);
}

static void statuses_ignored_everywhere(void) {
  int in = -1;
  MPI_Request requests[2];
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  for (int i = 0; i < 5; i++) {
    int index, count, indices[2], done = 0;
    MPI_Irecv(&in, 1, MPI_INT, previous, 0, WORLD, &requests[0]);
    MPI_Isend(&i, 1, MPI_INT, next, 0, WORLD, &requests[1]);
    if (i == 0) MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    if (i == 1) MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    if (i == 2) MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
    while (i == 3 && !done) MPI_Test(&requests[0], &done, MPI_STATUS_IGNORE);
    while (i == 4 && !done) MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    EXPECT_EQ(in, i);
  }
}

static void datatype_of_a_message_is_free_to_differ(void) {
  double out[100], in[100];
  for (int i = 0; i < 100; i++) out[i] = rank + i * 0.5;
  MPI_Request request;
  MPI_Isend(out, 100, MPI_DOUBLE, (rank + 1) % size, 0, WORLD, &request);
  MPI_Recv(in, 800, MPI_BYTE, (rank + size - 1) % size, 0, WORLD, IGNORE);
  MPI_Wait(&request, IGNORE);
  for (int i = 0; i < 100; i++) EXPECT(in[i] == (rank + size - 1) % size + i * 0.5, "element %d", i);
}

static const Case cases[] = {CASE(pmpi_names, 2),
                             CASE(pmpi_and_mpi_mixed, 1),
                             CASE(requests_converted_to_fortran_and_back, 1),
                             CASE(messages_converted_to_fortran_and_back, 2),
                             CASE(error_field_is_left_alone_by_single_completions, 1),
                             CASE(statuses_set_by_hand, 1),
                             CASE(statuses_ignored_everywhere, 1),
                             CASE(datatype_of_a_message_is_free_to_differ, 1)};
SUITE(cases)
