#include "runtime/registration/buffer_use_table.hpp"

#include <limits>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace sluice {

BufferUseTable::Number* BufferUseTable::bucket(std::uintptr_t start) {
  if (!heads_.start()) {
    constexpr std::size_t bytes = buckets * sizeof(Number);
    void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    heads_ = Mapping(memory, bytes);
  }
  return reinterpret_cast<Number*>(heads_.start()) + XXH3_64bits(&start, sizeof start) % buckets;
}

BufferUseTable::Number BufferUseTable::use(std::uintptr_t start) {
  Number* const head = bucket(start);
  if (!head) return 0;
  for (Number at = *head; at != 0; at = entry(at).next) {
    Entry& found = entry(at);
    if (found.start != start) continue;
    if (found.uses < std::numeric_limits<std::uint32_t>::max()) ++found.uses;
    return at;
  }
  has_chains_ |= *head != 0;
  if (!grows() || entries_.size() == std::numeric_limits<Number>::max()) return 0;
  entries_.push_back({.start = start, .uses = 1, .next = *head, .watch = {}});
  return *head = static_cast<Number>(entries_.size());
}

void BufferUseTable::mark_frequent(Number number) {
  Entry& marked = entry(number);
  if (!marked.frequent) ++frequent_;
  marked.frequent = true;
}

void BufferUseTable::forget(Number number) {
  Entry& forgotten = entry(number);
  if (forgotten.frequent) --frequent_;
  forgotten.frequent = false;
  forgotten.uses = 0;
  forgotten.watch = {};
}

}  // namespace sluice
