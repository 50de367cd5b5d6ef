// Collectives between the neighbours of a topology: grids, graphs and distributed graphs, with counts and with types, blocking
// and not.
//
// What comes for which block is known from the lists of neighbours of all ranks: in a grid from the opposite direction, in a
// graph from the edge that has the same number among those between the two ranks.
#include "blocks.h"

enum { most = 64 };
static const int lengths[] = {0, 1, 7, 1000, 9001, 40000};
enum { count_of_lengths = sizeof lengths / sizeof *lengths };

typedef struct {
  int count, ranks[most];
} List;

// Of this rank.
typedef struct {
  MPI_Comm comm;
  int self;
  List in, out;          // a rank that is negative is none
  int from_block[most];  // of each block that comes, which one it is of its source
} Topology;

static List* lists_of_all(MPI_Comm comm, const List* own) {
  int members;
  MPI_Comm_size(comm, &members);
  List* all = allocate((size_t)members * sizeof *all);
  MPI_Allgather(own, sizeof *own, MPI_BYTE, all, sizeof *own, MPI_BYTE, comm);
  return all;
}

// The k-th edge comes from the k-th edge.
static void match_edges(Topology* topology) {
  List* all = lists_of_all(topology->comm, &topology->out);
  for (int block = 0; block < topology->in.count; block++) {
    const int source = topology->in.ranks[block];
    int edge = 0, from = 0;
    for (int i = 0; i < block; i++) edge += topology->in.ranks[i] == source;
    while (all[source].ranks[from] != topology->self || edge-- > 0) from++;
    topology->from_block[block] = from;
  }
  free(all);
}

static Topology of_grid(MPI_Comm comm, int dimensions) {
  Topology topology = {.comm = comm};
  MPI_Comm_rank(comm, &topology.self);
  for (int d = 0; d < dimensions; d++) {
    MPI_Cart_shift(comm, d, 1, &topology.in.ranks[2 * d], &topology.in.ranks[2 * d + 1]);
    topology.from_block[2 * d] = 2 * d + 1;
    topology.from_block[2 * d + 1] = 2 * d;
  }
  topology.in.count = 2 * dimensions;
  topology.out = topology.in;
  return topology;
}

static Topology of_graph(MPI_Comm comm) {
  Topology topology = {.comm = comm};
  MPI_Comm_rank(comm, &topology.self);
  MPI_Graph_neighbors_count(comm, topology.self, &topology.in.count);
  MPI_Graph_neighbors(comm, topology.self, most, topology.in.ranks);
  topology.out = topology.in;
  match_edges(&topology);
  return topology;
}

static Topology of_distributed_graph(MPI_Comm comm) {
  Topology topology = {.comm = comm};
  int weighted, weights[2][most];
  MPI_Comm_rank(comm, &topology.self);
  MPI_Dist_graph_neighbors_count(comm, &topology.in.count, &topology.out.count, &weighted);
  MPI_Dist_graph_neighbors(comm, most, topology.in.ranks, weights[0], most, topology.out.ranks, weights[1]);
  match_edges(&topology);
  return topology;
}

// Of what a rank gives from one of its blocks: of some nothing.
static int count_of(int from, int block, int count) { return (from + 2 * block) % 3 == 1 ? 0 : count + from + block; }

typedef struct {
  int counts[most], places[most];
  size_t elements;
} Table;

// Blocks stand in reverse order, with gaps between them. That of a neighbour who does not exist has a count, too.
static Table table_of(const List* list, const int* counts) {
  Table table = {.elements = 0};
  for (int block = list->count - 1; block >= 0; block--) {
    table.counts[block] = counts[block];
    table.places[block] = (int)table.elements + 2;
    table.elements += (size_t)counts[block] + 3;
  }
  return table;
}

static void expect_came(const Topology* topology, int block, const int* at, int count, int sent_block) {
  if (topology->in.ranks[block] < 0) return expect_untouched(at, count);
  expect_block(at, count, topology->in.ranks[block], sent_block);
}

static void allgather(const Topology* topology, int count, int nonblocking) {
  int* own = filled((size_t)count, untouched);
  int* all = filled((size_t)count * (size_t)topology->in.count, untouched);
  for (int k = 0; k < count; k++) own[k] = element(topology->self, 0, k);
  CALL(nonblocking, Neighbor_allgather, Ineighbor_allgather, own, count, MPI_INT, all, count, MPI_INT, topology->comm);
  for (int block = 0; block < topology->in.count; block++) expect_came(topology, block, all + block * count, count, 0);
  EXPECT_EQ(all[topology->in.count * count], untouched);
  free(all);
  free(own);
}

