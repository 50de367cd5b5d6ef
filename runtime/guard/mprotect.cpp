#include "runtime/guard/mprotect.hpp"

#include <sys/mman.h>

#include "runtime/alias/arena.hpp"
#include "runtime/guard/signal.hpp"

namespace sluice {
namespace {

bool set_protection(ByteRange bytes, int protection) {
  return mprotect(reinterpret_cast<void*>(bytes.begin), bytes.size(), protection) == 0;
}

}  // namespace

/// The application may have unmapped the buffer meanwhile and something else may be there now, which is none of ours.
/// Another thread may unmap it between question and change; then the change fails half done, and the question is asked again.
bool set_protection_in_place(const AliasArena* arena, PageRange pages, int protection) {
  if (!arena) return set_protection(pages.bytes(), protection);
  for (ByteRange rest = pages.bytes(); !rest.empty();) {
    const ByteRange live = arena->first_in_place(rest);
    if (live.empty()) break;
    if (set_protection(live, protection)) {
      rest.begin = live.end;
    } else if (const ByteRange still = arena->first_in_place(live); still.begin == live.begin && still.end == live.end) {
      return false;  // and not because another thread has unmapped a part since the question
    }
  }
  return true;
}

bool MprotectMechanism::close(PageRange pages) { return set_protection(pages.bytes(), PROT_NONE); }

bool MprotectMechanism::open(PageRange pages, Access allowed) {
  return set_protection_in_place(arena_, pages, allowed == Access::write ? PROT_READ | PROT_WRITE : PROT_READ);
}

bool MprotectMechanism::hears_touches() const { return fault_signal::installed(); }

}  // namespace sluice
