#include "interpose/device/memory.hpp"

#include <link.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <string>
#include <vector>

#include "interpose/device/runtimes.hpp"
#include "runtime/alias/kept_memory.hpp"
#include "runtime/base/fatal.hpp"

namespace sluice::device_memory {

namespace {

enum State : std::uint8_t { none, changed, looking, found };

}  // namespace

// Looked for at the first call.
extern "C" {
constinit std::atomic<std::uint8_t> sluice_device_search{State::changed};
}

namespace {

constexpr std::size_t max_runtimes = 4;
/// dlopen tells that it was called before it has loaded anything: so many calls look whether it has.
constexpr unsigned looks_after_change = 1000;

struct Search {
  std::mutex mutex;
  unsigned long long libraries_loaded = 0;  // in all, when they were looked through last
  unsigned looks = 0;
};
Search& search() {
  static auto* const made = new Search;
  return *made;
}
/// Written under the search's mutex, in order; read by any thread.
constinit std::array<std::atomic<const DeviceRuntime*>, max_runtimes> runtimes{};

unsigned long long count_loaded() {
  unsigned long long loaded = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        *static_cast<unsigned long long*>(result) = info->dlpi_adds;
        return 1;
      },
      &loaded);
  return loaded;
}

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> names;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        if (info->dlpi_name && *info->dlpi_name) static_cast<std::vector<std::string>*>(result)->emplace_back(info->dlpi_name);
        return 0;
      },
      &names);
  return names;
}

void add(const DeviceRuntime* runtime) {
  for (auto& slot : runtimes) {
    if (slot.load(std::memory_order_relaxed)) continue;
    return slot.store(runtime, std::memory_order_release);
  }
}

void look_through(const std::vector<std::string>& libraries) {
  static auto& known = *new std::vector<std::string>;
  for (const std::string& library : libraries) {
    if (std::find(known.begin(), known.end(), library) != known.end()) continue;
    if (const DeviceRuntime* runtime = runtime_of_library(library.c_str())) {
      known.push_back(library);
      add(runtime);
    } else if (cannot_be_asked(library.c_str())) {
      known.push_back(library);
      kept_memory::note_everything();
      report(
          "warning: %s is loaded, which cannot be asked what memory is its own: no memory becomes an alias block, and nothing is "
          "released early from now on",
          library.c_str());
    }
  }
}

void look() {
  Search& state = search();
  const std::scoped_lock guard(state.mutex);
  if (sluice_device_search.exchange(State::looking, std::memory_order_relaxed) == State::changed) state.looks = 0;
  const unsigned long long loaded = count_loaded();
  if (loaded != state.libraries_loaded) {
    state.libraries_loaded = loaded;
    look_through(loaded_libraries());
  }
  if (++state.looks < looks_after_change) return;
  std::uint8_t still = State::looking;
  sluice_device_search.compare_exchange_strong(still, runtimes[0].load() ? State::found : State::none, std::memory_order_relaxed);
}

const DeviceRuntime* owner_of(std::uintptr_t address, Class& found) {
  for (const auto& slot : runtimes) {
    const DeviceRuntime* const runtime = slot.load(std::memory_order_acquire);
    if (!runtime) break;
    found = runtime->classify(address);
    if (found != Class::ordinary) return runtime;
  }
  found = Class::ordinary;
  return nullptr;
}

/// Whole pages, as a driver pins them: of a neighbour's, too. Short ranges are looked at page by page, long ones here and there.
bool any_shared(ByteRange pages) {
  constexpr std::size_t max_looks = 16;
  const std::size_t step = std::max<std::size_t>(1, pages.size() / page_bytes / max_looks) * page_bytes;
  Class found{};
  for (std::uintptr_t at = pages.begin; at < pages.end; at += step) {
    if (owner_of(at, found)) return true;
  }
  return owner_of(pages.end - 1, found) != nullptr;
}

}  // namespace

bool is_there() {
  if (!possible()) return false;
  look();
  return runtimes[0].load(std::memory_order_acquire) != nullptr;
}

Class classify(ByteRange bytes) {
  if (sluice_device_search.load(std::memory_order_relaxed) != State::found) look();
  if (bytes.empty() || !runtimes[0].load(std::memory_order_acquire)) return Class::ordinary;
  Class first{};
  Class last{};
  owner_of(bytes.begin, first);
  owner_of(bytes.end - 1, last);
  if (first == Class::device || last == Class::device) return Class::device;
  const ByteRange pages = PageRange::covering(bytes).bytes();
  if (first == Class::ordinary && last == Class::ordinary && !any_shared(pages)) {
    kept_memory::forget(pages, kept_memory::Keeper::driver);
    return Class::ordinary;
  }
  kept_memory::note(pages, kept_memory::Keeper::driver);
  return Class::shared;
}

bool copy_from_device(void* to, std::uintptr_t from, std::size_t bytes) {
  Class found{};
  const DeviceRuntime* const runtime = owner_of(from, found);
  return runtime && runtime->copy_from_device(to, from, bytes);
}

bool copy_to_device(std::uintptr_t to, const void* from, std::size_t bytes) {
  Class found{};
  const DeviceRuntime* const runtime = owner_of(to, found);
  return runtime && runtime->copy_to_device(to, from, bytes);
}

}  // namespace sluice::device_memory