static void allgather_counts(const Topology* topology, int count, int nonblocking) {
  int counts[most];
  const int own_count = count_of(topology->self, 0, count);
  for (int block = 0; block < topology->in.count; block++) {
    const int source = topology->in.ranks[block];
    counts[block] = source < 0 ? 5 : count_of(source, 0, count);
  }
  const Table table = table_of(&topology->in, counts);
  int* own = filled((size_t)own_count, untouched);
  int* all = filled(table.elements, untouched);
  for (int k = 0; k < own_count; k++) own[k] = element(topology->self, 0, k);
  CALL(nonblocking, Neighbor_allgatherv, Ineighbor_allgatherv, own, own_count, MPI_INT, all, table.counts, table.places, MPI_INT,
       topology->comm);
  for (int block = 0; block < topology->in.count; block++) {
    expect_came(topology, block, all + table.places[block], table.counts[block], 0);
    expect_untouched(all + table.places[block] - 2, 2);
  }
  free(all);
  free(own);
}

static void alltoall(const Topology* topology, int count, int nonblocking) {
  int* out = filled((size_t)count * (size_t)topology->out.count, untouched);
  int* in = filled((size_t)count * (size_t)topology->in.count, untouched);
  for (int block = 0; block < topology->out.count; block++)
    for (int k = 0; k < count; k++) out[block * count + k] = element(topology->self, block, k);
  CALL(nonblocking, Neighbor_alltoall, Ineighbor_alltoall, out, count, MPI_INT, in, count, MPI_INT, topology->comm);
  for (int block = 0; block < topology->in.count; block++)
    expect_came(topology, block, in + block * count, count, topology->from_block[block]);
  EXPECT_EQ(in[topology->in.count * count], untouched);
  free(in);
  free(out);
}

typedef struct {
  Table out, in;
  int *sent, *received;
} Blocks;

static Blocks blocks_of(const Topology* topology, int count) {
  int counts[most];
  Blocks blocks;
  for (int block = 0; block < topology->out.count; block++) counts[block] = count_of(topology->self, block, count);
  blocks.out = table_of(&topology->out, counts);
  for (int block = 0; block < topology->in.count; block++) {
    const int source = topology->in.ranks[block];
    counts[block] = source < 0 ? 5 : count_of(source, topology->from_block[block], count);
  }
  blocks.in = table_of(&topology->in, counts);
  blocks.sent = filled(blocks.out.elements, untouched);
  blocks.received = filled(blocks.in.elements, untouched);
  for (int block = 0; block < topology->out.count; block++)
    for (int k = 0; k < blocks.out.counts[block]; k++)
      blocks.sent[blocks.out.places[block] + k] = element(topology->self, block, k);
  return blocks;
}

static void expect_all_came(const Topology* topology, Blocks* blocks) {
  for (int block = 0; block < topology->in.count; block++) {
    const int* at = blocks->received + blocks->in.places[block];
    expect_came(topology, block, at, blocks->in.counts[block], topology->from_block[block]);
    expect_untouched(at - 2, 2);
  }
  free(blocks->sent);
  free(blocks->received);
}

static void alltoall_counts(const Topology* topology, int count, int nonblocking) {
  Blocks blocks = blocks_of(topology, count);
  CALL(nonblocking, Neighbor_alltoallv, Ineighbor_alltoallv, blocks.sent, blocks.out.counts, blocks.out.places, MPI_INT,
       blocks.received, blocks.in.counts, blocks.in.places, MPI_INT, topology->comm);
  expect_all_came(topology, &blocks);
}

// Whole blocks of one element on the receiving side, freed while the call is open.
static void alltoall_types(const Topology* topology, int count, int nonblocking) {
  Blocks blocks = blocks_of(topology, count);
  MPI_Aint out_places[most], in_places[most];
  MPI_Datatype out_types[most], in_types[most];
  int ones[most];
  for (int block = 0; block < topology->out.count; block++) {
    out_places[block] = (MPI_Aint)sizeof(int) * blocks.out.places[block];
    out_types[block] = MPI_INT;
  }
  for (int block = 0; block < topology->in.count; block++) {
    in_places[block] = (MPI_Aint)sizeof(int) * blocks.in.places[block];
    ones[block] = 1;
    MPI_Type_contiguous(blocks.in.counts[block], MPI_INT, &in_types[block]);
    MPI_Type_commit(&in_types[block]);
  }
  MPI_Request request = MPI_REQUEST_NULL;
  if (nonblocking) {
    MPI_Ineighbor_alltoallw(blocks.sent, blocks.out.counts, out_places, out_types, blocks.received, ones, in_places, in_types,
                            topology->comm, &request);
  } else {
    MPI_Neighbor_alltoallw(blocks.sent, blocks.out.counts, out_places, out_types, blocks.received, ones, in_places, in_types,
                           topology->comm);
  }
  for (int block = 0; block < topology->in.count; block++) MPI_Type_free(&in_types[block]);
  EXPECT_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  expect_all_came(topology, &blocks);
}

