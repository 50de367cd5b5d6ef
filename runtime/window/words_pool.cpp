#include "runtime/window/words_pool.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace sluice {

WordsChoice choose_words(std::span<const WordsOffer> offers) {
  const WordsOffer& first = offers.front();
  std::uint64_t free = ~std::uint64_t{0};
  bool all_have_room = true;
  for (const WordsOffer& offer : offers) {
    if (offer.pool != first.pool) return {};
    free &= offer.free;
    all_have_room = all_have_room && offer.name != 0;
  }
  if (first.pool == 0) {
    return all_have_room ? WordsChoice{WordsChoice::Kind::new_pool, 0, first.name} : WordsChoice{};
  }
  if (free == 0) return {};
  return {WordsChoice::Kind::slot, static_cast<std::size_t>(std::countr_zero(free)), first.pool};
}

WordsOffer WordsPools::offer(std::span<const WindowMember> members, std::uint32_t process) {
  const std::lock_guard lock(mutex_);
  const auto has_members = [&](const Pool& pool) {
    return std::equal(pool.members.begin(), pool.members.end(), members.begin(), members.end(),
                      [](Peer peer, const WindowMember& member) { return peer == member.peer; });
  };
  const auto found = std::find_if(pools_.begin(), pools_.end(), has_members);
  if (found != pools_.end()) return {.pool = found->name, .free = std::exchange(found->free, 0)};
  if (pools_.size() == max_pools) return {};
  return {.name = std::uint64_t{process} << 32 | ++names_};
}

WordsOffer WordsPools::add(std::uint64_t name, std::span<const WindowMember> members, std::size_t self,
                           std::vector<std::byte*> memories) {
  Pool pool{.name = name, .members = {}, .self = self, .memories = std::move(memories)};
  for (const WindowMember& member : members) pool.members.push_back(member.peer);
  const std::lock_guard lock(mutex_);
  pools_.push_back(std::move(pool));
  return {.pool = name, .free = ~std::uint64_t{0}};
}

std::vector<WindowControl> WordsPools::take(const WordsOffer& offer, std::size_t slot) {
  const std::lock_guard lock(mutex_);
  Pool& pool = named(offer.pool);
  pool.free |= offer.free & ~(std::uint64_t{1} << slot);
  std::vector<WindowControl> words;
  for (std::byte* const memory : pool.memories) words.emplace_back(memory + slot * slot_bytes(pool.members.size()));
  return words;
}

void WordsPools::withdraw(const WordsOffer& offer) {
  if (offer.pool == 0) return;
  const std::lock_guard lock(mutex_);
  named(offer.pool).free |= offer.free;
}

void WordsPools::give_back(std::uint64_t pool, std::size_t slot) {
  const std::lock_guard lock(mutex_);
  Pool& found = named(pool);
  const std::size_t bytes = slot_bytes(found.members.size());
  std::memset(found.memories[found.self] + slot * bytes, 0, bytes);
  found.free |= std::uint64_t{1} << slot;
}

WordsPools::Pool& WordsPools::named(std::uint64_t name) {
  return *std::find_if(pools_.begin(), pools_.end(), [&](const Pool& pool) { return pool.name == name; });
}

}  // namespace sluice
