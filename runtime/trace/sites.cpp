#include "runtime/trace/sites.hpp"

#include <unwind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <span>
#include <string_view>

#include "runtime/trace/call_paths.hpp"
#include "runtime/trace/modules.hpp"
#include "runtime/trace/trace.hpp"

namespace sluice::trace {
namespace {

constexpr std::size_t table_size = 4096;
constexpr std::size_t max_probes = 32;
/// Layers above one another: Fortran 2008 on Fortran 77 on C.
constexpr int max_layers = 3;

struct Slot {
  std::atomic<std::uint64_t> key{0};
  /// Distance from the frame of the function that was called to the return address of its caller; 0: not known yet.
  std::atomic<std::uint32_t> deeper{0};
};
constexpr std::uint32_t no_layer = 1;
constinit std::array<Slot, table_size> table{};

/// The calls that a thread makes again and again, out of no layer.
struct RecentCall {
  std::uintptr_t return_address = 0;
  std::uint32_t number = 0;
  std::uint32_t generation = 0;
};
constexpr std::size_t recent_calls = 16;
[[gnu::tls_model("initial-exec")]] constinit thread_local std::array<RecentCall, recent_calls> recent{};
/// Of the sites that are known: there are others in another file.
constinit std::atomic<std::uint32_t> generation{0};

/// Written before the first record. The table is made once and stays: at exit other threads may still be in calls.
constinit std::atomic<std::size_t> path_depth{0};  // 0: no paths
constinit KnownPaths* known_paths = nullptr;

/// Return addresses, innermost first.
using Addresses = std::array<std::uintptr_t, max_frames>;

struct Stack {
  struct Level {
    std::uintptr_t address = 0;  // of an instruction
    std::uintptr_t frame = 0;    // this address is a return address, and lies below here
  };
  std::array<Level, max_own_frames + max_frames> levels{};
  std::size_t depth = 0;

  [[gnu::noinline]] void unwind() {
    const auto visit = [](_Unwind_Context* context, void* argument) {
      auto& stack = *static_cast<Stack*>(argument);
      if (stack.depth == stack.levels.size()) return _URC_END_OF_STACK;
      stack.levels[stack.depth++] = {_Unwind_GetIP(context), _Unwind_GetCFA(context)};
      return _URC_NO_REASON;
    };
    _Unwind_Backtrace(visit, this);
  }
  /// Drops what is above `address`.
  bool begin_at(std::uintptr_t address) {
    const auto same = [address](const Level& level) { return level.address == address; };
    Level* const end = levels.data() + depth;
    Level* const found = std::find_if(levels.data(), end, same);
    if (found == end) return false;
    depth = static_cast<std::size_t>(end - found);
    std::copy(found, end, levels.data());
    return true;
  }
  /// Of the first levels.
  std::span<const std::uintptr_t> addresses(Addresses& memory, std::size_t max_depth) const {
    const std::size_t count = std::min(depth, max_depth);
    std::transform(levels.begin(), levels.begin() + count, memory.begin(), [](const Level& level) { return level.address; });
    return std::span(memory).first(count);
  }
};

struct Found {
  Slot* slot = nullptr;  // nullptr: the table is full
  bool is_new = false;

