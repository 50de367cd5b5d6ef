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
bool MprotectMechanism::open(PageRange pages) {
  constexpr int block_protection = PROT_READ | PROT_WRITE;
  if (!arena_) return set_protection(pages.bytes(), block_protection);
  for (ByteRange rest = pages.bytes(); !rest.empty();) {
    const ByteRange live = arena_->first_in_place(rest);
    if (live.empty()) break;
    if (!set_protection(live, block_protection)) return false;
    rest.begin = live.end;
  }
  return true;
}

bool MprotectMechanism::hears_touches() const { return fault_signal::installed(); }

}  // namespace sluice
