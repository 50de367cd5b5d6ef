#include "interpose/mpi/distant_memory.hpp"

#include <sys/uio.h>

#include <array>

#include "interpose/session/session.hpp"

namespace sluice {
namespace {

/// Calls `move` with the next places, and where their bytes begin.
template <typename Move>
bool move_all(LayoutCursor& cursor, std::size_t bytes, Move move) {
  std::array<iovec, 64> places;
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t before = cursor.offset();
    const std::size_t count = cursor.gather(places, bytes - done);
    if (!move(std::span<const iovec>(places.data(), count), done)) return false;
    done += cursor.offset() - before;
  }
  return true;
}

}  // namespace

bool DistantMemory::read(std::byte* target, std::size_t bytes) {
  const Engine::Windows windows(engine());
  return move_all(reading_, bytes, [&](auto places, std::size_t at) { return windows.read(member_, places, target + at); });
}

bool DistantMemory::write(const std::byte* source, std::size_t bytes) {
  const Engine::Windows windows(engine());
  return move_all(writing_, bytes, [&](auto places, std::size_t at) { return windows.write(member_, places, source + at); });
}

}  // namespace sluice
