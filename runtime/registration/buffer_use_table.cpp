#include "runtime/registration/buffer_use_table.hpp"

#include <limits>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace sluice {

std::uint32_t* BufferUseTable::bucket(std::uintptr_t start) {
  if (!heads_.start()) {
    constexpr std::size_t bytes = buckets * sizeof(std::uint32_t);
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    heads_ = Mapping(memory, bytes);
  }
  return reinterpret_cast<std::uint32_t*>(heads_.start()) + XXH3_64bits(&start, sizeof start) % buckets;
}

BufferUseTable::Entry* BufferUseTable::use(std::uintptr_t start) {
  std::uint32_t* const head = bucket(start);
  if (!head) return nullptr;
  for (std::uint32_t at = *head; at != 0; at = entries_[at - 1].next) {
    Entry& entry = entries_[at - 1];
    if (entry.start != start) continue;
    if (entry.uses < std::numeric_limits<std::uint32_t>::max()) ++entry.uses;
    return &entry;
  }
  has_chains_ |= *head != 0;
  if (!grows() || entries_.size() == std::numeric_limits<std::uint32_t>::max()) return nullptr;
  entries_.push_back({.start = start, .uses = 1, .next = *head});
  *head = static_cast<std::uint32_t>(entries_.size());
  return &entries_.back();
}

void BufferUseTable::mark_frequent(Entry& entry) {
  if (!entry.frequent) ++frequent_;
  entry.frequent = true;
}

}  // namespace sluice
