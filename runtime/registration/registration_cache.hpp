// The registration cache: which memory the adapter may use, kept registered beyond the transfer that it was registered for.
// Design section 8; FB section 3.1: lazy deregistration, a reference count for each registration, a balanced tree.
//
// What may be kept. A registration pins physical pages; it is right as long as these are the pages that the address shows.
//
//   backing      the pages are         right until                                              so it is
//   alias        the memory file's     the file frees them (`note_freed`, from AliasArena)       kept
//   application  unknown               the transfer ends: MPI forbids the application to         dropped with its first user
//                                      unmap a buffer in use. After that, nobody tells.
//
// Nothing on Linux proves cheaply that private memory still shows the pages that were pinned: glibc unmaps and drops pages inside
// `free`, unseen, and what is mapped there next looks the same (docs/registration.md has what was considered). Whether the
// application's address still shows the file is AliasArena::is_live's answer, which callers ask for before they name an alias.
//
// States of a registration, and what ends each:
//
//     (miss) ──> in use ──last user──> idle ──hit──> in use
//                  │                    │
//                  │ note_freed,        │ evicted (limit, or refusal of another), note_freed,
//                  │ first user of      │ contained in a newer one
//                  │ private memory,    └─────────────────────────────> deregistered
//                  │ contained in a newer one
//                  └──> retired ──last user──> deregistered
//
// Only what is in use (and not retired) or idle is in the index, for hits. There, none contains another: a newer one that does
// takes its place. So the index, ordered by begin, is ordered by end as well, and the one with the largest begin that is not
// behind a range's is the only one that can contain it.
//
// Limits hold for all that is registered, retired ones included. What is in use is never evicted; when nothing else is left,
// `acquire` refuses, and the message must go another way.
//
// Threading: every function, and the end of a RegisteredMemory, with the engine lock held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "runtime/alias/arena.hpp"
#include "runtime/base/intrusive_list.hpp"
#include "runtime/base/types.hpp"
#include "runtime/transport/rdma.hpp"

namespace sluice {

enum class Backing : std::uint8_t {
  alias,        // an alias of live blocks
  application,  // the application's own address
};

class RegisteredMemory;

class RegistrationCache final : public RegistrationWatcher {
 public:
  struct Limits {
    std::size_t bytes;
    std::size_t entries;
  };

  RegistrationCache(Rdma& rdma, Limits limits) : rdma_(rdma), limits_(limits) {}
  /// Nothing may be in use.
  ~RegistrationCache();
  RegistrationCache(const RegistrationCache&) = delete;
  RegistrationCache& operator=(const RegistrationCache&) = delete;

  /// `bytes` (not empty), registered for as long as the result lives; nothing when that cannot be had: the limits are reached by
  /// what is in use, or the kernel refuses. The first refusal for lack of memory is reported, with what can be done about it.
  RegisteredMemory acquire(ByteRange bytes, Backing backing);

  /// See RegistrationWatcher.
  void note_freed(ByteRange alias) override;
  [[nodiscard]] bool pins(PageRange pages) const override;

  struct Statistics {
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;
    std::uint64_t evictions = 0;
    std::uint64_t retries = 0;        // registrations that were tried again after an eviction
    std::uint64_t refusals = 0;       // acquired nothing
    std::uint64_t invalidations = 0;  // registrations whose pages the memory file freed
    std::size_t entries = 0;          // now
    std::size_t bytes = 0;            // now
    std::size_t peak_bytes = 0;       // at any time
  };
  [[nodiscard]] const Statistics& statistics() const { return statistics_; }

 private:
  friend class RegisteredMemory;

  struct Entry {
    Registration registration;
    Backing backing;
    std::size_t users = 0;
    bool indexed = true;
    ListLink<Entry> idle_link;
    ListLink<Entry> application_link;
  };
  using Index = std::map<std::uintptr_t, Entry*>;

  [[nodiscard]] Entry* find(ByteRange pages) const;
  Entry* make(ByteRange pages, Backing backing);
  bool make_room(std::size_t bytes);
  bool register_memory(ByteRange pages, Registration& registration);
  std::size_t evict_oldest();  // how many bytes; 0 when nothing is idle
  /// Of those that overlap `pages`, the chosen ones: how many.
  template <class Chosen>
  std::size_t retire_overlapping(ByteRange pages, Chosen chosen);
  /// No hits any more; gone at once if it is idle.
  void retire(Entry* entry);
  void leave_index(Entry* entry);
  void leave_idle(Entry* entry);
  void deregister(Entry* entry);
  void release(Entry* entry, bool first_user);
  void report_refusal(std::size_t bytes, int error);

  Rdma& rdma_;
  const Limits limits_;
  Index index_;                                   // by begin
  IntrusiveList<Entry, &Entry::idle_link> idle_;  // least recently used first
  std::size_t idle_bytes_ = 0;
  std::size_t idle_entries_ = 0;
  IntrusiveList<Entry, &Entry::application_link> application_;  // of that backing, all that are registered
  Statistics statistics_;
  bool refusal_reported_ = false;
};

/// One use of a registration: while it lives, the adapter may use these bytes.
class RegisteredMemory {
 public:
  RegisteredMemory() = default;
  RegisteredMemory(RegisteredMemory&& other) noexcept { *this = std::move(other); }
  RegisteredMemory& operator=(RegisteredMemory&& other) noexcept;
  ~RegisteredMemory() { reset(); }

  explicit operator bool() const { return entry_ != nullptr; }
  void reset();

  /// As they were asked for: what transfers of this process name.
  [[nodiscard]] ByteRange bytes() const { return bytes_; }
  [[nodiscard]] std::uint32_t local_key() const { return entry_->registration.local_key; }
  /// What a peer names.
  [[nodiscard]] RemoteMemory remote() const { return {bytes_.begin, entry_->registration.remote_key}; }

 private:
  friend class RegistrationCache;
  RegisteredMemory(RegistrationCache& cache, RegistrationCache::Entry* entry, ByteRange bytes, bool first)
      : cache_(&cache), entry_(entry), bytes_(bytes), first_user_(first) {}

  RegistrationCache* cache_ = nullptr;
  RegistrationCache::Entry* entry_ = nullptr;
  ByteRange bytes_;
  bool first_user_ = false;
};

}  // namespace sluice