  [[nodiscard]] std::uint32_t number() const { return slot ? static_cast<std::uint32_t>(slot - table.data()) + 1 : 0; }
};

/// `key` is not 0.
Found find(std::uint64_t key) {
  std::size_t at = XXH3_64bits(&key, sizeof key) % table_size;
  for (std::size_t probe = 0; probe < max_probes; ++probe, at = (at + 1) % table_size) {
    std::uint64_t there = table[at].key.load(std::memory_order_relaxed);
    if (there == 0 && table[at].key.compare_exchange_strong(there, key, std::memory_order_relaxed)) return {&table[at], true};
    if (there == key) return {&table[at], false};
  }
  return {};
}

void describe(std::uint32_t number, std::span<const std::uintptr_t> addresses, const char* function, bool first_is_exact) {
  SitePayload payload;
  std::strncpy(payload.function.data(), function, payload.function.size() - 1);
  payload.first_is_exact = first_is_exact ? 1 : 0;
  payload.frames = static_cast<std::uint32_t>(addresses.size());
  std::transform(addresses.begin(), addresses.end(), payload.frame.begin(), frame_of);
  const std::size_t bytes = offsetof(SitePayload, frame) + payload.frames * sizeof(Frame);
  add_entry(EntryType::site, number, {reinterpret_cast<const char*>(&payload), bytes});
}

/// Told apart by all of these addresses.
std::uint32_t site_of_path(std::span<const std::uintptr_t> addresses, const char* function, bool first_is_exact) {
  const Found found = find(XXH3_64bits(addresses.data(), addresses.size_bytes()) | 1);
  if (found.is_new) describe(found.number(), addresses, function, first_is_exact);
  return found.number();
}

std::uint32_t site_of_call_path(std::uintptr_t return_address, std::uintptr_t frame, const char* function) {
  if (const std::uint32_t known = known_paths->find(return_address, frame)) return known;
  CallPath path;
  if (!StackWalk::find(return_address, frame, path_depth.load(std::memory_order_relaxed), path))
    path = {.levels = {{{return_address, frame - sizeof return_address}}}, .depth = 1};
  Addresses addresses;
  const auto known = path.known();
  std::transform(known.begin(), known.end(), addresses.begin(), [](const CallPath::Level& level) { return level.address; });
  const std::uint32_t site = site_of_path(std::span(addresses).first(known.size()), function, false);
  if (site != 0) known_paths->add(frame, path, site);
  return site;
}

bool is_layer(std::uintptr_t address) {
  const std::string_view path = path_of_module(address);
  return path.substr(path.rfind('/') + 1).starts_with("libmpi_");
}

}  // namespace

std::uint32_t site_of_call(std::uintptr_t return_address, const void* frame, const char* function) {
  const auto base = reinterpret_cast<std::uintptr_t>(frame);
  if (path_depth.load(std::memory_order_relaxed) != 0) return site_of_call_path(return_address, base, function);
  RecentCall& again = recent[return_address / 4 % recent_calls];
  const std::uint32_t now = generation.load(std::memory_order_relaxed);
  if (again.return_address == return_address && again.generation == now) [[likely]]
    return again.number;
  std::uint64_t key = return_address;
  for (std::size_t layer = 0;; ++layer) {
    const Found found = find(key);
    if (!found.slot) return 0;
    if (found.is_new) {
      Stack stack;
      stack.unwind();
      if (!stack.begin_at(return_address)) stack = {.levels = {{{return_address, base}}}, .depth = 1};
      Addresses memory;
      describe(found.number(), stack.addresses(memory, max_frames), function, false);
      const bool thin = layer < max_layers && layer + 1 < stack.depth && is_layer(stack.levels[layer].address);
      const std::uintptr_t distance = thin ? stack.levels[layer + 1].frame - base : no_layer;
      if (distance <= ~std::uint32_t{0})
        found.slot->deeper.store(static_cast<std::uint32_t>(distance), std::memory_order_release);
    }
    const std::uint32_t deeper = found.slot->deeper.load(std::memory_order_acquire);
    if (deeper == no_layer && layer == 0) again = {return_address, found.number(), now};
    if (deeper <= no_layer) return found.number();
    std::uintptr_t caller = 0;
    std::memcpy(&caller, reinterpret_cast<const void*>(base + deeper - sizeof caller), sizeof caller);
    const std::array<std::uint64_t, 2> both{key, caller};
    key = XXH3_64bits(both.data(), sizeof both) | 1;
  }
}

std::uint32_t site_of_this_call() {
  const auto caller = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  Stack stack;
  stack.unwind();
  if (!stack.begin_at(caller)) return 0;
  Addresses memory;
  return site_of_path(stack.addresses(memory, max_frames), "", false);
}

std::uint32_t site_of_touch(std::uintptr_t instruction, bool on_stack) {
  const std::size_t max_depth = path_depth.load(std::memory_order_relaxed);
  const bool by_path = max_depth != 0 && on_stack;
  const Found found = by_path ? Found{} : find(instruction);
  if (!by_path && !found.is_new) return found.number();
  Stack stack;
  if (on_stack) stack.unwind();
  if (!stack.begin_at(instruction)) stack = {.levels = {{{instruction, 0}}}, .depth = 1};
  Addresses memory;
  if (by_path) return site_of_path(stack.addresses(memory, max_depth), "", true);
  describe(found.number(), stack.addresses(memory, max_frames), "", true);
  return found.number();
}

void forget_sites(std::size_t depth) {
  generation.fetch_add(1, std::memory_order_relaxed);
  for (Slot& slot : table) {
    slot.key.store(0, std::memory_order_relaxed);
    slot.deeper.store(0, std::memory_order_relaxed);
  }
  forget_modules();
  if (known_paths) known_paths->forget();
  if (depth != 0 && !known_paths) known_paths = new KnownPaths;
  path_depth.store(std::min(depth, max_frames), std::memory_order_relaxed);
}

}  // namespace sluice::trace
