// What carries messages between nodes: RDMA adapters and the memory they may lock, addresses for tcp.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "net/interfaces.hpp"
#include "runtime/base/posix.hpp"
#include "tools/check/finding.hpp"
#include "verbs/device.hpp"

namespace sluice {

namespace {

bool lists(std::string_view list, std::string_view word) {
  return ("," + std::string(list) + ",").find("," + std::string(word) + ",") != std::string::npos;
}

/// Somebody asked for an adapter: that there is none is worth more than a note.
bool asks_for_verbs(const Config& config) {
  return !config.verbs_device.empty() || (lists(config.transports, "verbs") && !lists(config.transports, "tcp"));
}

/// The adapter that a job would take, or why it would take none.
struct Adapter {
  std::string description;
  std::string why_not;
};

Adapter find_adapter(const Config& config) {
  try {
    const VerbsDevice device(VerbsLibrary::get(), config.verbs_device, gid_index(config.verbs_gid));
    return {device.description(), ""};
  } catch (const std::exception& error) {
    return {"", error.what()};
  }
}

Finding examine_adapter(const Examined& examined) {
  if (!lists(examined.config.transports, "verbs"))
    return {State::note, "SLUICE_TRANSPORTS leaves verbs out", "Add verbs to use RDMA adapters"};
  const Adapter adapter = find_adapter(examined.config);
  if (adapter.why_not.empty()) return {State::good, adapter.description, ""};
  if (!asks_for_verbs(examined.config)) return {State::good, "none is used: " + adapter.why_not, ""};
  return {State::problem, adapter.why_not,
          "Correct SLUICE_VERBS_DEVICE (ibv_devinfo lists adapters), bring the port up, or add tcp to SLUICE_TRANSPORTS"};
}

/// Who has CAP_IPC_LOCK is not held to the limit, but in a user namespace the capability is there and means nothing: so it is
/// tried, without any page of it being there.
bool may_lock_beyond(std::size_t limit) {
  const std::size_t bytes = limit + static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  const Mapping owner(memory, bytes);
  return ::mlock2(memory, bytes, MLOCK_ONFAULT) == 0;
}

Finding examine_locked_memory(const Examined& examined) {
  rlimit limit{};
  checked(::getrlimit(RLIMIT_MEMLOCK, &limit), "getrlimit");
  if (limit.rlim_cur == RLIM_INFINITY) return {State::good, "any amount may be locked", ""};
  const std::string found = fmt::format("{} KB may be locked", limit.rlim_cur / 1024);
  if (may_lock_beyond(limit.rlim_cur)) return {State::good, found + ", but this process is not held to that", ""};
  if (limit.rlim_cur >= examined.config.reg_bytes) return {State::good, found, ""};
  const Adapter adapter = find_adapter(examined.config);
  const bool matters = adapter.why_not.empty() || asks_for_verbs(examined.config);
  return {matters ? State::warning : State::note,
          fmt::format("{}, less than SLUICE_REG_BYTES={}K that may be registered with an adapter", found,
                      examined.config.reg_bytes / 1024),
          "ulimit -l unlimited in the shell that starts the job, or \"* - memlock unlimited\" in /etc/security/limits.conf"};
}

Finding examine_addresses(const Examined& examined) {
  if (!lists(examined.config.transports, "tcp"))
    return {State::note, "SLUICE_TRANSPORTS leaves tcp out", "Add tcp to reach other nodes without adapters"};
  const std::string& wanted = examined.config.tcp_interfaces;
  if (const auto error = error_of_interfaces(wanted))
    return {State::problem, fmt::format("SLUICE_TCP_INTERFACES={}: {}", wanted, *error),
            "Correct it; ip address lists what there is"};
  const auto interfaces = read_interfaces();
  const auto addresses = choose_addresses(interfaces, wanted, false);
  if (addresses.empty()) {
    return {State::problem, why_no_address(interfaces, wanted),
            "Name an interface that is up in SLUICE_TCP_INTERFACES; ip address lists them"};
  }
  std::string list;
  for (const Address& address : addresses) list += (list.empty() ? "" : ", ") + to_string(address);
  return {State::good, "reached at " + list, ""};
}

}  // namespace

std::vector<Check> checks_of_network() {
  return {{"RDMA adapter", examine_adapter}, {"locked memory", examine_locked_memory}, {"tcp addresses", examine_addresses}};
}

}  // namespace sluice
