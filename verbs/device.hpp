// One port of one adapter, open: what everything else of this transport is made of. And owners of what the library makes.
//
// Errors: std::runtime_error with the call and its cause; for memory that may not be locked with the command that raises the
// limit. Threading: construction one thread; `register_memory` engine lock.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/posix.hpp"
#include "runtime/transport/rdma.hpp"
#include "verbs/address.hpp"
#include "verbs/library.hpp"
#include "verbs/port_choice.hpp"

namespace sluice {

/// An object of libibverbs and the function that ends it.
template <class Object>
using VerbsOwner = std::unique_ptr<Object, int (*)(Object*)>;

/// "ibv_create_qp failed: Cannot allocate memory". For ENOMEM and EPERM the limit of locked memory is named as well, where there
/// is one.
[[nodiscard]] std::string why_failed(const char* call, int error);

/// All ports of all adapters. Empty when there are none; throws when there is no library.
[[nodiscard]] std::vector<PortDescription> list_ports(const VerbsLibrary& library);

class VerbsDevice {
 public:
  /// `name`: SLUICE_VERBS_DEVICE, or empty; `gid`: SLUICE_VERBS_GID.
  VerbsDevice(const VerbsLibrary& library, std::string_view name, std::optional<std::uint8_t> gid);

  [[nodiscard]] const VerbsLibrary& library() const { return *library_; }
  [[nodiscard]] ibv_context* context() const { return context_.get(); }
  [[nodiscard]] ibv_pd* domain() const { return domain_.get(); }
  [[nodiscard]] const ibv_device_attr& limits() const { return limits_; }
  [[nodiscard]] const ibv_port_attr& port() const { return port_; }
  [[nodiscard]] std::uint8_t gid_index() const { return gid_index_; }
  /// What peers have to know.
  [[nodiscard]] const VerbsAddress& address() const { return address_; }
  /// "mlx5_0:1, RoCE v2 over IPv4, 10.0.0.1"
  [[nodiscard]] const std::string& description() const { return description_; }

  /// Of the program's memory, for peers as well. False: `errno` says why.
  bool register_memory(ByteRange bytes, Registration& registration) const;
  void deregister(const Registration& registration) const;

 private:
  const VerbsLibrary* library_;
  VerbsOwner<ibv_context> context_;
  VerbsOwner<ibv_pd> domain_;
  ibv_device_attr limits_{};
  ibv_port_attr port_{};
  std::uint8_t gid_index_ = 0;
  VerbsAddress address_;
  std::string description_;
};

/// Memory of this transport's own that the adapter may use, all 0 at first. A shared mapping, so that fork leaves it where it is.
class VerbsMemory {
 public:
  enum class Access : std::uint8_t { own, peers };

  VerbsMemory() = default;
  VerbsMemory(const VerbsDevice& device, std::size_t bytes, Access access = Access::own);

  [[nodiscard]] std::byte* start() const { return mapping_.start(); }
  [[nodiscard]] std::uint32_t local_key() const { return registration_->lkey; }
  /// For peers, if they have access.
  [[nodiscard]] RemoteMemory remote(const void* place) const {
    return {reinterpret_cast<std::uint64_t>(place), registration_->rkey};
  }

 private:
  Mapping mapping_;
  VerbsOwner<ibv_mr> registration_{nullptr, nullptr};
};

}  // namespace sluice