typedef void (*Call)(const Topology* topology, int count, int nonblocking);
static const Call calls[] = {allgather, allgather_counts, alltoall, alltoall_counts, alltoall_types};
enum { count_of_calls = sizeof calls / sizeof *calls };

// Else they are the host's, and Open MPI 4.1 gets them wrong.
static int carries_nonblocking(void) {
  const char* carried = getenv("SLUICE_COLLECTIVES");
  return carried && strcmp(carried, "all") == 0;
}

// Other collectives of the communicator go on beside: its calls are numbered alike on all members.
static void in_all_ways(Topology topology) {
  const int forms = carries_nonblocking() ? 2 : 1;
  for (int l = 0; l < count_of_lengths; l++) {
    for (int c = 0; c < count_of_calls; c++) {
      for (int nonblocking = 0; nonblocking < forms; nonblocking++) {
        calls[c](&topology, lengths[l], nonblocking);
        int sum = 1, members;
        MPI_Comm_size(topology.comm, &members);
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, topology.comm);
        EXPECT_EQ(sum, members);
      }
    }
  }
  MPI_Comm_free(&topology.comm);
}

// Periodic with one or two ranks: MPICH 2194, Open MPI 14430.
static void grid(int dimensions, const int* extents, unsigned periodic) {
  int periods[4];
  MPI_Comm comm;
  for (int d = 0; d < dimensions; d++) periods[d] = periodic >> d & 1;
  MPI_Cart_create(WORLD, dimensions, extents, periods, 0, &comm);
  if (comm != MPI_COMM_NULL) in_all_ways(of_grid(comm, dimensions));
}

static void lines(void) {
  for (unsigned periodic = 0; periodic < 2; periodic++) {
    grid(1, &size, periodic);
    grid(1, (int[]){1}, periodic);
    if (size >= 2) grid(1, (int[]){2}, periodic);
  }
}

static void grids(void) {
  for (unsigned periodic = 0; periodic < 4; periodic++) {
    int extents[2] = {0, 0};
    MPI_Dims_create(size, 2, extents);
    grid(2, extents, periodic);
    grid(2, (int[]){size, 1}, periodic);
    grid(3, (int[]){1, 1, size}, periodic);
  }
  if (size >= 4) grid(4, (int[]){2, 1, 2, 1}, 15);
  if (size >= 8) grid(3, (int[]){2, 2, 2}, 5);
}

// A grid without dimensions has one rank, which has no neighbours.
static void a_grid_without_dimensions(void) { grid(0, NULL, 0); }

// The neighbours of rank r in a graph that is the same from both ends.
static int neighbours_in_ring(int r, int* ranks) {
  ranks[0] = (r + size - 1) % size;
  ranks[1] = (r + 1) % size;
  return 2;
}
static int neighbours_in_doubled_star(int r, int* ranks) {
  int count = 0;
  for (int peer = 1; peer < size && r == 0; peer++) ranks[count++] = peer;
  for (int peer = size - 1; peer >= 1 && r == 0; peer--) ranks[count++] = peer;
  if (r != 0) ranks[count++] = 0, ranks[count++] = 0;
  ranks[count++] = r;
  ranks[count++] = r;
  return count;
}
static int neighbours_but_for_the_last(int r, int* ranks) {
  int count = 0;
  for (int peer = 0; peer < size - 1 && r < size - 1; peer++) ranks[count++] = peer;
  return count;
}

static void graph(int (*neighbours)(int r, int* ranks)) {
  int* index = allocate((size_t)size * sizeof(int));
  int* edges = allocate((size_t)size * most * sizeof(int));
  for (int r = 0, all = 0; r < size; r++) index[r] = all += neighbours(r, edges + all);
  MPI_Comm comm;
  MPI_Graph_create(WORLD, size, index, edges, 0, &comm);
  in_all_ways(of_graph(comm));
  free(edges);
  free(index);
}

static void graphs(void) {
  graph(neighbours_in_ring);
  graph(neighbours_in_doubled_star);
  graph(neighbours_but_for_the_last);
}

