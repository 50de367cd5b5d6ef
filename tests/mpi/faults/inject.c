/* Preloaded behind libsluice.so: one system call fails when Sluice makes it for the n-th time in a process.
 *   INJECT=CALL:N    that one;  INJECT=CALL:N+  that and all later ones
 *   INJECT_RANK=R    in this rank only
 *   INJECT_COUNTS=1  says at the end how often each was called
 * CALL: memfd_create, mmap, mprotect, userfaultfd, ioctl (of userfaultfd), process_vm_readv, process_vm_writev, futex (waits:
 * waking does not fail at a good address). Whose call it is, is told from the return address: inside libsluice.so, but not in a
 * function of the same name, which stands in front of the C library for the application. */

#undef _FILE_OFFSET_BITS  // both names of mmap are defined here
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum Call { memfd_create_, mmap_, mprotect_, userfaultfd_, ioctl_, process_vm_readv_, process_vm_writev_, futex_, calls };

static const char* const names[calls] = {"memfd_create",      "mmap", "mprotect", "userfaultfd", "ioctl", "process_vm_readv",
                                         "process_vm_writev", "futex"};
/* What the kernel says in such cases; by turns. */
static const int errors[calls][2] = {{EMFILE, ENOMEM}, {ENOMEM, ENOMEM}, {ENOMEM, ENOMEM}, {EPERM, ENOSYS},
                                     {ENOMEM, EAGAIN}, {EPERM, ESRCH},   {EFAULT, EPERM},  {EINTR, EAGAIN}};

static uintptr_t library_begin, library_end;
static struct { uintptr_t begin, end; } wrappers[8];
static size_t wrapper_count;

static long made[calls];
static enum Call wanted = calls;
static long wanted_turn;
static int and_later;

static int find_library(struct dl_phdr_info* info, size_t size, void* unused) {
  (void)size, (void)unused;
  if (!strstr(info->dlpi_name, "libsluice.so")) return 0;
  library_begin = info->dlpi_addr;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const uintptr_t end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
    if (info->dlpi_phdr[i].p_type == PT_LOAD && end > library_end) library_end = end;
  }
  return 1;
}

static void find_wrapper(const char* name) {
  Dl_info info;
  const ElfW(Sym)* symbol = NULL;
  void* function = dlsym(RTLD_DEFAULT, name);
  const uintptr_t address = (uintptr_t)function;
  if (address < library_begin || address >= library_end) return;
  if (!dladdr1(function, &info, (void**)&symbol, RTLD_DL_SYMENT) || !symbol) return;
  wrappers[wrapper_count].begin = address;
  wrappers[wrapper_count++].end = address + symbol->st_size;
}

__attribute__((constructor)) static void prepare(void) {
  const char* text = getenv("INJECT");
  const char* rank = getenv("INJECT_RANK");
  const char* own_rank = getenv("OMPI_COMM_WORLD_RANK");
  dl_iterate_phdr(find_library, NULL);
  static const char* const wrapped[] = {"mmap", "mmap64", "mprotect", "memfd_create", "process_vm_readv", "ioctl", "syscall"};
  for (size_t i = 0; i < sizeof wrapped / sizeof *wrapped; i++) find_wrapper(wrapped[i]);
  if (!text || (rank && own_rank && strcmp(rank, own_rank) != 0)) return;
  for (int i = 0; i < calls; i++) {
    const size_t length = strlen(names[i]);
    if (strncmp(text, names[i], length) != 0 || text[length] != ':') continue;
    wanted_turn = atol(text + length + 1);
    and_later = strchr(text, '+') != NULL;
    wanted = (enum Call)i;
  }
}

__attribute__((destructor)) static void count(void) {
  if (!getenv("INJECT_COUNTS") || !library_end) return;
  for (int i = 0; i < calls; i++) fprintf(stderr, "inject: %s %ld\n", names[i], made[i]);
}

static int fails(enum Call call, void* from) {
  const uintptr_t caller = (uintptr_t)from;
  if (caller < library_begin || caller >= library_end) return 0;
  for (size_t i = 0; i < wrapper_count; i++) {
    if (caller >= wrappers[i].begin && caller < wrappers[i].end) return 0;
  }
  const long turn = __atomic_add_fetch(&made[call], 1, __ATOMIC_RELAXED);
  if (call != wanted || (and_later ? turn < wanted_turn : turn != wanted_turn)) return 0;
  errno = errors[call][turn % 2];
  return 1;
}

/* The C library's function, looked up once. */
#define NEXT(name)                                                \
  ({                                                              \
    static __typeof__(&name) next;                                \
    if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
    next;                                                         \
  })
#define CALLER __builtin_return_address(0)

int memfd_create(const char* name, unsigned flags) { return fails(memfd_create_, CALLER) ? -1 : NEXT(memfd_create)(name, flags); }

void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) {
  return fails(mmap_, CALLER) ? MAP_FAILED : NEXT(mmap)(address, bytes, protection, flags, file, offset);
}

void* mmap64(void* address, size_t bytes, int protection, int flags, int file, off64_t offset) {
  return fails(mmap_, CALLER) ? MAP_FAILED : NEXT(mmap64)(address, bytes, protection, flags, file, offset);
}

int mprotect(void* address, size_t bytes, int protection) {
  return fails(mprotect_, CALLER) ? -1 : NEXT(mprotect)(address, bytes, protection);
}

ssize_t process_vm_readv(pid_t process, const struct iovec* local, unsigned long local_count, const struct iovec* remote,
                         unsigned long remote_count, unsigned long flags) {
  if (fails(process_vm_readv_, CALLER)) return -1;
  return NEXT(process_vm_readv)(process, local, local_count, remote, remote_count, flags);
}

int ioctl(int file, unsigned long request, ...) {
  va_list arguments;
  va_start(arguments, request);
  void* const argument = va_arg(arguments, void*);
  va_end(arguments);
  if (_IOC_TYPE(request) == UFFDIO && request != UFFDIO_WAKE && fails(ioctl_, CALLER)) return -1;
  return NEXT(ioctl)(file, request, argument);
}

long syscall(long number, ...) {
  long word[6];
  va_list arguments;
  va_start(arguments, number);
  for (int i = 0; i < 6; i++) word[i] = va_arg(arguments, long);
  va_end(arguments);
  const int waits = number == SYS_futex && (word[1] & FUTEX_CMD_MASK) == FUTEX_WAIT;
  if (waits && fails(futex_, CALLER)) return -1;
  if (number == SYS_process_vm_writev && fails(process_vm_writev_, CALLER)) return -1;
  if (number == SYS_userfaultfd && fails(userfaultfd_, CALLER)) return -1;
  return NEXT(syscall)(number, word[0], word[1], word[2], word[3], word[4], word[5]);
}
