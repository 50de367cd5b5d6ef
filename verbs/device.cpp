#include "verbs/device.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "runtime/alias/own_pins.hpp"

namespace sluice {
namespace {

constexpr std::size_t kibibyte = 1024;

using Context = VerbsOwner<ibv_context>;

/// The adapters of this machine. The library forgets those that are not open when the list is gone.
class DeviceList {
 public:
  explicit DeviceList(const VerbsLibrary& library) : library_(library), devices_(library.get_device_list(&count_)) {
    if (!devices_ && library.error() != ENOSYS) throw std::runtime_error(why_failed("ibv_get_device_list", library.error()));
  }
  ~DeviceList() {
    if (devices_) library_.free_device_list(devices_);
  }
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;

  [[nodiscard]] std::span<ibv_device* const> devices() const {
    return {devices_, devices_ ? static_cast<std::size_t>(count_) : 0};
  }

 private:
  const VerbsLibrary& library_;
  int count_ = 0;
  ibv_device** devices_;
};

std::vector<GidDescription> read_gids(const VerbsLibrary& library, ibv_context* context, std::uint8_t port, int count) {
  constexpr int max_gids = 256;
  std::vector<GidDescription> gids;
  for (int index = 0; index < count && index < max_gids; ++index) {
    ibv_gid_entry entry{};
    // An entry of the table that is not in use is an error to it.
    if (library.query_gid_ex(context, port, static_cast<std::uint32_t>(index), &entry, 0, sizeof entry) != 0) continue;
    GidDescription gid{static_cast<std::uint8_t>(index), entry.gid_type == IBV_GID_TYPE_ROCE_V2, {}};
    std::memcpy(gid.gid.data(), entry.gid.raw, gid.gid.size());
    gids.push_back(gid);
  }
  return gids;
}

void add_ports(const VerbsLibrary& library, ibv_device* device, std::vector<PortDescription>& ports) {
  const Context context(library.open_device(device), library.close_device);
  ibv_device_attr limits{};
  if (!context || library.query_device(context.get(), &limits) != 0) return;
  for (int number = 1; number <= limits.phys_port_cnt; ++number) {
    const auto port = static_cast<std::uint8_t>(number);
    ibv_port_attr attributes{};
    if (library.query_port(context.get(), port, attributes) != 0) continue;
    ports.push_back({.device = library.get_device_name(device),
                     .port = port,
                     .active = attributes.state == IBV_PORT_ACTIVE,
                     .ethernet = attributes.link_layer == IBV_LINK_LAYER_ETHERNET,
                     .lid = attributes.lid,
                     .gids = read_gids(library, context.get(), port, attributes.gid_tbl_len)});
  }
}

ibv_context* open_named(const VerbsLibrary& library, const std::string& name) {
  const DeviceList list(library);
  for (ibv_device* device : list.devices()) {
    if (library.get_device_name(device) != name) continue;
    ibv_context* const context = library.open_device(device);
    if (!context) throw std::runtime_error(name + ": " + why_failed("ibv_open_device", library.error()));
    return context;
  }
  throw std::runtime_error("the RDMA adapter " + name + " has gone");
}

std::string describe(const PortDescription& port, const PortChoice& choice) {
  const std::string name = port.device + ":" + std::to_string(port.port) + ", " + name_of(choice.network) + ", ";
  return choice.network == VerbsNetwork::infiniband ? name + "LID " + std::to_string(port.lid) : name + to_string(choice.gid.gid);
}

}  // namespace

std::string why_failed(const char* call, int error) {
  std::string text = std::string(call) + " failed: " + std::strerror(error);
  rlimit limit{};
  if ((error != ENOMEM && error != EPERM) || ::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return text;
  return text + "; this process may lock " + std::to_string(limit.rlim_cur / kibibyte) +
         " KB of memory: raise that with `ulimit -l unlimited` in the shell that starts the job, or \"* - memlock unlimited\" in "
         "/etc/security/limits.conf";
}

std::vector<PortDescription> list_ports(const VerbsLibrary& library) {
  std::vector<PortDescription> ports;
  const DeviceList list(library);
  for (ibv_device* device : list.devices()) add_ports(library, device, ports);
  return ports;
}

VerbsDevice::VerbsDevice(const VerbsLibrary& library, std::string_view name, std::optional<std::uint8_t> gid)
    : library_(&library), context_(nullptr, library.close_device), domain_(nullptr, library.dealloc_pd) {
  const std::vector<PortDescription> ports = list_ports(library);
  const PortChoice choice = choose_port(ports, name, gid);
  const PortDescription& chosen = ports[choice.port];
  context_.reset(open_named(library, chosen.device));
  domain_.reset(library.alloc_pd(context_.get()));
  if (!domain_) throw std::runtime_error(why_failed("ibv_alloc_pd", library.error()));
  if (const int error = library.query_device(context_.get(), &limits_))
    throw std::runtime_error(why_failed("ibv_query_device", error));
  if (const int error = library.query_port(context_.get(), chosen.port, port_)) {
    throw std::runtime_error(why_failed("ibv_query_port", error));
  }
  gid_index_ = choice.gid.index;
  address_ = {.network = choice.network,
              .mtu = static_cast<std::uint8_t>(port_.active_mtu),
              .lid = port_.lid,
              .port = chosen.port,
              .reads = static_cast<std::uint32_t>(limits_.max_qp_rd_atom),
              .gid = choice.gid.gid};
  description_ = describe(chosen, choice);
}

bool VerbsDevice::register_memory(ByteRange bytes, Registration& registration) const {
  ibv_mr* const region = library_->reg_mr(domain(), reinterpret_cast<void*>(bytes.begin), bytes.size(),
                                          IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
  if (!region) {
    errno = library_->error();
    return false;
  }
  registration = {bytes, region->lkey, region->rkey, region};
  return true;
}

void VerbsDevice::deregister(const Registration& registration) const {
  library_->dereg_mr(static_cast<ibv_mr*>(registration.handle));
}

VerbsMemory::VerbsMemory(const VerbsDevice& device, std::size_t bytes, Access access) {
  void* const start = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) throw_errno("mmap");
  mapping_ = Mapping(start, bytes);
  const VerbsLibrary& library = device.library();
  const own_pins::Making making;
  const int by_peers = access == Access::peers ? IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE : 0;
  registration_ = {library.reg_mr(device.domain(), start, bytes, IBV_ACCESS_LOCAL_WRITE | by_peers), library.dereg_mr};
  if (!registration_) throw std::runtime_error(why_failed("ibv_reg_mr", library.error()));
}

}  // namespace sluice