// Edges of all kinds: repeated, to oneself, of ranks without any. They are the same list on all ranks.
static MPI_Comm distributed_graph(unsigned seed, int edges) {
  int in[most], out[most], incoming = 0, outgoing = 0;
  for (int i = 0; i < edges; i++) {
    const int source = (int)((seed = seed * 1103515245 + 12345) >> 16) % size;
    const int target = (int)((seed = seed * 1103515245 + 12345) >> 16) % size;
    if (source == rank && outgoing < most) out[outgoing++] = target;
    if (target == rank && incoming < most) in[incoming++] = source;
  }
  MPI_Comm comm;
  MPI_Dist_graph_create_adjacent(WORLD, incoming, in, MPI_UNWEIGHTED, outgoing, out, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  return comm;
}

static void distributed_graphs(void) {
  for (unsigned seed = 1; seed < 5; seed++) {
    for (int edges = 0; edges <= 3 * size; edges += size) in_all_ways(of_distributed_graph(distributed_graph(seed, edges)));
  }
}

// Each rank says something of another one's edges.
static void a_graph_that_others_describe(void) {
  const int source = (rank + 1) % size, degree = 3;
  const int targets[] = {rank, (rank + 2) % size, rank}, weights[] = {5, 6, 7};
  MPI_Comm comm;
  MPI_Dist_graph_create(WORLD, 1, &source, &degree, targets, weights, MPI_INFO_NULL, 0, &comm);
  in_all_ways(of_distributed_graph(comm));
}

// A duplicate has the topology, too.
static void a_duplicate(void) {
  MPI_Comm line, comm;
  MPI_Cart_create(WORLD, 1, &size, (int[]){1}, 0, &line);
  MPI_Comm_dup(line, &comm);
  MPI_Comm_free(&line);
  in_all_ways(of_grid(comm, 1));
}

// Many open at a time, completed in another order, beside messages.
static void many_open(void) {
  enum { open = 10, count = 3000 };
  if (!carries_nonblocking()) return;
  MPI_Comm comm;
  MPI_Cart_create(WORLD, 1, &size, (int[]){1}, 0, &comm);
  const Topology line = of_grid(comm, 1);
  int *out[open], *in[open];
  MPI_Request requests[open];
  for (int i = 0; i < open; i++) {
    out[i] = filled(2 * count, untouched);
    in[i] = filled(2 * count, untouched);
    for (int block = 0; block < 2; block++)
      for (int k = 0; k < count; k++) out[i][block * count + k] = element(line.self + i, block, k);
    MPI_Ineighbor_alltoall(out[i], count, MPI_INT, in[i], count, MPI_INT, comm, &requests[i]);
    int token = i, got = untouched;
    MPI_Sendrecv(&token, 1, MPI_INT, line.in.ranks[1], i, &got, 1, MPI_INT, line.in.ranks[0], i, comm, MPI_STATUS_IGNORE);
    EXPECT_EQ(got, i);
  }
  for (int i = open - 1; i >= 0; i--) {
    MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    for (int block = 0; block < 2; block++) expect_block(in[i] + block * count, count, line.in.ranks[block] + i, block ^ 1);
    free(out[i]);
    free(in[i]);
  }
  MPI_Comm_free(&comm);
}

// A late neighbour: the blocks that came may be used, and are right when they are looked at.
static void a_late_neighbour(void) {
  enum { count = 200000 };
  MPI_Comm comm;
  MPI_Cart_create(WORLD, 1, &size, (int[]){1}, 0, &comm);
  const Topology line = of_grid(comm, 1);
  int* out = filled(2 * count, untouched);
  int* in = filled(2 * count, untouched);
  for (int round = 0; round < 4; round++) {
    for (int block = 0; block < 2; block++)
      for (int k = 0; k < count; k++) out[block * count + k] = element(line.self + round, block, k);
    if (rank == round % size) be_late();
    MPI_Neighbor_alltoall(out, count, MPI_INT, in, count, MPI_INT, comm);
    for (int block = 0; block < 2; block++) expect_block(in + block * count, count, line.in.ranks[block] + round, block ^ 1);
  }
  free(in);
  free(out);
  MPI_Comm_free(&comm);
}

// The host raises the error, on MPI_COMM_WORLD some of them, and the communicator is as good as before.
static void no_topology(void) {
  int in = untouched, out = 1;
  MPI_Comm comm;
  MPI_Comm_dup(WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
  EXPECT(MPI_Neighbor_allgather(&out, 1, MPI_INT, &in, 1, MPI_INT, comm) != MPI_SUCCESS, "it has no neighbours");
  MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
  EXPECT_EQ(in, untouched);
  MPI_Barrier(comm);
  MPI_Comm_free(&comm);
}

static const Case cases[] = {
    {"lines", 1, lines},
    {"grids", 1, grids},
    {"a_grid_without_dimensions", 1, a_grid_without_dimensions},
    {"graphs", 1, graphs},
    {"distributed_graphs", 1, distributed_graphs},
    {"a_graph_that_others_describe", 1, a_graph_that_others_describe},
    {"a_duplicate", 1, a_duplicate},
    {"many_open", 1, many_open},
    {"a_late_neighbour", 1, a_late_neighbour},
    {"no_topology", 1, no_topology},
};
SUITE(cases)
