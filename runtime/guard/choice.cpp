#include "runtime/guard/choice.hpp"

#include "runtime/guard/descriptor.hpp"

namespace sluice {
namespace {

constexpr const char* user_mode_only =
    "only for touches in user mode, since CAP_SYS_PTRACE, vm.unprivileged_userfaultfd=1 and access to /dev/userfaultfd are all "
    "missing: system calls fail with EFAULT instead of waiting";

}  // namespace

const char* name_of(GuardEngine engine) { return engine == GuardEngine::userfaultfd ? "userfaultfd" : "mprotect"; }

// userfaultfd opens pages one by one and answers a touch from another thread: dearer in every measured case
// (docs/results/guard-figures.md). So it is used only where somebody asks for what it is better at.
GuardChoice choose_guard(GuardEngine wanted) {
  if (wanted == GuardEngine::mprotect) return {GuardEngine::mprotect, "SLUICE_GUARD=mprotect", {}};
  std::string missing;
  const FaultDescriptor faults = FaultDescriptor::open(missing);
  const bool possible = static_cast<bool>(faults);
  const std::string limits = possible && !faults.kernel_faults() ? std::string(", ") + user_mode_only : std::string();
  if (wanted == GuardEngine::automatic) {
    const std::string other =
        possible ? "userfaultfd is possible" + limits + ", and dearer" : "userfaultfd is not possible: " + missing;
    return {GuardEngine::mprotect, "auto: " + other, {}};
  }
  if (possible) return {GuardEngine::userfaultfd, "SLUICE_GUARD=userfaultfd" + limits, {}};
  return {GuardEngine::mprotect, "SLUICE_GUARD=userfaultfd is not possible: " + missing,
          "SLUICE_GUARD=userfaultfd is not possible here: " + missing + "; mprotect is used"};
}

}  // namespace sluice
