// Where the memory file of the alias blocks is mapped. Each 64 GB of it have a window, a place in the address space, and of a
// window those extents are mapped that hold blocks, or did (window_span.hpp). So an alias is a sum, and address space is used
// like memory.
//
// Owns the places and what is mapped there. It knows the file by its descriptor only, and nothing of blocks.
//
// Threading: as AliasArena; `alias` and `include` from any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "runtime/alias/page_set.hpp"
#include "runtime/base/types.hpp"
#include "runtime/process/process_maps.hpp"

namespace sluice {

class RegistrationWatcher;

class AliasWindows {
 public:
  /// User addresses of x86-64 with four page-table levels.
  static constexpr unsigned address_bits = 47;

  AliasWindows() = default;
  /// Gives the places back; nothing is mapped there any more.
  ~AliasWindows();
  AliasWindows(const AliasWindows&) = delete;
  AliasWindows& operator=(const AliasWindows&) = delete;

  /// `bytes` can have an alias: one window holds all of it.
  [[nodiscard]] static bool fit(ByteRange bytes);
  /// Maps what is not mapped yet of the window of `bytes`. False: errno says why.
  bool map(ByteRange bytes, int file);
  [[nodiscard]] bool any() const { return !mapped_.empty(); }
  /// Unmaps all windows. Nobody uses an alias; `watcher` is told of each, or nullptr.
  void unmap(RegistrationWatcher* watcher);
  /// In a child, which has none.
  void abandon();

  [[nodiscard]] std::byte* alias(std::uintptr_t address) const {
    return bases_[address >> window_bits].load(std::memory_order_acquire) + (address & (window_bytes - 1));
  }
  /// The mapping, which shows the file, is one of them.
  [[nodiscard]] bool include(const ProcessMapping& mapping) const;
  /// Visits the aliases of these bytes of the file, where they have a place.
  template <class Visit>
  void for_each_alias(ByteRange bytes, Visit&& visit) const {
    for (ByteRange part; !bytes.empty(); bytes.begin = part.end) {
      part = within_window(bytes);
      const bool has_place = bases_[part.begin >> window_bits].load(std::memory_order_relaxed) != nullptr;
      if (has_place) visit(ByteRange::of(alias(part.begin), part.size()));
    }
  }

 private:
  static constexpr unsigned window_bits = 36;
  static constexpr std::size_t window_bytes = std::size_t{1} << window_bits;
  static constexpr std::size_t windows = std::size_t{1} << (address_bits - window_bits);

  static ByteRange within_window(ByteRange bytes);

  PageSet mapped_;                                        // of the file, in whole extents; under the engine lock
  std::array<std::atomic<std::byte*>, windows> bases_{};  // written once each, release; read by alias, acquire
};

}  // namespace sluice
