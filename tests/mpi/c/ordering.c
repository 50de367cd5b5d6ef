// Non-overtaking order, and the freedom that tags and communicators give.
#include "suite.h"

static int bytes_of(int i) {  // eager and rendezvous sizes, mixed
  static const int sizes[] = {4, 100000, 64, 20000, 4096, 300000, 16};
  return sizes[i % 7];
}

static void same_tag_order_of_mixed_sizes(void) {
  enum { messages = 60 };
  char* buffer = allocate(300000);
  for (int i = 0; i < messages && rank < 2; i++) {
    if (rank == 0) {
      fill(buffer, (size_t)bytes_of(i), (unsigned)i);
      MPI_Send(buffer, bytes_of(i), MPI_BYTE, 1, 0, WORLD);
    } else {
      MPI_Status status;
      MPI_Recv(buffer, 300000, MPI_BYTE, 0, 0, WORLD, &status);
      expect_status(&status, 0, 0, MPI_BYTE, bytes_of(i));
      expect_filled(buffer, (size_t)bytes_of(i), (unsigned)i);
    }
  }
  free(buffer);
}

static void receives_match_in_posted_order(void) {
  enum { messages = 40 };
  MPI_Request requests[messages];
  char* buffers = allocate((size_t)messages * 300000);
  for (int i = 0; i < messages && rank < 2; i++) {
    char* at = buffers + (size_t)i * 300000;
    if (rank == 0) {
      fill(at, (size_t)bytes_of(i), (unsigned)i);
      MPI_Isend(at, bytes_of(i), MPI_BYTE, 1, 2, WORLD, &requests[i]);
    } else {
      MPI_Irecv(at, 300000, MPI_BYTE, 0, 2, WORLD, &requests[i]);
    }
  }
  if (rank < 2) {
    MPI_Status statuses[messages];
    MPI_Waitall(messages, requests, statuses);
    for (int i = 0; i < messages && rank == 1; i++) {
      expect_status(&statuses[i], 0, 2, MPI_BYTE, bytes_of(i));
      expect_filled(buffers + (size_t)i * 300000, (size_t)bytes_of(i), (unsigned)i);
    }
  }
  free(buffers);
}

static void tags_may_be_received_in_reverse(void) {
  enum { messages = 200 };
  int value;
  if (rank == 0) {
    for (int i = 0; i < messages; i++) MPI_Send(&i, 1, MPI_INT, 1, i, WORLD);
  } else if (rank == 1) {
    for (int i = messages - 1; i >= 0; i--) {
      MPI_Recv(&value, 1, MPI_INT, 0, i, WORLD, IGNORE);
      EXPECT_EQ(value, i);
    }
  }
}

static void large_messages_in_reverse_tag_order(void) {
  enum { messages = 8, bytes = 200000 };
  char* buffers = allocate(messages * bytes);
  MPI_Request requests[messages];
  if (rank == 0) {
    for (int i = 0; i < messages; i++) {
      fill(buffers + i * bytes, bytes, (unsigned)i);
      MPI_Isend(buffers + i * bytes, bytes, MPI_BYTE, 1, i, WORLD, &requests[i]);
    }
    MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
  } else if (rank == 1) {
    for (int i = messages - 1; i >= 0; i--) {
      MPI_Recv(buffers, bytes, MPI_BYTE, 0, i, WORLD, IGNORE);
      expect_filled(buffers, bytes, (unsigned)i);
    }
  }
  free(buffers);
}

