// What runs besides the application's threads: the guard with its threads, the helper thread, and the sweeper of blocks. In a job
// of one process there is none of them.
//
// Owns none of them. It begins them once all objects of the engine are there, and ends them before any of those goes. The thread
// that makes it is the one that the engine lock prefers.
#pragma once

#include "runtime/alias/alias_blocks.hpp"
#include "runtime/engine/memory_users.hpp"
#include "runtime/helper_thread.hpp"
#include "runtime/page_waits.hpp"
#include "runtime/progress.hpp"
#include "runtime/release/releases.hpp"

namespace sluice {

class Background {
 public:
  struct Parts {
    Progress& progress;
    AliasBlocks& blocks;
    Releases& releases;
    MemoryUsers& memory_users;
    PageWaits& page_waits;
    HelperThread& helper_thread;
  };
  explicit Background(const Parts& parts);
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  /// In a child of fork, which has none of the threads.
  void abandon();

 private:
  const Parts parts_;
};

}  // namespace sluice
