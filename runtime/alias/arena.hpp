// Alias blocks: application memory backed by a memory file and mapped twice, at the application's address (which may be
// protected) and at an alias address (which never is). Design section 5; ER section 2.3.
//
// The file is as large as the address space and an application address *is* its offset in the file. So nothing is
// allocated, neighbouring blocks merge into one mapping, a buffer that spans several blocks has one contiguous alias, and
// a peer that maps the file finds a buffer by its address. Only pages that were migrated occupy memory. The file is mapped, here
// and by peers, where it is used (window_span.hpp). Here the place of an address is chosen for `window_bytes` at a time; a range
// that crosses a border between them is not eligible.
//
// A block is valid only while the application's address still maps its file page. Nothing tells the library when that
// ends (glibc unmaps internally), so `is_live` asks the kernel, for every operation, before anything is written through the
// alias.
//
// Threading: functions are called with the engine lock held unless marked [any thread].
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/alias/page_set.hpp"
#include "runtime/base/types.hpp"

namespace sluice {

class ForkedBlocks;

/// Why a range can't be (or is not yet) an alias block. Counted in the summary.
enum class Ineligible : std::uint8_t {
  none,            // it is a block
  no_memory_file,  // memfd_create, ftruncate or mapping was refused
  not_private,     // shared mapping, device, huge pages, or not writable
  stack,           // the stack of a thread
  locked,          // the process has locked memory
  moved,           // the file pages of this range are mapped elsewhere (mremap)
  registered,      // a device uses it at the application's address, or may
  window_border,
  child,          // a child of fork may show its file pages
  untouched,      // to be sent, and most of its pages do not exist
  map_budget,     // more mappings than the budget below vm.max_map_count allows (rule 13)
  address_limit,  // RLIMIT_AS is set
  out_of_memory,
  failed,  // a system call failed in the middle; the old contents are in place
  kept,    // the kernel, a driver or the program needs the pages or the mapping that are there (kept_memory, mapping_probe)
  huge,    // in huge pages, or will be (huge_pages)
};

const char* describe(Ineligible reason);

/// Told, with the engine lock held, what happens to the page tables of blocks.
class BlockWatcher {
 public:
  /// These addresses show the memory file from now on, by a mapping that is new.
  virtual void note_block(ByteRange block) = 0;
  /// These pages of blocks have lost their page-table entries; puts back what may be there.
  virtual void note_dropped(PageRange pages) = 0;

 protected:
  ~BlockWatcher() = default;
};

/// Who lets adapters use memory. Asked and told with the engine lock held.
class RegistrationWatcher {
 public:
  /// Pages of the memory file are about to be freed, seen at their alias: new ones will take their place.
  virtual void note_freed(ByteRange alias) = 0;
  /// An adapter may be writing to or reading from these pages at the application's address, which must keep showing them.
  [[nodiscard]] virtual bool pins(PageRange pages) const = 0;

 protected:
  ~RegistrationWatcher() = default;
};

class AliasArena {
 public:
  static constexpr std::size_t window_bytes = std::size_t{1} << 36;

  /// `map_budget`: how many mappings blocks and protections may add to the process together, where the program leaves them
  /// (mapping_budget.hpp).
  /// `refusal`: why there are to be no blocks; empty when there are.
  /// `keeps_huge_pages`: memory in huge pages does not become a block.
  explicit AliasArena(std::size_t map_budget, std::string refusal = {}, bool keeps_huge_pages = false);
  ~AliasArena();  // gives back; whoever is about to exit leaves the arena alone instead
  AliasArena(const AliasArena&) = delete;
  AliasArena& operator=(const AliasArena&) = delete;

  /// False when the machine refuses memory files; `refusal` says which call and why.
  [[nodiscard]] bool usable() const;
  [[nodiscard]] const std::string& refusal() const;
  /// The memory file, for peers on the node.
  [[nodiscard]] int descriptor() const;