static void nonblocking_then_blocking_send_keep_order(void) {
  char* large = allocate(MB);
  int small = 77;
  if (rank == 0) {
    MPI_Request request;
    fill(large, MB, 1);
    MPI_Isend(large, MB, MPI_BYTE, 1, 0, WORLD, &request);
    MPI_Send(&small, 4, MPI_BYTE, 1, 0, WORLD);
    MPI_Wait(&request, IGNORE);
  } else if (rank == 1) {
    MPI_Status status;
    be_late();
    MPI_Recv(large, MB, MPI_BYTE, 0, 0, WORLD, &status);
    expect_status(&status, 0, 0, MPI_BYTE, MB);
    MPI_Recv(&small, 4, MPI_BYTE, 0, 0, WORLD, &status);
    expect_status(&status, 0, 0, MPI_BYTE, 4);
    EXPECT_EQ(small, 77);
    expect_filled(large, MB, 1);
  }
  free(large);
}

static void modes_do_not_overtake_each_other(void) {
  enum { rounds = 10, count = 2000 };
  int attached_bytes = 200000;
  void* attached = allocate((size_t)attached_bytes);
  MPI_Buffer_attach(attached, attached_bytes);
  int values[4][count];
  for (int round = 0; round < rounds && rank < 2; round++) {
    if (rank == 0) {
      MPI_Request requests[2];
      for (int i = 0; i < 4; i++) values[i][0] = round * 4 + i;
      MPI_Issend(values[0], count, MPI_INT, 1, 0, WORLD, &requests[0]);
      MPI_Bsend(values[1], 10, MPI_INT, 1, 0, WORLD);
      MPI_Isend(values[2], count, MPI_INT, 1, 0, WORLD, &requests[1]);
      MPI_Send(values[3], 1, MPI_INT, 1, 0, WORLD);
      MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else {
      for (int i = 0; i < 4; i++) {
        MPI_Recv(values[i], count, MPI_INT, 0, 0, WORLD, IGNORE);
        EXPECT_EQ(values[i][0], round * 4 + i);
      }
    }
  }
  MPI_Buffer_detach(&attached, &attached_bytes);
  free(attached);
}

static void flood_of_unexpected_messages(void) {
  enum { messages = 5000 };
  int value = 0;
  if (rank != 0) {
    for (int i = 0; i < messages; i++) MPI_Send(&i, 1, MPI_INT, 0, i % 3, WORLD);
    MPI_Send(&value, 1, MPI_INT, 0, 9, WORLD);
  } else {
    for (int from = size - 1; from > 0; from--) {
      MPI_Recv(&value, 1, MPI_INT, from, 9, WORLD, IGNORE);
      for (int tag = 2; tag >= 0; tag--) {
        for (int i = tag; i < messages; i += 3) {
          MPI_Recv(&value, 1, MPI_INT, from, tag, WORLD, IGNORE);
          EXPECT_EQ(value, i);
        }
      }
    }
  }
}

static void flood_of_unexpected_buffers(void) {
  enum { messages = 200, bytes = 12000 };
  char* buffer = allocate(bytes);
  if (rank == 1) {
    for (int i = 0; i < messages; i++) {
      fill(buffer, bytes, (unsigned)i);
      MPI_Send(buffer, bytes, MPI_BYTE, 0, 0, WORLD);
    }
  } else if (rank == 0) {
    be_late();
    for (int i = 0; i < messages; i++) {
      MPI_Recv(buffer, bytes, MPI_BYTE, 1, 0, WORLD, IGNORE);
      expect_filled(buffer, bytes, (unsigned)i);
    }
  }
  free(buffer);
}

static void thousands_of_open_requests(void) {
  enum { messages = 4000 };
  MPI_Request* requests = allocate(messages * sizeof(MPI_Request));
  int* values = allocate(messages * sizeof(int));
  for (int i = 0; i < messages && rank < 2; i++) {
    values[i] = rank == 0 ? i : -1;
    if (rank == 0) MPI_Isend(&values[i], 1, MPI_INT, 1, i % 10, WORLD, &requests[i]);
    if (rank == 1) MPI_Irecv(&values[i], 1, MPI_INT, 0, i % 10, WORLD, &requests[i]);
  }
  if (rank < 2) MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < messages && rank == 1; i++) EXPECT_EQ(values[i], i);
  free(values);
  free(requests);
}

