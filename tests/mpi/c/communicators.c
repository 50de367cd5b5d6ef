// Messages in communicators made by every call that makes one; none may leak into another.
#include "late.h"

// A ring in `comm`, small and large, checked by the world ranks of both neighbours.
static void ring_in(MPI_Comm comm) {
  int self, members;
  MPI_Comm_rank(comm, &self);
  MPI_Comm_size(comm, &members);
  const int next = (self + 1) % members, previous = (self + members - 1) % members;
  MPI_Group group, world;
  MPI_Comm_group(comm, &group);
  MPI_Comm_group(WORLD, &world);
  int previous_in_world;
  MPI_Group_translate_ranks(group, 1, &previous, world, &previous_in_world);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  for (int bytes = 4; bytes <= 200000; bytes *= 50) {
    char *out = allocate((size_t)bytes), *in = allocate((size_t)bytes);
    MPI_Status status;
    fill(out, (size_t)bytes, (unsigned)rank);
    MPI_Sendrecv(out, bytes, MPI_BYTE, next, 1, in, bytes, MPI_BYTE, previous, 1, comm, &status);
    expect_status(&status, previous, 1, MPI_BYTE, bytes);
    expect_filled(in, (size_t)bytes, (unsigned)previous_in_world);
    free(in);
    free(out);
  }
}

static void dup_of_world(void) {
  MPI_Comm comm;
  MPI_Comm_dup(WORLD, &comm);
  ring_in(comm);
  MPI_Comm_free(&comm);
  EXPECT(comm == MPI_COMM_NULL, "the freed communicator is not null");
}

static void dup_with_info(void) {
  MPI_Comm comm;
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Comm_dup_with_info(WORLD, info, &comm);
  MPI_Info_free(&info);
  ring_in(comm);
  MPI_Comm_free(&comm);
}

/// Each communicator moves its messages in the way that it asks for, beside others.
static void hinted(void) {
  static const char* const protocols[] = {"rput", "rget", "coop", "coop-coll", "coop-load", "auto"};
  enum { asked = sizeof protocols / sizeof *protocols };
  MPI_Comm comms[asked];
  for (int i = 0; i < asked; i++) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "sluice_rndv", protocols[i]);
    MPI_Comm_dup(WORLD, &comms[i]);
    EXPECT_EQ(MPI_Comm_set_info(comms[i], info), MPI_SUCCESS);
    MPI_Info_free(&info);
  }
  for (int round = 0; round < 8; round++) {
    for (int i = 0; i < asked; i++) ring_in(comms[i]);
  }
  for (int i = 0; i < asked; i++) MPI_Comm_free(&comms[i]);
}

static void idup_then_use(void) {
  MPI_Comm comm;
  MPI_Request request;
  MPI_Comm_idup(WORLD, &comm, &request);
  MPI_Wait(&request, IGNORE);
  ring_in(comm);
  MPI_Comm second;
  MPI_Comm_dup(comm, &second);
  ring_in(second);
  MPI_Comm_free(&second);
  MPI_Comm_free(&comm);
}

