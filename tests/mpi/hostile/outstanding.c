// 10,000 outstanding receives, each into pages of its own with a gap to the next: as many mappings as anybody could ask of the
// kernel. A program must get by with what Linux grants a process (vm.max_map_count), of which the library between it and its MPI
// may take a quarter.
#include "suite.h"

enum {
  receives = 10000,
  bytes = 20000,
  offset = 100,
  page = 4096,
  stride = 7 * page,
  checked = 97,
  repetitions = 7,
  batch = 100
};

static char* memory;
static MPI_Request* requests;
static long mappings_before, max_mappings;

static char* buffer_of(int i) { return memory + (size_t)i * stride + offset; }
static unsigned seed_of(int round, int i) { return (unsigned)(round * receives + i); }

static int partner(void) { return rank ^ 1; }
static int receiver(void) { return rank % 2 != 0 && partner() < size; }
static int sender(void) { return rank % 2 == 0 && partner() < size; }

static long line_count(const char* path) {
  FILE* file = fopen(path, "r");
  long lines = 0;
  for (int c; (c = fgetc(file)) != EOF;) lines += c == '\n';
  fclose(file);
  return lines;
}

static long number_in(const char* path) {
  FILE* file = fopen(path, "r");
  long number = 0;
  if (fscanf(file, "%ld", &number) != 1) MPI_Abort(WORLD, 8);
  fclose(file);
  return number;
}

static void look_at_mappings(void) {
  const long now = line_count("/proc/self/maps");
  if (now > max_mappings) max_mappings = now;
}

static void begin(void) {
  memory = calloc(receives, stride);
  requests = allocate(receives * sizeof *requests);
  mappings_before = max_mappings = line_count("/proc/self/maps");
}

static void end(void) {
  const long granted = number_in("/proc/sys/vm/max_map_count");
  look_at_mappings();
  EXPECT(max_mappings - mappings_before <= granted / 4, "%ld mappings were added, and %ld are all",
         max_mappings - mappings_before, granted);
  free(requests);
  free(memory);
}

static void post_receives(void) {
  for (int i = 0; i < receives; i++) MPI_Irecv(buffer_of(i), bytes, MPI_BYTE, partner(), 1, WORLD, &requests[i]);
}

// Many at once: a blocking send each would cost a change of processes each, where the processors are shared.
static void send_all(int round) {
  char* sent = allocate((size_t)batch * bytes);
  MPI_Request started[batch];
  for (int first = 0; first < receives; first += batch) {
    for (int i = 0; i < batch; i++) {
      char* one = sent + (size_t)i * bytes;
      fill(one, bytes, seed_of(round, first + i));
      MPI_Isend(one, bytes, MPI_BYTE, partner(), 1, WORLD, &started[i]);
    }
    MPI_Waitall(batch, started, MPI_STATUSES_IGNORE);
  }
  free(sent);
}

static void check(int round) {
  for (int i = 0; i < receives; i++) expect_filled(buffer_of(i), bytes, seed_of(round, i));
}

// The sender is late enough for many of them to return before their data is there.
static void waited_for_one_by_one(void) {
  begin();
  if (receiver()) {
    post_receives();
    MPI_Send(NULL, 0, MPI_BYTE, partner(), 2, WORLD);
    for (int i = 0; i < receives; i++) {
      MPI_Wait(&requests[i], IGNORE);
      if (i % checked == 0) look_at_mappings();
    }
    look_at_mappings();
    check(0);
  } else if (sender()) {
    MPI_Recv(NULL, 0, MPI_BYTE, partner(), 2, WORLD, IGNORE);
    pause_ms(300);
    send_all(0);
  }
  end();
}

// Used so often that every one of them is worth preparing.
static void waited_for_together(void) {
  begin();
  for (int round = 0; round < repetitions; round++) {
    if (receiver()) {
      post_receives();
      MPI_Send(NULL, 0, MPI_BYTE, partner(), 2, WORLD);
      MPI_Waitall(receives, requests, MPI_STATUSES_IGNORE);
      look_at_mappings();
      check(round);
    } else if (sender()) {
      MPI_Recv(NULL, 0, MPI_BYTE, partner(), 2, WORLD, IGNORE);
      send_all(round);
    }
  }
  end();
}

static const Case cases[] = {{"waited_for_one_by_one", 2, waited_for_one_by_one},
                             {"waited_for_together", 2, waited_for_together}};
SUITE(cases)
