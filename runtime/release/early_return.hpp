// What the engine has of this room, in one object, and what the room's classes ask of the engine. For as long as there is an
// `Engine::State`, of which it is a part.
//
// Belongs to the engine lock.
#pragma once

#include "runtime/engine/state.hpp"
#include "runtime/release/released_memory.hpp"
#include "runtime/release/releases.hpp"
#include "runtime/release/sends_aside.hpp"

namespace sluice {

struct EarlyReturn final : Releases::Ways, SendsAside::Host {
  explicit EarlyReturn(Engine::State& state);

  void look_at_sentinels(Request& receive) override;
  [[nodiscard]] std::size_t missing_bytes(const Request& receive) const override;
  [[nodiscard]] bool can_read_from(const Request& receive) const override;
  void withdraw(Request& receive) override;
  void progress(Lock& lock) override;

  Engine::State& engine;
  Releases releases;
  ReleasedMemory memory;
  SendsAside aside;
};

}  // namespace sluice
