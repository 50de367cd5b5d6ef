#include "interpose/device/runtimes.hpp"

#include <dlfcn.h>

#include <cstring>
#include <string_view>

namespace sluice::device_memory {
namespace {

/// A function of a library that is loaded already.
template <typename Function>
bool find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

template <typename Function>
void find_either(void* library, const char* name, const char* older, Function*& function) {
  if (!find(library, name, function)) find(library, older, function);
}

/// CUDA's driver interface, by which both its libraries and its runtime go. Numbers are those of cuda.h.
class Cuda final : public DeviceRuntime {
 public:
  explicit Cuda(void* library) {
    find(library, "cuPointerGetAttribute", attribute_);
    find(library, "cuPointerGetAttributes", attributes_);
    find_either(library, "cuMemcpyDtoH_v2", "cuMemcpyDtoH", from_device_);
    find_either(library, "cuMemcpyHtoD_v2", "cuMemcpyHtoD", to_device_);
    find(library, "cuStreamSynchronize", synchronize_);
    find_either(library, "cuCtxPushCurrent_v2", "cuCtxPushCurrent", push_context_);
    find_either(library, "cuCtxPopCurrent_v2", "cuCtxPopCurrent", pop_context_);
  }

  [[nodiscard]] bool usable() const { return (attribute_ || attributes_) && from_device_ && to_device_; }

  [[nodiscard]] Class classify(std::uintptr_t address) const override {
    unsigned type = 0;
    if (!ask(memory_type, &type, address) || type == 0) return Class::ordinary;
    int managed = 0;
    const bool reached = type == host_memory || type == unified_memory || (ask(is_managed, &managed, address) && managed != 0);
    return reached ? Class::shared : Class::device;
  }

  [[nodiscard]] bool copy_from_device(void* to, std::uintptr_t from, std::size_t bytes) const override {
    return in_context_of(from, [&] { return from_device_(to, from, bytes) == success; });
  }

  /// The runtime may return when it has read what is copied. The program's own streams must find it in place.
  [[nodiscard]] bool copy_to_device(std::uintptr_t to, const void* from, std::size_t bytes) const override {
    return in_context_of(
        to, [&] { return to_device_(to, from, bytes) == success && (!synchronize_ || synchronize_(nullptr) == success); });
  }

 private:
  using Result = int;
  static constexpr Result success = 0;
  static constexpr int context_of_pointer = 1;
  static constexpr int memory_type = 2;
  static constexpr int is_managed = 8;
  static constexpr unsigned host_memory = 1;
  static constexpr unsigned unified_memory = 4;

  bool ask(int question, void* answer, std::uintptr_t address) const {
    if (attribute_) return attribute_(answer, question, address) == success;
    return attributes_(1, &question, &answer, address) == success;
  }

  /// A thread that has used no device yet has no context.
  template <typename Copy>
  bool in_context_of(std::uintptr_t address, Copy copy) const {
    if (copy()) return true;
    void* context = nullptr;
    if (!push_context_ || !pop_context_ || !ask(context_of_pointer, &context, address) || !context) return false;
    if (push_context_(context) != success) return false;
    const bool copied = copy();
    pop_context_(&context);
    return copied;
  }

  Result (*attribute_)(void*, int, std::uintptr_t) = nullptr;
  Result (*attributes_)(unsigned, int*, void**, std::uintptr_t) = nullptr;
  Result (*from_device_)(void*, std::uintptr_t, std::size_t) = nullptr;
  Result (*to_device_)(std::uintptr_t, const void*, std::size_t) = nullptr;
  Result (*synchronize_)(void*) = nullptr;
  Result (*push_context_)(void*) = nullptr;
  Result (*pop_context_)(void**) = nullptr;
};

/// ROCm's lower layer, on which HIP is built. Numbers are those of hsa.h and hsa_ext_amd.h.
class Hsa final : public DeviceRuntime {
 public:
  explicit Hsa(void* library) {
    find(library, "hsa_amd_pointer_info", info_);
    find(library, "hsa_agent_get_info", agent_info_);
    find(library, "hsa_memory_copy", copy_);
  }

  [[nodiscard]] bool usable() const { return info_ && agent_info_ && copy_; }

  [[nodiscard]] Class classify(std::uintptr_t address) const override {
    PointerInfo info{};
    info.size = sizeof info;
    if (info_(reinterpret_cast<const void*>(address), &info, nullptr, nullptr, nullptr) != success || info.type == unknown)
      return Class::ordinary;
    if (info.type == locked) return Class::shared;
    std::uint32_t device = 0;
    const bool is_cpu = agent_info_(info.owner, agent_device, &device) == success && device == cpu;
    return is_cpu ? Class::shared : Class::device;
  }

  [[nodiscard]] bool copy_from_device(void* to, std::uintptr_t from, std::size_t bytes) const override {
    return copy_(to, reinterpret_cast<const void*>(from), bytes) == success;
  }
  [[nodiscard]] bool copy_to_device(std::uintptr_t to, const void* from, std::size_t bytes) const override {
    return copy_(reinterpret_cast<void*>(to), from, bytes) == success;
  }

 private:
  static constexpr int success = 0;
  static constexpr std::uint32_t unknown = 0;
  static constexpr std::uint32_t locked = 2;
  static constexpr int agent_device = 17;
  static constexpr std::uint32_t cpu = 0;
  /// hsa_amd_pointer_info_t, with room for members of later versions.
  struct PointerInfo {
    std::uint32_t size;
    std::uint32_t type;
    void* agent_address;
    void* host_address;
    std::size_t bytes;
    void* user_data;
    std::uint64_t owner;
    std::uint32_t flags;
    std::uint32_t reserved[13];
  };

  int (*info_)(const void*, PointerInfo*, void* (*)(std::size_t), std::uint32_t*, std::uint64_t**) = nullptr;
  int (*agent_info_)(std::uint64_t, int, void*) = nullptr;
  int (*copy_)(void*, const void*, std::size_t) = nullptr;
};

template <typename Runtime>
const DeviceRuntime* usable(void* library) {
  const auto* made = new Runtime(library);
  if (made->usable()) return made;
  delete made;
  return nullptr;
}

std::string_view file_of(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  return slash ? slash + 1 : path;
}

}  // namespace

const DeviceRuntime* runtime_of_library(const char* path) {
  const std::string_view file = file_of(path);
  const bool cuda = file.starts_with("libcuda.so");
  if (!cuda && !file.starts_with("libhsa-runtime64.so")) return nullptr;
  void* const library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (!library) return nullptr;
  return cuda ? usable<Cuda>(library) : usable<Hsa>(library);
}

/// Level Zero answers only to who knows the program's context.
bool cannot_be_asked(const char* path) { return file_of(path).starts_with("libze_loader.so"); }

}  // namespace sluice::device_memory
