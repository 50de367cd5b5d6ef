#include "runtime/guard/userfaultfd.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "runtime/base/fatal.hpp"

namespace sluice {
namespace {

/// The address space changes, or memory is short for the moment: so often it is tried again. Threads wait for the page, which
/// nobody else can give them.
constexpr unsigned max_refusals = 10'000;

}  // namespace

UserfaultMechanism::UserfaultMechanism(FaultDescriptor faults, AliasArena& arena, TouchAnswerer& answerer)
    : faults_(std::move(faults)), arena_(arena), answerer_(answerer), threads_(answerer, faults_) {
  arena_.watch(this);
}

/// The last reference to the descriptor ends every watch and wakes whoever still waits.
UserfaultMechanism::~UserfaultMechanism() { arena_.watch(nullptr); }

bool UserfaultMechanism::close(PageRange pages) {
  const ByteRange bytes = pages.bytes();
  if (!arena_.fill_holes(bytes) || !faults_.watch(bytes)) return false;
  // The bare call: the wrapper of madvise would empty the file's pages as well.
  return syscall(SYS_madvise, bytes.begin, bytes.size(), MADV_DONTNEED) == 0;
}

/// Never refused: a page that cannot be mapped now is one that nobody holds, and is mapped when it is touched.
bool UserfaultMechanism::open(PageRange pages, Access) {
  ByteRange rest = pages.bytes();
  bool plain = true;
  // A run may consist of several mappings (a block and its seam) and of none (what the application unmapped).
  for (bool one_mapping = map_watched(rest, plain); !one_mapping && !rest.empty();) {
    ByteRange mapping = arena_.first_mapping_in_place(rest);
    plain = plain && mapping.begin == rest.begin && !mapping.empty();
    if (mapping.empty()) break;
    rest.begin = mapping.end;
    plain = map_watched(mapping, plain) && plain;
  }
  if (!plain) faults_.wake(pages.bytes());
  return true;
}

/// Maps the pages of one watched mapping, advancing `bytes.begin`; false when it is none from there on.
bool UserfaultMechanism::map_watched(ByteRange& bytes, bool& plain) const {
  using Outcome = FaultDescriptor::Outcome;
  unsigned refusals = 0;
  while (!bytes.empty()) {
    const Outcome outcome = faults_.map(bytes);
    if (outcome == Outcome::not_watched) return false;
    if (outcome == Outcome::mapped) continue;
    if (outcome == Outcome::try_again || outcome == Outcome::failed) {
      if (++refusals == max_refusals) fatal("userfaultfd cannot open a page under guard: %s", strerrordesc_np(errno));
      sched_yield();
      continue;
    }
    plain = false;
    bytes.begin += page_bytes;
  }
  return true;
}

void UserfaultMechanism::abandon() {
  threads_.abandon();
  faults_.close();
}

void UserfaultMechanism::note_block(ByteRange block) {
  // Refused: then the release is refused as well.
  static_cast<void>(faults_.watch(block));
}

void UserfaultMechanism::note_dropped(PageRange pages) { answerer_.map_free(pages); }

}  // namespace sluice