static void idup_beside_messages(void) {
  MPI_Comm comm;
  MPI_Request requests[3];
  int in = -1;
  MPI_Comm_idup(WORLD, &comm, &requests[0]);
  MPI_Irecv(&in, 1, MPI_INT, (rank + 1) % size, 0, WORLD, &requests[1]);
  MPI_Isend(&rank, 1, MPI_INT, (rank + size - 1) % size, 0, WORLD, &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  EXPECT_EQ(in, (rank + 1) % size);
  ring_in(comm);
  MPI_Comm_free(&comm);
}

static void split_by_parity_in_reverse(void) {
  MPI_Comm comm;
  MPI_Comm_split(WORLD, rank % 2, -rank, &comm);
  ring_in(comm);
  MPI_Comm_free(&comm);
}

static void split_leaving_some_out(void) {
  MPI_Comm comm;
  MPI_Comm_split(WORLD, rank == 0 ? MPI_UNDEFINED : 1, 0, &comm);
  if (rank == 0) EXPECT(comm == MPI_COMM_NULL, "rank 0 is in a communicator");
  if (rank != 0) {
    ring_in(comm);
    MPI_Comm_free(&comm);
  }
}

static void split_by_type(void) {
  MPI_Comm comm;
  MPI_Comm_split_type(WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
  ring_in(comm);
  MPI_Comm_free(&comm);
}

static void split_of_a_split(void) {
  MPI_Comm outer, inner;
  MPI_Comm_split(WORLD, 0, size - rank, &outer);
  MPI_Comm_split(outer, rank / 2, rank, &inner);
  ring_in(inner);
  ring_in(outer);
  MPI_Comm_free(&outer);
  ring_in(inner);
  MPI_Comm_free(&inner);
}

static void create_from_a_group(void) {
  MPI_Comm comm;
  MPI_Group world, part;
  MPI_Comm_group(WORLD, &world);
  int* ranks = allocate((size_t)size * sizeof(int));
  for (int i = 0; i < size; i++) ranks[i] = size - 1 - i;
  MPI_Group_incl(world, size, ranks, &part);
  MPI_Comm_create(WORLD, part, &comm);
  ring_in(comm);
  MPI_Comm_free(&comm);
  if (rank > 0) {  // only the members call this one
    MPI_Group_free(&part);
    MPI_Group_incl(world, size - 1, ranks, &part);
    MPI_Comm_create_group(WORLD, part, 17, &comm);
    ring_in(comm);
    MPI_Comm_free(&comm);
  }
  MPI_Group_free(&part);
  MPI_Group_free(&world);
  free(ranks);
}

static void cartesian_and_its_parts(void) {
  int dimensions[2] = {0, 0}, periods[2] = {1, 0}, keep[2] = {1, 0}, source, target, in = -1;
  MPI_Comm grid, line;
  MPI_Status status;
  MPI_Dims_create(size, 2, dimensions);
  MPI_Cart_create(WORLD, 2, dimensions, periods, 1, &grid);
  for (int dimension = 0; dimension < 2; dimension++) {
    int self;
    MPI_Comm_rank(grid, &self);
    MPI_Cart_shift(grid, dimension, 1, &source, &target);
    in = -1;
    MPI_Sendrecv(&self, 1, MPI_INT, target, 0, &in, 1, MPI_INT, source, 0, grid, &status);
    EXPECT_EQ(in, source == MPI_PROC_NULL ? -1 : source);
  }
  MPI_Cart_sub(grid, keep, &line);
  ring_in(line);
  MPI_Comm_free(&line);
  MPI_Comm_free(&grid);
}

static void graphs(void) {
  int* index = allocate((size_t)size * sizeof(int));
  int* edges = allocate((size_t)size * sizeof(int));
  for (int i = 0; i < size; i++) index[i] = i + 1, edges[i] = (i + 1) % size;
  MPI_Comm graph, distributed;
  MPI_Graph_create(WORLD, size, index, edges, 0, &graph);
  ring_in(graph);
  MPI_Comm_free(&graph);
  int source = (rank + size - 1) % size, target = (rank + 1) % size;
  MPI_Dist_graph_create_adjacent(WORLD, 1, &source, MPI_UNWEIGHTED, 1, &target, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &distributed);
  ring_in(distributed);
  MPI_Comm_free(&distributed);
  int degree = 1;
  MPI_Dist_graph_create(WORLD, 1, &rank, &degree, &target, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &distributed);
  ring_in(distributed);
  MPI_Comm_free(&distributed);
  free(edges);
  free(index);
}

static void many_made_and_freed(void) {
  for (int i = 0; i < 200; i++) {
    MPI_Comm comm;
    MPI_Comm_dup(WORLD, &comm);
    int in = -1;
    MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % size, 0, &in, 1, MPI_INT, (rank + size - 1) % size, 0, comm, IGNORE);
    EXPECT_EQ(in, i);
    MPI_Comm_free(&comm);
  }
}

static void many_at_once_do_not_leak(void) {
  enum { n = 30 };
  MPI_Comm comms[n];
  MPI_Request requests[2 * n];
  int out[n], in[n];
  for (int i = 0; i < n; i++) MPI_Comm_dup(i ? comms[i - 1] : WORLD, &comms[i]);
  for (int i = 0; i < n; i++) {
    out[i] = i * 100 + rank;
    MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comms[n - 1 - i], &requests[i]);
  }
  for (int i = 0; i < n; i++) MPI_Isend(&out[i], 1, MPI_INT, (rank + 1) % size, 0, comms[i], &requests[n + i]);
  MPI_Waitall(2 * n, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < n; i++) EXPECT_EQ(in[i], (n - 1 - i) * 100 + (rank + size - 1) % size);
  for (int i = 0; i < n; i++) MPI_Comm_free(&comms[i]);
}

