#include "runtime/registration/registration_cache.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "runtime/base/clock.hpp"
#include "runtime/base/fatal.hpp"
#include "runtime/process/memory_lock.hpp"
#include "runtime/trace/resource_events.hpp"

namespace sluice {
namespace {

using trace::RegistrationEvent;

void note(RegistrationEvent what, ByteRange pages) {
  if (trace::on()) [[unlikely]]
    trace::registered(what, pages);
}

}  // namespace

RegistrationCache::~RegistrationCache() {
  while (evict_oldest() != 0) {
  }
}

RegisteredMemory RegistrationCache::acquire(ByteRange bytes, Backing backing) {
  const ByteRange pages = PageRange::covering(bytes).bytes();
  Entry* entry = find(pages);
  const bool first_user = entry == nullptr;
  if (entry) {
    ++statistics_.hits;
    note(RegistrationEvent::hit, pages);
    if (entry->users == 0) leave_idle(entry);
  } else {
    ++statistics_.misses;
    entry = make(pages, backing);
    if (!entry) {
      ++statistics_.refusals;
      note(RegistrationEvent::refused, pages);
      return {};
    }
  }
  ++entry->users;
  return {*this, entry, bytes, first_user};
}

void RegistrationCache::release(Entry* entry, bool first_user) {
  --entry->users;
  // Only its first user is known to have kept all of it mapped.
  if (entry->backing == Backing::application && first_user && entry->indexed) leave_index(entry);
  if (entry->users != 0) return;
  if (!entry->indexed) return deregister(entry);
  idle_.push_back(entry);
  idle_bytes_ += entry->registration.bytes.size();
  ++idle_entries_;
}

// --- the index --------------------------------------------------------------------------------------------------------

RegistrationCache::Entry* RegistrationCache::find(ByteRange pages) const {
  auto behind = index_.upper_bound(pages.begin);
  if (behind == index_.begin()) return nullptr;
  Entry* const entry = std::prev(behind)->second;
  return entry->registration.bytes.end >= pages.end ? entry : nullptr;
}

template <class Chosen>
std::size_t RegistrationCache::retire_overlapping(ByteRange pages, Chosen chosen) {
  std::size_t retired = 0;
  auto next = index_.lower_bound(pages.begin);
  while (next != index_.begin() && std::prev(next)->second->registration.bytes.end > pages.begin) --next;
  while (next != index_.end() && next->first < pages.end) {
    Entry* const entry = (next++)->second;
    if (!chosen(entry->registration.bytes)) continue;
    retire(entry);
    ++retired;
  }
  return retired;
}

void RegistrationCache::retire(Entry* entry) {
  leave_index(entry);
  if (entry->users != 0) return;
  leave_idle(entry);
  deregister(entry);
}

void RegistrationCache::leave_index(Entry* entry) {
  index_.erase(entry->registration.bytes.begin);
  entry->indexed = false;
}

void RegistrationCache::leave_idle(Entry* entry) {
  idle_.remove(entry);
  idle_bytes_ -= entry->registration.bytes.size();
  --idle_entries_;
}

// --- registering ------------------------------------------------------------------------------------------------------

RegistrationCache::Entry* RegistrationCache::make(ByteRange pages, Backing backing) {
  retire_overlapping(pages, [&](ByteRange old) { return old.begin >= pages.begin && old.end <= pages.end; });
  if (!make_room(pages.size())) return nullptr;
  auto entry = std::make_unique<Entry>();
  entry->backing = backing;
  const std::uint64_t started = trace::on() ? now_ns() : 0;
  if (!register_memory(pages, entry->registration)) return nullptr;
  if (started != 0) [[unlikely]]
    trace::registered(RegistrationEvent::made, pages, now_ns() - started);
  entry->registration.bytes = pages;
  index_.emplace(pages.begin, entry.get());
  if (backing == Backing::application) application_.push_back(entry.get());
  ++statistics_.entries;
  statistics_.bytes += pages.size();
  statistics_.peak_bytes = std::max(statistics_.peak_bytes, statistics_.bytes);
  return entry.release();
}

bool RegistrationCache::make_room(std::size_t bytes) {
  const std::size_t bytes_in_use = statistics_.bytes - idle_bytes_;
  const std::size_t entries_in_use = statistics_.entries - idle_entries_;
  // Known before anything is evicted in vain.
  if (bytes > limits_.bytes || bytes_in_use > limits_.bytes - bytes || entries_in_use >= limits_.entries) return false;
  while (statistics_.bytes > limits_.bytes - bytes || statistics_.entries >= limits_.entries) evict_oldest();
  return true;
}

bool RegistrationCache::register_memory(ByteRange pages, Registration& registration) {
  while (!rdma_.register_memory(pages, registration)) {
    const int error = errno;
    if (error == EFAULT) return false;  // part of it cannot be read or written: no other registration is to blame
    std::size_t freed = 0;
    while (freed < pages.size() && !idle_.empty()) freed += evict_oldest();
    if (freed == 0) {
      report_refusal(pages.size(), error);
      return false;
    }
    ++statistics_.retries;
    note(RegistrationEvent::retried, pages);
  }
  return true;
}

std::size_t RegistrationCache::evict_oldest() {
  Entry* const oldest = idle_.first();
  if (!oldest) return 0;
  const ByteRange pages = oldest->registration.bytes;
  retire(oldest);
  ++statistics_.evictions;
  note(RegistrationEvent::evicted, pages);
  return pages.size();
}

void RegistrationCache::deregister(Entry* entry) {
  const std::unique_ptr<Entry> owner(entry);
  if (entry->backing == Backing::application) application_.remove(entry);
  rdma_.deregister(entry->registration);
  --statistics_.entries;
  statistics_.bytes -= entry->registration.bytes.size();
}

void RegistrationCache::report_refusal(std::size_t bytes, int error) {
  if (refusal_reported_) return;
  refusal_reported_ = true;
  const MemoryLockAdvice advice;
  report("warning: registering %zu bytes with the adapter failed (%s) with %zu bytes registered; such messages are copied. %s",
         bytes, std::strerror(error), statistics_.bytes, advice.text());
}

// --- what happens to the memory ---------------------------------------------------------------------------------------

void RegistrationCache::note_freed(ByteRange alias) {
  statistics_.invalidations += retire_overlapping(alias, [](ByteRange old) {
    note(RegistrationEvent::invalidated, old);
    return true;
  });
}

bool RegistrationCache::pins(PageRange pages) const {
  for (const Entry* entry = application_.first(); entry; entry = application_.next(entry)) {
    if (entry->registration.bytes.overlaps(pages.bytes())) return true;
  }
  return false;
}

// --- one use ----------------------------------------------------------------------------------------------------------

RegisteredMemory& RegisteredMemory::operator=(RegisteredMemory&& other) noexcept {
  if (this == &other) return *this;
  reset();
  cache_ = other.cache_;
  entry_ = std::exchange(other.entry_, nullptr);
  bytes_ = other.bytes_;
  first_user_ = other.first_user_;
  return *this;
}

void RegisteredMemory::reset() {
  if (entry_) cache_->release(std::exchange(entry_, nullptr), first_user_);
}

}  // namespace sluice