static void both_directions_at_once(void) {
  enum { rounds = 30, bytes = 100000 };
  if (rank >= 2) return;
  char* out = allocate(bytes);
  char* in = allocate(bytes);
  for (int i = 0; i < rounds; i++) {
    MPI_Request requests[2];
    fill(out, bytes, (unsigned)(rank * 50 + i));
    MPI_Isend(out, bytes, MPI_BYTE, 1 - rank, i, WORLD, &requests[0]);
    MPI_Irecv(in, bytes, MPI_BYTE, 1 - rank, i, WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    expect_filled(in, bytes, (unsigned)((1 - rank) * 50 + i));
  }
  free(in);
  free(out);
}

// What is sent again as it was may go another way than what is written anew, and does not overtake it.
static void buffers_that_are_sent_again(void) {
  enum { messages = 60, max_bytes = 32768 };
  static const int sizes[] = {16384, 32768, 20001};
  char* out = allocate(max_bytes);
  char* in = allocate(max_bytes);
  for (int i = 0; i < messages && rank < 2; i++) {
    const int bytes = sizes[i / 20];
    const unsigned content = (unsigned)(i / 7);
    if (i % 7 == 0 && rank == 0) fill(out, max_bytes, content);
    int number = i;
    if (rank == 0) {
      MPI_Send(out, bytes, MPI_BYTE, 1, 0, WORLD);
      MPI_Send(&number, 1, MPI_INT, 1, 0, WORLD);
    } else {
      MPI_Status status;
      memset(in, 0, max_bytes);
      MPI_Recv(in, max_bytes, MPI_BYTE, 0, 0, WORLD, &status);
      expect_status(&status, 0, 0, MPI_BYTE, bytes);
      expect_filled(in, (size_t)bytes, content);
      MPI_Recv(&number, 1, MPI_INT, 0, 0, WORLD, IGNORE);
      EXPECT_EQ(number, i);
    }
  }
  free(in);
  free(out);
}

// As benchmarks do: all messages of a window out of one buffer and into one buffer.
static void windows_of_one_buffer(void) {
  enum { messages = 16, max_bytes = 3000000, rounds = 8 };
  static const int sizes[] = {20000, 100001, 1000000, max_bytes};
  char* buffer = allocate(max_bytes);
  MPI_Request requests[messages];
  for (int round = 0; round < rounds && rank < 2; round++) {
    const int bytes = sizes[round / 2];
    if (rank == 0) {
      fill(buffer, (size_t)bytes, (unsigned)round);
      for (int i = 0; i < messages; i++) MPI_Isend(buffer, bytes, MPI_BYTE, 1, i % 2, WORLD, &requests[i]);
    } else {
      memset(buffer, 0, max_bytes);
      for (int i = 0; i < messages; i++) MPI_Irecv(buffer, bytes, MPI_BYTE, 0, i % 2, WORLD, &requests[i]);
    }
    MPI_Waitall(messages, requests, MPI_STATUSES_IGNORE);
    if (rank == 1) expect_filled(buffer, (size_t)bytes, (unsigned)round);
  }
  free(buffer);
}

static const Case cases[] = {CASE(same_tag_order_of_mixed_sizes, 2),
                             CASE(receives_match_in_posted_order, 2),
                             CASE(tags_may_be_received_in_reverse, 2),
                             CASE(large_messages_in_reverse_tag_order, 2),
                             CASE(nonblocking_then_blocking_send_keep_order, 2),
                             CASE(modes_do_not_overtake_each_other, 2),
                             CASE(flood_of_unexpected_messages, 2),
                             CASE(flood_of_unexpected_buffers, 2),
                             CASE(thousands_of_open_requests, 2),
                             CASE(both_directions_at_once, 2),
                             CASE(buffers_that_are_sent_again, 2),
                             CASE(windows_of_one_buffer, 2)};
SUITE(cases)
