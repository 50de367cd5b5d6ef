// A part of the program has its calls from dlsym: from the handle of the host's library, from that of the program, from the
// search order. Both sides of a message go the same way all the same.
#include <dlfcn.h>

#include "late.h"

typedef int (*Send)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
typedef int (*Recv)(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*);
typedef int (*Irecv)(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
typedef int (*Wait)(MPI_Request*, MPI_Status*);

typedef struct {
  Send send;
  Recv recv;
  Irecv irecv;
  Wait wait;
} Calls;

static const int lengths[] = {0, 1, 4097, 70001, large};
enum { count = sizeof lengths / sizeof lengths[0] };

static void* find(void* handle, const char* prefix, const char* name) {
  char whole[64];
  snprintf(whole, sizeof whole, "%s%s", prefix, name);
  void* found = dlsym(handle, whole);
  EXPECT(found != NULL, "no %s", whole);
  return found;
}

static Calls calls_of(void* handle, const char* prefix) {
  return (Calls){(Send)find(handle, prefix, "Send"), (Recv)find(handle, prefix, "Recv"), (Irecv)find(handle, prefix, "Irecv"),
                 (Wait)find(handle, prefix, "Wait")};
}

static const Calls linked = {MPI_Send, MPI_Recv, MPI_Irecv, MPI_Wait};

// What the lower rank of a pair sends by one part of the program comes back by the other.
static void exchange(const Calls* by_name) {
  const int partner = rank ^ 1;
  if (partner >= size) return;
  char* buffer = allocate(large);
  for (int i = 0; i < count; i++) {
    const unsigned seed = (unsigned)(10 * rank + i), theirs = (unsigned)(10 * partner + i);
    if (rank % 2 == 0) {
      fill(buffer, (size_t)lengths[i], seed);
      by_name->send(buffer, lengths[i], MPI_BYTE, partner, i, WORLD);
      by_name->recv(buffer, lengths[i], MPI_BYTE, partner, i, WORLD, IGNORE);
      expect_filled(buffer, (size_t)lengths[i], seed);
      linked.send(buffer, lengths[i], MPI_BYTE, partner, i, WORLD);
    } else {
      MPI_Request request;
      linked.recv(buffer, lengths[i], MPI_BYTE, partner, i, WORLD, IGNORE);
      expect_filled(buffer, (size_t)lengths[i], theirs);
      linked.send(buffer, lengths[i], MPI_BYTE, partner, i, WORLD);
      by_name->irecv(buffer, lengths[i], MPI_BYTE, partner, i, WORLD, &request);
      linked.wait(&request, IGNORE);
      expect_filled(buffer, (size_t)lengths[i], theirs);
    }
  }
  free(buffer);
}

static void* libmpi(int scope) { return dlopen("libmpi.so.40", RTLD_NOW | scope); }

static void of_the_library(void) {
  const Calls calls = calls_of(libmpi(RTLD_LOCAL), "MPI_");
  exchange(&calls);
}

static void of_the_library_by_their_other_names(void) {
  const Calls calls = calls_of(libmpi(RTLD_GLOBAL), "PMPI_");
  exchange(&calls);
}

static void of_the_program(void) {
  const Calls calls = calls_of(dlopen(NULL, RTLD_NOW), "MPI_");
  exchange(&calls);
}

static void of_the_search_order(void) {
  const Calls calls = calls_of(RTLD_DEFAULT, "MPI_");
  exchange(&calls);
}

static void other_names_are_found_as_ever(void) {
  void* const libc = dlopen("libc.so.6", RTLD_NOW);
  EXPECT(dlsym(libc, "strlen") != NULL, "no strlen");
  EXPECT(dlsym(libc, "MPI_Send") == NULL, "the C library has MPI_Send");
  EXPECT(dlerror() != NULL, "no error for a name that is not there");
  EXPECT(dlsym(libmpi(RTLD_LOCAL), "MPI_No_such_call") == NULL, "a call that is none was found");
  EXPECT(dlsym(libmpi(RTLD_LOCAL), "ompi_mpi_comm_world") != NULL, "no MPI_COMM_WORLD");
  EXPECT(dlsym(RTLD_NEXT, "malloc") != NULL, "no next malloc");
}

// A later version of MPI has them, and the library that stands in front of the host may have them all the same.
static void newer_calls_are_found_where_the_host_has_them(void) {
  void* library = dlopen("libmpi.so.40", RTLD_NOW | RTLD_NOLOAD);
  static const char* const names[] = {"MPI_Send_c", "PMPI_Isendrecv", "MPI_Session_init", "MPI_Put_c"};
  for (int i = 0; i < 4; i++) {
    EXPECT((dlsym(RTLD_DEFAULT, names[i]) != NULL) == (dlsym(library, names[i]) != NULL), "%s is told otherwise", names[i]);
  }
}

static const Case cases[] = {CASE(newer_calls_are_found_where_the_host_has_them, 1),
                             CASE(of_the_library, 2),
                             CASE(of_the_library_by_their_other_names, 2),
                             CASE(of_the_program, 2),
                             CASE(of_the_search_order, 2),
                             CASE(other_names_are_found_as_ever, 1)};
SUITE(cases)
