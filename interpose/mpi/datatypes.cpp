// The table from handles to types.
//
// Every known type has an entry; a mutex protects the map of them. In front of it, readers look without a lock into an
// array of pointers to entries, two slots for each handle, and compare the handle that is stored in the entry.
//
// Entries are never returned to the allocator, only used again, so a reader may follow a pointer that is stale: the handle
// it finds there is not its own. When it is its own, the entry stays as it is during the reader's MPI call, because only
// MPI_Type_free of this type changes it. An entry is filled before its handle is set and loses its handle before it is
// emptied; a handle that the host gives to a new type was taken out here before the host freed the old one.
#include "interpose/mpi/datatypes.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "interpose/host/host.hpp"
#include "interpose/mpi/datatype_decoder.hpp"
#include "interpose/mpi/datatype_packing.hpp"

namespace sluice {
namespace {

struct Entry {
  std::atomic<MPI_Datatype> handle{nullptr};
  bool permanent = false;  // can't be freed, whatever a program tries
  FlatType flat;
};

struct Types {
  std::mutex mutex;  // protects everything below
  std::unordered_map<MPI_Datatype, Entry*> entries;
  std::vector<Entry*> unused;
  MPI_Comm examiner = nullptr;  // where the host is asked about types; nullptr: not open
};

/// Never destroyed: calls of MPI in destructors of the application come later than ours would.
Types& types() {
  static Types& instance = *new Types;
  return instance;
}

/// Those that the calling thread is in, one inside the other's callbacks.
constinit thread_local TypeFree* innermost_free = nullptr;

constexpr unsigned shortcut_bits = 12;
std::array<std::atomic<const Entry*>, 1U << shortcut_bits> shortcuts;

/// The first of the two neighbouring slots for a handle; the other has the last bit flipped.
std::size_t shortcut_of(MPI_Datatype type) {
  constexpr std::uint64_t golden_ratio = 0x9E3779B97F4A7C15;
  return static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(type) * golden_ratio >> (64 - shortcut_bits));
}

void set_shortcut(const Entry& entry, MPI_Datatype type) {
  const std::size_t first = shortcut_of(type);
  const bool first_is_taken = shortcuts[first].load(std::memory_order_relaxed) != nullptr;
  shortcuts[first_is_taken ? first ^ 1 : first].store(&entry, std::memory_order_release);
}

void clear_shortcuts(const Entry& entry, MPI_Datatype type) {
  const std::size_t first = shortcut_of(type);
  for (const std::size_t slot : {first, first ^ 1}) {
    if (shortcuts[slot].load(std::memory_order_relaxed) == &entry) shortcuts[slot].store(nullptr, std::memory_order_relaxed);
  }
}

/// What a send or a receive would say of the type.
bool host_accepts(MPI_Datatype type, MPI_Comm examiner) {
  return host().Send(nullptr, 0, type, MPI_PROC_NULL, 0, examiner) == MPI_SUCCESS;
}

FlatType flat_of(std::shared_ptr<const Layout> layout) {
  const bool simple = layout->is_contiguous() && layout->first_byte() == 0;
  const std::size_t size = layout->size();
  return {size, simple, std::move(layout)};
}

const Entry* remember(Types& all, MPI_Datatype type, std::shared_ptr<const Layout> layout) {
  Entry* entry = nullptr;
  if (all.unused.empty()) {
    entry = new Entry;
  } else {
    entry = all.unused.back();
    all.unused.pop_back();
  }
  entry->permanent = is_predefined(combiner_of(type));
  entry->flat = flat_of(std::move(layout));
  entry->handle.store(type, std::memory_order_release);
  all.entries.emplace(type, entry);
  return entry;
}

/// In a delete callback. How the type was made cannot be asked any more.
const FlatType* find_while_freed(TypeFree& freed, MPI_Datatype type) {
  if (freed.flat().layout) return &freed.flat();
  Types& all = types();
  const std::lock_guard lock(all.mutex);
  if (!all.examiner || !host_accepts(type, all.examiner)) return nullptr;
  std::shared_ptr<const Layout> layout = layout_by_packing(type, all.examiner);
  if (!layout) return nullptr;
  freed.flat() = flat_of(std::move(layout));
  return &freed.flat();
}

const FlatType* find_or_decode(MPI_Datatype type) {
  if (!type) return nullptr;
  if (TypeFree* const freed = TypeFree::find(type)) return find_while_freed(*freed, type);
  Types& all = types();
  const std::lock_guard lock(all.mutex);
  const Entry* entry = nullptr;
  const auto known = all.entries.find(type);
  if (known != all.entries.end()) {
    entry = known->second;
  } else {
    const bool is_null = type == predefined().datatype_null;
    if (is_null || !all.examiner || !host_accepts(type, all.examiner)) return nullptr;
    std::shared_ptr<const Layout> layout = TypeDecoder().decode(type);
    if (!layout) layout = layout_by_packing(type, all.examiner);
    if (!layout) return nullptr;
    entry = remember(all, type, std::move(layout));
  }
  set_shortcut(*entry, type);
  return &entry->flat;
}

}  // namespace

const FlatType* flat_type(MPI_Datatype type) {
  const auto known_at = [type](std::size_t slot) {
    const Entry* entry = shortcuts[slot].load(std::memory_order_acquire);
    return entry && entry->handle.load(std::memory_order_acquire) == type ? &entry->flat : nullptr;
  };
  const std::size_t first = shortcut_of(type);
  if (const FlatType* flat = known_at(first)) [[likely]]
    return flat;
  const FlatType* flat = known_at(first ^ 1);
  return flat ? flat : find_or_decode(type);
}

TypeFree* TypeFree::find(MPI_Datatype type) {
  TypeFree* freed = innermost_free;
  while (freed && freed->type_ != type) freed = freed->outer_;
  return freed;
}

TypeFree::TypeFree(MPI_Datatype type) : type_(type), outer_(innermost_free) {
  Types& all = types();
  const std::lock_guard lock(all.mutex);
  const auto known = all.entries.find(type);
  if (known != all.entries.end() && known->second->permanent) {
    type_ = nullptr;  // the host refuses
  } else if (known != all.entries.end()) {
    Entry* entry = known->second;
    all.entries.erase(known);
    clear_shortcuts(*entry, type);
    entry->handle.store(nullptr, std::memory_order_release);
    flat_ = std::exchange(entry->flat, {});
    all.unused.push_back(entry);
  }
  innermost_free = this;
}

TypeFree::~TypeFree() { innermost_free = outer_; }

void open_datatypes() {
  Types& all = types();
  const std::lock_guard lock(all.mutex);
  if (all.examiner) return;
  // Not a duplicate: that would call the copy functions of the program's attributes.
  MPI_Comm examiner = nullptr;
  if (host().Comm_split(predefined().comm_self, 0, 0, &examiner) != MPI_SUCCESS) return;
  host().Comm_set_errhandler(examiner, predefined().errors_return);
  all.examiner = examiner;
}

void close_datatypes() {
  Types& all = types();
  const std::lock_guard lock(all.mutex);
  if (all.examiner) host().Comm_free(&all.examiner);
  all.examiner = nullptr;
}

}  // namespace sluice
