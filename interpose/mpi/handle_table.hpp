// Hash table from opaque MPI handles (addresses) to Sluice's objects: open addressing, linear probing, power-of-two size.
//
// Readers take no lock. A writer holds `writing_`, publishes the value before the key, and never moves an entry; when the
// table is half full it publishes a copy of twice the size and keeps the old one for readers that still look at it (together
// they are as large as the current one). An erased entry keeps its place as a tombstone until the next growth.
//
// A look-up may run beside any insertion or erasure of another key. Looking a key up while it is erased is
// an error of the application (use of a handle that another thread frees).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace sluice {

template <typename Value>
class HandleTable {
 public:
  constexpr HandleTable() = default;

  [[nodiscard]] Value* find(const void* key) const {
    const Slots* slots = slots_.load(std::memory_order_acquire);
    if (!slots || !key) return nullptr;
    for (std::size_t i = slots->start(key);; i = slots->next(i)) {
      const void* found = slots->entries[i].key.load(std::memory_order_acquire);
      if (found == key) return slots->entries[i].value.load(std::memory_order_relaxed);
      if (!found) return nullptr;
    }
  }

  void insert(const void* key, Value* value) {
    const std::scoped_lock guard(writing_);
    Slots* slots = slots_.load(std::memory_order_relaxed);
    if (!slots || 2 * (used_ + 1) > slots->size) slots = grow(slots);
    put(*slots, key, value);
  }

  void erase(const void* key) {
    erase_if(key, [](const Value*) { return true; });
  }
  /// Unless another value has taken its place.
  void erase(const void* key, const Value* value) {
    erase_if(key, [value](const Value* found) { return found == value; });
  }

  void clear() {
    const std::scoped_lock guard(writing_);
    Slots* slots = slots_.load(std::memory_order_relaxed);
    if (!slots) return;
    for (std::size_t i = 0; i < slots->size; ++i) {
      if (slots->entries[i].key.load(std::memory_order_relaxed))
        slots->entries[i].key.store(tombstone(), std::memory_order_release);
    }
  }

 private:
  template <typename Condition>
  void erase_if(const void* key, Condition condition) {
    const std::scoped_lock guard(writing_);
    Slots* slots = slots_.load(std::memory_order_relaxed);
    if (!slots) return;
    for (std::size_t i = slots->start(key); slots->entries[i].key.load(std::memory_order_relaxed); i = slots->next(i)) {
      if (slots->entries[i].key.load(std::memory_order_relaxed) != key) continue;
      if (condition(slots->entries[i].value.load(std::memory_order_relaxed)))
        slots->entries[i].key.store(tombstone(), std::memory_order_release);
      return;
    }
  }

  struct Entry {
    std::atomic<const void*> key{nullptr};
    std::atomic<Value*> value{nullptr};
  };

  struct Slots {
    explicit Slots(unsigned log2_size)
        : shift(64 - log2_size), size(std::size_t{1} << log2_size), entries(std::make_unique<Entry[]>(size)) {}

    /// Fibonacci hashing: the upper bits of the product depend on all bits of the address.
    [[nodiscard]] std::size_t start(const void* key) const {
      return (reinterpret_cast<std::uintptr_t>(key) * 0x9E3779B97F4A7C15u) >> shift;
    }
    [[nodiscard]] std::size_t next(std::size_t i) const { return (i + 1) & (size - 1); }

    unsigned shift;
    std::size_t size;
    std::unique_ptr<Entry[]> entries;
    std::unique_ptr<Slots> previous;  // readers may still look at it
  };

  static const void* tombstone() { return &tombstone_object; }

  Slots* grow(Slots* old) {
    constexpr unsigned first_log2_size = 8;
    auto larger = std::make_unique<Slots>(old ? 64 - old->shift + 1 : first_log2_size);
    used_ = 0;
    for (std::size_t i = 0; old && i < old->size; ++i) {
      const void* key = old->entries[i].key.load(std::memory_order_relaxed);
      if (key && key != tombstone()) put(*larger, key, old->entries[i].value.load(std::memory_order_relaxed));
    }
    larger->previous.reset(old);
    slots_.store(larger.get(), std::memory_order_release);
    return larger.release();
  }

  void put(Slots& slots, const void* key, Value* value) {
    std::size_t i = slots.start(key);
    const void* found = nullptr;
    while ((found = slots.entries[i].key.load(std::memory_order_relaxed)) && found != key && found != tombstone())
      i = slots.next(i);
    slots.entries[i].value.store(value, std::memory_order_relaxed);
    slots.entries[i].key.store(key, std::memory_order_release);
    if (!found) ++used_;
  }

  inline static constexpr char tombstone_object = 0;

  std::atomic<Slots*> slots_{nullptr};
  std::mutex writing_;
  std::size_t used_ = 0;  // entries that are not empty, tombstones included; belongs to writing_
};

}  // namespace sluice