static void freed_while_messages_are_pending(void) {
  char* buffer = allocate(large);
  MPI_Comm comm;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_dup(WORLD, &comm);
  fill(buffer, large, 3);
  if (rank == 0) MPI_Isend(buffer, large, MPI_BYTE, 1, 0, comm, &request);
  if (rank == 1) memset(buffer, 0, large);
  if (rank == 1) MPI_Irecv(buffer, large, MPI_BYTE, 0, 0, comm, &request);
  MPI_Comm_free(&comm);
  MPI_Wait(&request, IGNORE);
  expect_filled(buffer, large, 3);
  free(buffer);
}

static int copies, deletions;
static int copy_attribute(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)key, (void)extra;
  copies++;
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}
static int delete_attribute(MPI_Comm comm, int key, void* value, void* extra) {
  (void)comm, (void)key, (void)value, (void)extra;
  deletions++;
  return MPI_SUCCESS;
}

static void attributes_are_copied_and_deleted_once(void) {
  int key, found = 0;
  void* value = NULL;
  MPI_Comm first, second;
  copies = deletions = 0;
  MPI_Comm_create_keyval(copy_attribute, delete_attribute, &key, NULL);
  MPI_Comm_dup(WORLD, &first);
  MPI_Comm_set_attr(first, key, &copies);
  MPI_Comm_dup(first, &second);
  MPI_Comm_get_attr(second, key, &value, &found);
  EXPECT(found && value == &copies, "the attribute was not copied");
  MPI_Comm_free(&second);
  MPI_Comm_free(&first);
  EXPECT_EQ(copies, 1);
  EXPECT_EQ(deletions, 2);
  MPI_Comm_free_keyval(&key);
}

static void tags_up_to_the_upper_bound(void) {
  int* bound;
  int found, in = -1;
  MPI_Comm_get_attr(WORLD, MPI_TAG_UB, &bound, &found);
  EXPECT(found && *bound >= 32767, "MPI_TAG_UB is too small");
  const int tags[] = {0, 1, 32767, *bound / 2, *bound - 1, *bound};
  for (int i = 0; i < 6; i++) {
    MPI_Status status;
    MPI_Sendrecv(&i, 1, MPI_INT, (rank + 1) % size, tags[i], &in, 1, MPI_INT, (rank + size - 1) % size, tags[i], WORLD, &status);
    EXPECT_EQ(in, i);
    EXPECT_EQ(status.MPI_TAG, tags[i]);
  }
}

static const Case cases[] = {CASE(dup_of_world, 1),
                             CASE(dup_with_info, 1),
                             CASE(hinted, 1),
                             CASE(idup_then_use, 1),
                             CASE(idup_beside_messages, 1),
                             CASE(split_by_parity_in_reverse, 1),
                             CASE(split_leaving_some_out, 2),
                             CASE(split_by_type, 1),
                             CASE(split_of_a_split, 1),
                             CASE(create_from_a_group, 1),
                             CASE(cartesian_and_its_parts, 1),
                             CASE(graphs, 1),
                             CASE(many_made_and_freed, 1),
                             CASE(many_at_once_do_not_leak, 1),
                             CASE(freed_while_messages_are_pending, 2),
                             CASE(attributes_are_copied_and_deleted_once, 1),
                             CASE(tags_up_to_the_upper_bound, 1)};
SUITE(cases)
