// The runtimes of GPUs that Sluice knows how to ask, each found in the process by the name of its library.
#pragma once

#include <cstddef>
#include <cstdint>

#include "interpose/device/memory.hpp"

namespace sluice::device_memory {

class DeviceRuntime {
 public:
  /// What is at the address; `ordinary` for what the runtime does not know.
  [[nodiscard]] virtual Class classify(std::uintptr_t address) const = 0;
  [[nodiscard]] virtual bool copy_from_device(void* to, std::uintptr_t from, std::size_t bytes) const = 0;
  [[nodiscard]] virtual bool copy_to_device(std::uintptr_t to, const void* from, std::size_t bytes) const = 0;

 protected:
  ~DeviceRuntime() = default;
};

/// The runtime of this library, which is loaded; never destroyed. nullptr: it is none, or lacks what it should have.
const DeviceRuntime* runtime_of_library(const char* path);
/// ... is one that cannot be asked what an address is.
bool cannot_be_asked(const char* path);

}  // namespace sluice::device_memory
