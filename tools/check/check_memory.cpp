// What the kernel permits: memory files, reading a neighbour, page guards, mappings, descriptors, large pages.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "runtime/alias/arena.hpp"
#include "runtime/alias/huge_pages.hpp"
#include "runtime/base/posix.hpp"
#include "runtime/guard/choice.hpp"
#include "runtime/guard/descriptor.hpp"
#include "shmem/cross_memory.hpp"
#include "tools/check/finding.hpp"

namespace sluice {

namespace {

std::string first_line_of(const char* file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

Finding examine_memory_files(const Examined& examined) {
  constexpr std::size_t enough_mappings = 1000;
  const AliasArena arena(enough_mappings);
  if (arena.usable()) return {State::good, "alias blocks can be made", ""};
  const bool harmless = examined.config.keeps_pages();
  return {harmless ? State::note : State::warning, "no receive can be released: " + arena.refusal(),
          "Permit memfd_create and mappings of 64 GB of address space: no seccomp filter, ulimit -v and ulimit -f unlimited"};
}

/// A neighbour that has nothing to do with the reader but its parent, as two ranks are. Lives until it is destroyed.
class Neighbour {
 public:
  Neighbour() {
    std::array<int, 2> ends{};
    checked(::pipe2(ends.data(), O_CLOEXEC), "pipe2");
    Descriptor reads(ends[0]);
    hold_ = Descriptor(ends[1]);
    pid_ = checked(::fork(), "fork");
    if (pid_ != 0) return;
    hold_.reset();
    char unused = 0;
    while (::read(reads.get(), &unused, 1) > 0) continue;
    ::_exit(0);
  }
  ~Neighbour() {
    hold_.reset();
    ::waitpid(pid_, nullptr, 0);
  }
  Neighbour(const Neighbour&) = delete;
  Neighbour& operator=(const Neighbour&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
  Descriptor hold_;  // the child ends when this is closed
};

/// What process_vm_readv says to a process that reads its neighbour: 0 or an error number.
int read_between_neighbours() {
  static Token token{0x736c75696365, 0x636865636b};  // "sluice", "check"
  const Neighbour neighbour;
  const pid_t reader = checked(::fork(), "fork");
  if (reader == 0) {
    CrossMemory memory(neighbour.pid());
    errno = 0;
    memory.probe(reinterpret_cast<std::uint64_t>(&token), token);
    ::_exit(memory.usable() ? 0 : std::max(errno, 1));
  }
  int status = 0;
  checked(::waitpid(reader, &status, 0), "waitpid");
  return WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
}

Finding examine_cross_memory(const Examined&) {
  const int error = read_between_neighbours();
  if (error == 0) return {State::good, "a process may read its neighbour", ""};
  const std::string scope = first_line_of("/proc/sys/kernel/yama/ptrace_scope");
  const bool yama = !scope.empty() && scope != "0";
  return {State::warning,
          fmt::format("process_vm_readv between neighbours fails: {}{}", std::strerror(error),
                      yama ? "; kernel.yama.ptrace_scope is " + scope : ""),
          yama ? "sysctl kernel.yama.ptrace_scope=0; without it, messages from buffers that are no alias blocks are copied twice"
               : "Permit it in the container (CAP_SYS_PTRACE, seccomp); without it, messages from buffers that are no alias "
                 "blocks are copied twice"};
}

Finding examine_userfaultfd(const Examined& examined) {
  std::string missing;
  const FaultDescriptor faults = FaultDescriptor::open(missing);
  const bool wanted = examined.config.guard == GuardEngine::userfaultfd;
  const char* const advice =
      "Only for SLUICE_GUARD=userfaultfd: sysctl vm.unprivileged_userfaultfd=1, or access to /dev/userfaultfd, and Linux 5.14";
  if (!faults) return {wanted ? State::warning : State::note, "not possible: " + missing, advice};
  if (!faults.kernel_faults()) return {wanted ? State::warning : State::note, "possible for touches in user mode only", advice};
  return {State::good, "possible", ""};
}

Finding examine_mappings(const Examined&) {
  constexpr std::size_t kernel_default = 65530;
  const std::string text = first_line_of("/proc/sys/vm/max_map_count");
  std::size_t limit = 0;
  if (!(std::istringstream(text) >> limit)) return {State::warning, "vm.max_map_count cannot be read", "Mount /proc"};
  const std::string found = fmt::format("vm.max_map_count is {}, of which Sluice takes a quarter at most", limit);
  if (limit >= kernel_default) return {State::good, found, ""};
  return {State::warning, found, fmt::format("sysctl vm.max_map_count={}", kernel_default)};
}

Finding examine_descriptors(const Examined&) {
  constexpr rlim_t for_each_neighbour = 3;
  constexpr rlim_t others = 64;  // standard streams, the host's, the program's own
  rlimit limit{};
  checked(::getrlimit(RLIMIT_NOFILE, &limit), "getrlimit");
  const rlim_t processors = std::max(1U, std::thread::hardware_concurrency());
  const rlim_t wanted = for_each_neighbour * processors + others;
  if (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= wanted)
    return {State::good,
            fmt::format("a process may open {}", limit.rlim_cur == RLIM_INFINITY ? "any number" : std::to_string(limit.rlim_cur)),
            ""};
  return {
      State::warning,
      fmt::format("a process may open {}; with a rank on each of {} processors it needs {}", limit.rlim_cur, processors, wanted),
      "Raise it with ulimit -n in the shell that starts the job, or nofile in /etc/security/limits.conf"};
}

/// Does what AliasLargePages does, since no setting tells whether the kernel will.
bool can_collapse() {
  constexpr std::size_t extent = std::size_t{2} << 20;
  constexpr int advice_collapse = 25;  // MADV_COLLAPSE, Linux 6.1
  const Descriptor file(checked(::memfd_create("sluice-check", MFD_CLOEXEC), "memfd_create"));
  checked(::ftruncate(file.get(), extent), "ftruncate");
  void* const start = ::mmap(nullptr, 2 * extent, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) throw_errno("mmap");
  const Mapping reserved(start, 2 * extent);
  const auto address = (reinterpret_cast<std::uintptr_t>(start) + extent - 1) / extent * extent;
  void* const aligned =
      ::mmap(reinterpret_cast<void*>(address), extent, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.get(), 0);
  if (aligned == MAP_FAILED) throw_errno("mmap");
  std::memset(aligned, 1, extent);
  return ::madvise(aligned, extent, advice_collapse) == 0 || errno != EINVAL;
}

Finding examine_large_pages(const Examined& examined) {
  const std::string enabled = first_line_of("/sys/kernel/mm/transparent_hugepage/enabled");
  const std::string settings = fmt::format("transparent huge pages {}", enabled);
  const bool everywhere = HugePages::parse(enabled, {}, 0) == HugePages::Setting::all;
  if (everywhere && examined.config.keeps_huge_pages && !examined.config.keeps_pages()) {
    return {State::note, settings + "; most large buffers lie in huge pages, and nothing is released early into these",
            "SLUICE_HUGE_PAGES=replace, where early release gains more than huge pages do"};
  }
  if (can_collapse()) return {State::good, settings + "; blocks that are released often get them", ""};
  return {State::note, settings + "; the kernel makes none of memory files, so protecting large buffers costs twice as much",
          "Linux 6.1 or later, and shmem_enabled in /sys/kernel/mm/transparent_hugepage not deny"};
}

}  // namespace

std::vector<Check> checks_of_memory() {
  return {{"memory files", examine_memory_files}, {"cross-memory attach", examine_cross_memory},
          {"userfaultfd", examine_userfaultfd},   {"mappings", examine_mappings},
          {"descriptors", examine_descriptors},   {"huge pages", examine_large_pages}};
}

}  // namespace sluice
