// Buffers of a device, which the processor cannot reach, in every kind of call; and memory of the host that is registered with
// the device's driver. held_device_driver.c stands in for the driver; HELD_DEVICE says whether it is loaded before MPI_Init or
// after.
#include <dlfcn.h>

#include "hostile.h"
#include "persistent_calls.h"

enum { max_bytes = 300001, rounds = 6, registered_bytes = 64 * page };

typedef unsigned long long Pointer;

static struct {
  int (*allocate)(Pointer*, size_t);
  int (*release)(Pointer);
  int (*to_host)(void*, Pointer, size_t);
  int (*to_device)(Pointer, const void*, size_t);
  int (*add)(void*, size_t, unsigned);
  int (*stale_pages)(void*);
} device;

static void load(void) {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 32);
  path[length] = 0;
  strcpy(strrchr(path, '/') + 1, "libcuda.so.1");
  void* library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(7);
  }
  device.allocate = dlsym(library, "cuMemAlloc_v2");
  device.release = dlsym(library, "cuMemFree_v2");
  device.to_host = dlsym(library, "cuMemcpyDtoH_v2");
  device.to_device = dlsym(library, "cuMemcpyHtoD_v2");
  device.add = dlsym(library, "cuMemHostRegister_v2");
  device.stale_pages = dlsym(library, "standInStalePages");
  const char* preloaded = getenv("LD_PRELOAD");
  void (*reachable)(int) = dlsym(library, "standInReachable");
  reachable(!preloaded || !strstr(preloaded, "sluice"));
}

static int loaded_early(void) { return strcmp(getenv("HELD_DEVICE") ? getenv("HELD_DEVICE") : "before", "before") == 0; }

__attribute__((constructor)) static void before(void) {
  if (loaded_early()) load();
}

static void* device_memory(size_t bytes) {
  if (!device.allocate) load();
  Pointer address;
  EXPECT_EQ(device.allocate(&address, bytes), 0);
  return (void*)address;
}

static void fill_device(void* address, size_t bytes, unsigned seed) {
  char* content = allocate(bytes);
  fill(content, bytes, seed);
  EXPECT_EQ(device.to_device((Pointer)address, content, bytes), 0);
  free(content);
}

static void expect_on_device(void* address, size_t from, size_t to, unsigned seed) {
  char* content = allocate(to);
  EXPECT_EQ(device.to_host(content, (Pointer)address, to), 0);
  expect_part_filled(content, from, to, seed);
  free(content);
}

static const int lengths[] = {1, 100, 5000, 70000, max_bytes};
enum { length_count = sizeof lengths / sizeof *lengths };

#define IN_PAIRS \
  if (partner() >= size) return

static void sent_and_received(void) {
  IN_PAIRS;
  char* out = device_memory(max_bytes);
  char* in = device_memory(max_bytes);
  fill_device(in, max_bytes, 500);
  for (unsigned i = 0; i < rounds * length_count; i++) {
    const int bytes = lengths[i % length_count];
    MPI_Status status;
    fill_device(out, (size_t)bytes, i);
    if (rank % 2 == 0) {
      if (i % 2)
        MPI_Send(out, bytes, MPI_BYTE, partner(), 1, WORLD);
      else
        MPI_Ssend(out, bytes, MPI_BYTE, partner(), 1, WORLD);
    } else {
      MPI_Recv(in, max_bytes, MPI_BYTE, partner(), 1, WORLD, &status);
      expect_status(&status, partner(), 1, MPI_BYTE, bytes);
      expect_on_device(in, 0, (size_t)bytes, i);
      if (i < length_count) expect_on_device(in, (size_t)(bytes + 7) / 8 * 8, max_bytes, 500);
    }
  }
  device.release((Pointer)out);
  device.release((Pointer)in);
}

static void from_host_to_device_and_back(void) {
  IN_PAIRS;
  char* there = device_memory(max_bytes);
  char* here = allocate(max_bytes);
  for (unsigned i = 0; i < rounds; i++) {
    if (rank % 2 == 0) {
      fill(here, max_bytes, i);
      MPI_Send(here, max_bytes, MPI_BYTE, partner(), 1, WORLD);
      MPI_Recv(here, max_bytes, MPI_BYTE, partner(), 2, WORLD, IGNORE);
      expect_filled(here, max_bytes, i);
    } else {
      MPI_Recv(there, max_bytes, MPI_BYTE, partner(), 1, WORLD, IGNORE);
      MPI_Send(there, max_bytes, MPI_BYTE, partner(), 2, WORLD);
    }
  }
  free(here);
  device.release((Pointer)there);
}

