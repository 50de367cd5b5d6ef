#include "runtime/alias/kept_memory.hpp"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <vector>

#include "runtime/alias/page_set.hpp"

namespace sluice::kept_memory {
namespace {

struct Books {
  std::array<PageSet, static_cast<std::size_t>(Keeper::count)> sets;
  std::vector<PageRange> in_use;
};

constinit std::atomic<pid_t> holder{0};  // of the lock; 0: free
constinit std::atomic<bool> anything{false};
constinit std::atomic<bool> everything{false};
constinit Books* books = nullptr;  // never destroyed: other threads may outlive the exit handlers

/// A child of fork whose parent's other thread held the lock finds it held for ever, and books that may be half written: it
/// begins anew. A parent's thread is given time, as the child may share its memory (vfork).
class Guard {
 public:
  Guard() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
    const pid_t own = getpid();
    constexpr int patience = 10'000;
    pid_t found = 0;
    for (int tries = 0; !holder.compare_exchange_weak(found, own, std::memory_order_acquire); found = 0) {
      if (found != 0 && found != own && ++tries > patience) {
        books = nullptr;
        holder.store(own, std::memory_order_relaxed);
        break;
      }
      sched_yield();
    }
  }
  ~Guard() {
    holder.store(0, std::memory_order_release);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  sigset_t before_;
};

Books& written() {
  anything.store(true, std::memory_order_relaxed);
  if (!books) books = new Books;
  return *books;
}

PageSet& set_of(Books& all, Keeper keeper) { return all.sets[static_cast<std::size_t>(keeper)]; }

bool is_in_use(const Books& all, PageRange pages) {
  return std::any_of(all.in_use.begin(), all.in_use.end(), [&](PageRange use) { return use.overlaps(pages); });
}

}  // namespace

void note(ByteRange bytes, Keeper keeper) {
  if (bytes.empty()) return;
  const Guard guard;
  set_of(written(), keeper).add(PageRange::covering(bytes));
}

void forget(ByteRange bytes, Keeper keeper) {
  if (!anything.load(std::memory_order_relaxed) || bytes.empty()) return;
  const Guard guard;
  if (books) set_of(*books, keeper).remove(PageRange::covering(bytes));
}

void forget_all(ByteRange bytes) {
  if (!anything.load(std::memory_order_relaxed) || bytes.empty()) return;
  const Guard guard;
  if (!books) return;
  for (PageSet& set : books->sets) set.remove(PageRange::covering(bytes));
}

void note_everything() {
  everything.store(true, std::memory_order_relaxed);
  anything.store(true, std::memory_order_relaxed);
}

void begin_use(ByteRange bytes) {
  const Guard guard;
  written().in_use.push_back(PageRange::covering(bytes));
}

void end_use(ByteRange bytes) {
  const Guard guard;
  if (!books) return;
  const PageRange pages = PageRange::covering(bytes);
  const auto same = [&](PageRange use) { return use.begin == pages.begin && use.end == pages.end; };
  const auto found = std::find_if(books->in_use.begin(), books->in_use.end(), same);
  if (found != books->in_use.end()) books->in_use.erase(found);
}

bool overlaps(ByteRange bytes) {
  if (!anything.load(std::memory_order_relaxed)) return false;
  if (everything.load(std::memory_order_relaxed)) return true;
  const PageRange pages = PageRange::covering(bytes);
  const Guard guard;
  if (!books) return false;
  for (const PageSet& set : books->sets) {
    if (&set != &set_of(*books, Keeper::huge) && set.overlaps(pages)) return true;
  }
  return is_in_use(*books, pages);
}

bool is_lent(ByteRange bytes) {
  if (!anything.load(std::memory_order_relaxed)) return false;
  const PageRange pages = PageRange::covering(bytes);
  const Guard guard;
  return books && (is_in_use(*books, pages) || set_of(*books, Keeper::lent).overlaps(pages) ||
                   set_of(*books, Keeper::driver).overlaps(pages));
}

bool is_advised_huge(ByteRange bytes) {
  if (!anything.load(std::memory_order_relaxed)) return false;
  const Guard guard;
  return books && set_of(*books, Keeper::huge).overlaps(PageRange::covering(bytes));
}

}  // namespace sluice::kept_memory
