/* refused WHAT ROUND BYTES: from this round on (0: before MPI_Init) the kernel refuses a system call that Sluice lives on;
 * messages go on and every byte is checked. WHAT: memory_files, protection, fixed_mappings, peer_memory, peer_writes, map_query,
 * mappings.
 * The refusal is a seccomp filter for all threads; for `mappings`, the process comes close to vm.max_map_count. */

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "../support/refusals.h"
#include "common.h"

static void refuse_call(unsigned number, unsigned error) {
  struct sock_filter filter[] = {LOAD(nr), UNLESS_EQUAL_SKIP(number, 1), REFUSE(error), ALLOW};
  install(filter, sizeof filter / sizeof *filter);
}

static void refuse_protection(void) {
  struct sock_filter filter[] = {
      LOAD(nr), UNLESS_EQUAL_SKIP(SYS_mprotect, 3), LOAD(args[2]), UNLESS_EQUAL_SKIP(PROT_NONE, 1), REFUSE(ENOMEM), ALLOW};
  install(filter, sizeof filter / sizeof *filter);
}

static void refuse_fixed_mappings(void) {
  struct sock_filter filter[] = {LOAD(nr),
                                 UNLESS_EQUAL_SKIP(SYS_mmap, 4),
                                 LOAD(args[3]),
                                 UNLESS_SET_SKIP(MAP_FIXED, 2),
                                 UNLESS_SET_SKIP(MAP_SHARED, 1),
                                 REFUSE(ENOMEM),
                                 ALLOW};
  install(filter, sizeof filter / sizeof *filter);
}

/* Every other page of a large mapping gets another protection, until few mappings are left. */
static void use_up_mappings(void) {
  const size_t page = 4096;
  long limit = 65530;
  FILE* file = fopen("/proc/sys/vm/max_map_count", "r");
  if (file == NULL || fscanf(file, "%ld", &limit) != 1 || limit > 200000) _exit(77);
  fclose(file);
  const size_t pages = (size_t)limit - 600;
  char* area = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (area == MAP_FAILED) _exit(77);
  for (size_t i = 1; i < pages; i += 2) {
    if (mprotect(area + i * page, page, PROT_READ) != 0) _exit(77);
  }
}

static void refuse(const char* what) {
  if (strcmp(what, "memory_files") == 0) return refuse_call(SYS_memfd_create, EPERM);
  if (strcmp(what, "protection") == 0) return refuse_protection();
  if (strcmp(what, "fixed_mappings") == 0) return refuse_fixed_mappings();
  if (strcmp(what, "peer_memory") == 0) return refuse_call(SYS_process_vm_readv, EPERM);
  if (strcmp(what, "peer_writes") == 0) return refuse_call(SYS_process_vm_writev, EPERM);
  if (strcmp(what, "map_query") == 0) return refuse_map_query();
  if (strcmp(what, "mappings") == 0) return use_up_mappings();
  _exit(2);
}

static void exchange(int bytes, int round) {
  const int rank = world_rank();
  unsigned char* buffer = malloc((size_t)bytes);
  if (rank == 0) {
    usleep(3000);
    fill(buffer, (size_t)bytes, round);
    MPI_Send(buffer, bytes, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
    MPI_Recv(buffer, bytes, MPI_BYTE, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(buffer, (size_t)bytes, round + 1);
  } else if (rank == 1) {
    MPI_Recv(buffer, bytes, MPI_BYTE, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(buffer, (size_t)bytes, round);
    fill(buffer, (size_t)bytes, round + 1);
    MPI_Send(buffer, bytes, MPI_BYTE, 0, 6, MPI_COMM_WORLD);
  }
  free(buffer);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "memory_files";
  const int from_round = argc > 2 ? atoi(argv[2]) : 0;
  const int bytes = argc > 3 ? atoi(argv[3]) : 1 << 20;
  if (from_round == 0) refuse(what);
  MPI_Init(&argc, &argv);
  for (int round = 1; round <= 20; ++round) {
    if (round == from_round) refuse(what);
    exchange(bytes, round);
  }
  if (world_rank() == 0) puts("exchange ok");
  MPI_Finalize();
  return 0;
}