  /// Every page of `bytes` is a block, and the application's address still maps it (asks the kernel, < 1 µs).
  /// Ranges found dead are forgotten and their file pages freed. What the kernel said of the same mapping after an operation had
  /// begun it is not asked again for that one.
  bool is_live(ByteRange bytes, OperationTime time = {});

  /// What a block is made for: a message that fills it, whatever comes, or messages that leave from it.
  enum class Purpose : std::uint8_t { filled, posted, sent };
  /// Makes every page of `bytes` a block, in place: contents kept, other threads see the old or the new mapping. Segment by
  /// segment: where one cannot be had, those before it are blocks. Pages that hold nothing stay holes, unless they are to be
  /// filled. What is sent is left alone if most of it holds nothing.
  Ineligible migrate(ByteRange bytes, Purpose purpose = Purpose::posted);

  /// Alias of an application address inside a block. [any thread]
  [[nodiscard]] std::byte* alias(std::uintptr_t application_address) const;

  /// The first part of `bytes` whose addresses show their own file pages now, whether it is in the books or not; empty when
  /// there is none. Asks the kernel, 0.33 µs for each mapping. [any thread, fault handler]
  [[nodiscard]] ByteRange first_in_place(ByteRange bytes) const;

  /// As above, but not beyond the kernel's mapping that shows the first of them.
  [[nodiscard]] ByteRange first_mapping_in_place(ByteRange bytes) const;

  /// Some page of `bytes` is a block, and shows its file page. Asks the kernel only where the books have one.
  [[nodiscard]] bool holds_some_of(ByteRange bytes) const;

  /// The address, if it lies in a range that is just being migrated, waits until that is done and returns true.
  /// [any thread, fault handler]
  static bool wait_if_migrating(std::uintptr_t address);

  /// These bytes, all in live blocks, are about to come under guard. Blocks to which that happens often get large pages, which
  /// are cheaper to protect.
  void note_release(ByteRange bytes);

  /// The pages that lie wholly inside `bytes` and are blocks read as zeros from now on: MADV_DONTNEED as it is for private
  /// memory.
  void discard(ByteRange bytes);

  /// Every page of `bytes` exists in the file afterwards, as it must before it comes under a guard that waits for minor faults.
  /// False when there is no memory for it.
  bool fill_holes(ByteRange bytes);

  /// A message is (no longer) read from these bytes of the file: its pages are read-only and still blocks, and what they hold is
  /// kept even if no mapping shows it any more. Calls with true and false come in pairs.
  void note_send(ByteRange bytes, bool pending);

  /// One watcher at a time; nullptr for none.
  void watch(BlockWatcher* watcher);

  /// One at a time; nullptr for none.
  void watch_registrations(RegistrationWatcher* watcher);

  /// Blocks in `bytes` become private memory again, contents kept: before a call that could not be undone on a block, such as
  /// an mremap that grows it. Nothing may be under guard there and no message on its way. False when the kernel refused.
  bool privatize(ByteRange bytes);

  /// Frees the file pages of memory that the program has freed, unseen. How many bytes there are left to look for.
  std::size_t look();
  /// The program goes on without the engine: nobody needs the alias any more.
  void retire();
  /// Copies every block back to private memory. No message is on its way any more; threads that write meanwhile need a guard.
  void give_back();

  /// Makes all blocks private and unmaps all aliases, as address space has become scarce. Nothing may be under guard and no
  /// message on its way. False when a block had to stay.
  bool leave_address_space();

  /// Around a fork, and afterwards (forked_blocks.hpp).
  [[nodiscard]] ForkedBlocks& forks();

  /// So many more mappings stay within the budget (rule 13). [any thread]
  [[nodiscard]] bool has_budget(std::size_t more_mappings) const;

  struct Statistics {
    std::size_t migrations = 0;
    std::size_t bytes_migrated = 0;
    std::size_t live_blocks = 0;
    std::size_t dead_blocks = 0;   // found unmapped
    std::size_t questions = 0;     // whether blocks live, asked of the kernel
    std::size_t moved_blocks = 0;  // file pages found mapped elsewhere in the last sweep
  };
  [[nodiscard]] Statistics statistics() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sluice