static void nonblocking(void) {
  IN_PAIRS;
  enum { messages = 8, bytes = 70000 };
  char* out = device_memory(messages * bytes);
  char* in = device_memory(messages * bytes);
  MPI_Request requests[2 * messages];
  for (unsigned i = 0; i < rounds; i++) {
    for (int k = 0; k < messages; k++) {
      fill_device(out + k * bytes, bytes, i * messages + k);
      MPI_Irecv(in + k * bytes, bytes, MPI_BYTE, partner(), k, WORLD, &requests[k]);
    }
    for (int k = 0; k < messages; k++) {
      if (k % 2)
        MPI_Isend(out + k * bytes, bytes, MPI_BYTE, partner(), k, WORLD, &requests[messages + k]);
      else
        MPI_Issend(out + k * bytes, bytes, MPI_BYTE, partner(), k, WORLD, &requests[messages + k]);
    }
    for (int done = 0, flag = 0; i % 3 == 1 && !flag && done < 1000000; done++)
      MPI_Testall(2 * messages, requests, &flag, MPI_STATUSES_IGNORE);
    for (int left = 2 * messages, at; i % 3 == 2 && left > 0; left--) MPI_Waitany(2 * messages, requests, &at, IGNORE);
    MPI_Waitall(2 * messages, requests, MPI_STATUSES_IGNORE);
    for (int k = 0; k < messages; k++) expect_on_device(in + k * bytes, 0, bytes, i * messages + k);
  }
  device.release((Pointer)out);
  device.release((Pointer)in);
}

static void both_ways_in_one_call(void) {
  IN_PAIRS;
  char* out = device_memory(max_bytes);
  char* in = device_memory(max_bytes);
  for (unsigned i = 0; i < rounds; i++) {
    fill_device(out, max_bytes, 2 * i + (unsigned)rank % 2);
    MPI_Sendrecv(out, max_bytes, MPI_BYTE, partner(), 1, in, max_bytes, MPI_BYTE, partner(), 1, WORLD, IGNORE);
    expect_on_device(in, 0, max_bytes, 2 * i + 1 - (unsigned)rank % 2);
    MPI_Sendrecv_replace(out, max_bytes, MPI_BYTE, partner(), 2, partner(), 2, WORLD, IGNORE);
    expect_on_device(out, 0, max_bytes, 2 * i + 1 - (unsigned)rank % 2);
  }
  device.release((Pointer)out);
  device.release((Pointer)in);
}

static void persistent(void) {
  IN_PAIRS;
  char* out = device_memory(max_bytes);
  char* in = device_memory(max_bytes);
  MPI_Request pair[2];
  MPI_Send_init(out, max_bytes, MPI_BYTE, partner(), 1, WORLD, &pair[0]);
  MPI_Recv_init(in, max_bytes, MPI_BYTE, partner(), 1, WORLD, &pair[1]);
  for (unsigned i = 0; i < rounds; i++) {
    fill_device(out, max_bytes, i);
    MPI_Startall(2, pair);
    MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
    expect_on_device(in, 0, max_bytes, i);
  }
  MPI_Request_free(&pair[0]);
  MPI_Request_free(&pair[1]);
  device.release((Pointer)out);
  device.release((Pointer)in);
}

static void probed(void) {
  IN_PAIRS;
  char* memory = device_memory(max_bytes);
  for (unsigned i = 0; i < rounds; i++) {
    MPI_Message message;
    MPI_Request request;
    if (rank % 2 == 0) {
      fill_device(memory, max_bytes, i);
      MPI_Send(memory, max_bytes, MPI_BYTE, partner(), 1, WORLD);
      continue;
    }
    MPI_Mprobe(partner(), 1, WORLD, &message, IGNORE);
    if (i % 2) {
      MPI_Mrecv(memory, max_bytes, MPI_BYTE, &message, IGNORE);
    } else {
      MPI_Imrecv(memory, max_bytes, MPI_BYTE, &message, &request);
      MPI_Wait(&request, IGNORE);
    }
    expect_on_device(memory, 0, max_bytes, i);
  }
  device.release((Pointer)memory);
}

// Two messages into every other column each; the gaps of one are the other's.
static void columns(void) {
  IN_PAIRS;
  enum { rows = 200, width = 24 };
  MPI_Datatype column;
  MPI_Type_vector(rows, width, 2 * width, MPI_BYTE, &column);
  MPI_Type_commit(&column);
  char* matrix = device_memory(rows * 2 * width);
  char* content = allocate(rows * 2 * width);
  for (unsigned i = 0; i < rounds; i++) {
    MPI_Request pair[2];
    if (rank % 2 == 0) {
      fill_device(matrix, rows * 2 * width, i);
      MPI_Isend(matrix + width, 1, column, partner(), 1, WORLD, &pair[0]);
      MPI_Isend(matrix, 1, column, partner(), 0, WORLD, &pair[1]);
    } else {
      MPI_Irecv(matrix, 1, column, partner(), 0, WORLD, &pair[0]);
      MPI_Irecv(matrix + width, 1, column, partner(), 1, WORLD, &pair[1]);
    }
    MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
    if (rank % 2) expect_on_device(matrix, 0, rows * 2 * width, i);
  }
  free(content);
  device.release((Pointer)matrix);
  MPI_Type_free(&column);
}

