// Lanes of several processes in the memory of one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "runtime/collective/teams.hpp"

namespace sluice {

class LaneBlock final : public LaneMemory {
 public:
  LaneBlock(std::size_t processes, std::uint32_t lanes) : lanes_(lanes), memory_(allocate(processes * lanes * lane_bytes)) {}

  [[nodiscard]] std::byte* lane(Peer owner, std::uint32_t lane) const override {
    return lane < lanes_ ? memory_.get() + (static_cast<std::size_t>(owner) * lanes_ + lane) * lane_bytes : nullptr;
  }

 private:
  struct Free {
    void operator()(std::byte* memory) const { ::operator delete[](memory, std::align_val_t{page_bytes}); }
  };
  using Memory = std::unique_ptr<std::byte[], Free>;

  static Memory allocate(std::size_t bytes) {
    Memory memory(static_cast<std::byte*>(::operator new[](bytes, std::align_val_t{page_bytes})));
    std::fill_n(memory.get(), bytes, std::byte{0});
    return memory;
  }

  std::uint32_t lanes_;
  Memory memory_;
};

/// The teams of one communicator, one for each member, whose rank is its peer.
class TeamsOfAll {
 public:
  TeamsOfAll(std::size_t members, std::uint32_t lanes = 4) : memory(members, lanes) {
    for (std::size_t member = 0; member < members; ++member) {
      teams.push_back(std::make_unique<Teams>(lanes));
      peers.push_back(Peer{static_cast<int>(member)});
    }
  }

  /// A new communicator.
  std::vector<Team*> make() {
    std::vector<LaneOffer> offers;
    for (const auto& own : teams) offers.push_back(own->offer());
    std::vector<Team*> made;
    for (std::size_t member = 0; member < teams.size(); ++member) {
      made.push_back(teams[member]->make(&memory, peers, Rank{static_cast<int>(member)}, offers));
    }
    return made;
  }

  LaneBlock memory;
  std::vector<std::unique_ptr<Teams>> teams;
  std::vector<Peer> peers;
};

}  // namespace sluice
