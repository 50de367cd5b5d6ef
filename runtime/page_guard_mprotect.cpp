#include "runtime/page_guard_mprotect.hpp"

#include <sys/mman.h>

#include "runtime/alias_arena.hpp"
#include "runtime/page_guard_signal.hpp"

namespace sluice {
namespace {

bool set_protection(ByteRange bytes, int protection) {
  return mprotect(reinterpret_cast<void*>(bytes.begin), bytes.size(), protection) == 0;
}

}  // namespace

bool MprotectMechanism::close(PageRange pages) { return set_protection(pages.bytes(), PROT_NONE); }

/// The application may have unmapped the buffer meanwhile and something else may be there now, which is none of ours.
/// Another thread may unmap it between question and change; then the change fails half done, and the question is asked again.
bool MprotectMechanism::open(PageRange pages) {
  constexpr int block_protection = PROT_READ | PROT_WRITE;
  if (!arena_) return set_protection(pages.bytes(), block_protection);
  for (ByteRange rest = pages.bytes(); !rest.empty();) {
    const ByteRange live = arena_->first_in_place(rest);
    if (live.empty()) break;
    if (set_protection(live, block_protection)) {
      rest.begin = live.end;
    } else if (const ByteRange still = arena_->first_in_place(live); still.begin == live.begin && still.end == live.end) {
      return false;  // and not because another thread has unmapped a part since the question
    }
  }
  return true;
}

bool MprotectMechanism::hears_touches() const { return fault_signal::installed(); }

}  // namespace sluice