static void buffered(void) {
  IN_PAIRS;
  char* memory = device_memory(max_bytes);
  int bytes = 4 * max_bytes;
  char* attached = allocate((size_t)bytes);
  MPI_Buffer_attach(attached, bytes);
  for (unsigned i = 0; i < rounds; i++) {
    if (rank % 2 == 0) {
      fill_device(memory, max_bytes, i);
      MPI_Bsend(memory, max_bytes, MPI_BYTE, partner(), 1, WORLD);
      MPI_Recv(NULL, 0, MPI_BYTE, partner(), 2, WORLD, IGNORE);
    } else {
      MPI_Recv(memory, max_bytes, MPI_BYTE, partner(), 1, WORLD, IGNORE);
      expect_on_device(memory, 0, max_bytes, i);
      MPI_Send(NULL, 0, MPI_BYTE, partner(), 2, WORLD);
    }
  }
  MPI_Buffer_detach(&attached, &bytes);
  free(attached);
  device.release((Pointer)memory);
}

// In each form, with other contents each time. One buffer is worked on in place.
enum { numbers = 3000 };

static void set_numbers(void* address, int first) {
  static int all[numbers];
  for (int i = 0; i < numbers; i++) all[i] = first + i;
  EXPECT_EQ(device.to_device((Pointer)address, all, sizeof all), 0);
}

static void expect_numbers(void* address, int begin, int end, int first, int step) {
  static int all[numbers];
  EXPECT_EQ(device.to_host(all, (Pointer)address, sizeof all), 0);
  int wrong = 0;
  for (int i = begin; i < end; i++) wrong += all[i] != first + i * step;
  EXPECT_EQ(wrong, 0);
}

static void collective(void) {
  char* out = device_memory(numbers * sizeof(int));
  char* in = device_memory(numbers * sizeof(int));
  char* both = device_memory(numbers * sizeof(int));
  const int block = numbers / size;
  MPI_Request kept[3], open[3];
  int kinds = 2;
#ifdef HAVE_PERSISTENT_CALLS
  kinds = 3;
  INIT(Bcast)(out, numbers, MPI_INT, 0, WORLD, MPI_INFO_NULL, &kept[0]);
  INIT(Allreduce)(out, in, numbers, MPI_INT, MPI_SUM, WORLD, MPI_INFO_NULL, &kept[1]);
  INIT(Alltoall)(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, both, block, MPI_INT, WORLD, MPI_INFO_NULL, &kept[2]);
#endif
  for (int i = 0; i < rounds * kinds; i++) {
    set_numbers(out, 100 * rank + i);
    set_numbers(both, 10000 * rank + i);
    if (i % kinds == 0) {
      MPI_Bcast(out, numbers, MPI_INT, 0, WORLD);
      MPI_Allreduce(out, in, numbers, MPI_INT, MPI_SUM, WORLD);
      MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, both, block, MPI_INT, WORLD);
    } else if (i % kinds == 1) {
      MPI_Ibcast(out, numbers, MPI_INT, 0, WORLD, &open[0]);
      MPI_Wait(&open[0], IGNORE);
      MPI_Iallreduce(out, in, numbers, MPI_INT, MPI_SUM, WORLD, &open[1]);
      MPI_Ialltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, both, block, MPI_INT, WORLD, &open[2]);
      MPI_Waitall(2, open + 1, MPI_STATUSES_IGNORE);
    } else {
      MPI_Start(&kept[0]);
      MPI_Wait(&kept[0], IGNORE);
      MPI_Startall(2, kept + 1);
      MPI_Waitall(2, kept + 1, MPI_STATUSES_IGNORE);
    }
    expect_numbers(out, 0, numbers, i, 1);
    expect_numbers(in, 0, numbers, i * size, size);
    for (int from = 0; from < size; from++)
      expect_numbers(both, from * block, (from + 1) * block, 10000 * from + i + (rank - from) * block, 1);
  }
  for (int i = 0; i < 3 && kinds == 3; i++) MPI_Request_free(&kept[i]);
  device.release((Pointer)out);
  device.release((Pointer)in);
  device.release((Pointer)both);
}

static void received(char* buffer, unsigned seed) {
  for (unsigned i = 0; i < rounds; i++) {
    if (late(buffer, registered_bytes, seed + i)) expect_filled(buffer, registered_bytes, seed + i);
  }
}

static void registered(int received_before) {
  if (!device.add) load();
  char* buffer = map(registered_bytes);
  fill(buffer, registered_bytes, 1);
  if (received_before) received(buffer, 10);
  EXPECT_EQ(device.add(buffer, registered_bytes, 0), 0);
  received(buffer, 30);
  EXPECT_EQ(device.stale_pages(buffer), 0);
  munmap(buffer, registered_bytes);
}

static void registered_before(void) { registered(0); }
static void registered_when_it_is_a_block(void) { registered(1); }

static const Case cases[] = {CASE(sent_and_received, 2),
                             CASE(from_host_to_device_and_back, 2),
                             CASE(nonblocking, 2),
                             CASE(both_ways_in_one_call, 2),
                             CASE(persistent, 2),
                             CASE(probed, 2),
                             CASE(columns, 2),
                             CASE(buffered, 2),
                             CASE(collective, 1),
                             CASE(registered_before, 2),
                             CASE(registered_when_it_is_a_block, 2)};
SUITE(cases)
