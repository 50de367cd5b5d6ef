#include "runtime/release/early_return.hpp"

namespace sluice {

EarlyReturn::EarlyReturn(Engine::State& state)
    : engine(state),
      releases(state.job, state.blocks, state.causality, *this,
               {state.node_way.copies().busy(), state.put_receiver.announced(), state.all_requests.counts().operations},
               state.statistics),
      memory(state.causality),
      aside(state.job, *this, state.all_requests.aside_bytes(), state.statistics) {}

void EarlyReturn::look_at_sentinels(Request& receive) { engine.rdma_way.sentinels().look(receive); }

std::size_t EarlyReturn::missing_bytes(const Request& receive) const { return engine.node_way.delivery().missing_bytes(receive); }

bool EarlyReturn::can_read_from(const Request& receive) const { return engine.node_way.can_read_from(receive); }

void EarlyReturn::withdraw(Request& receive) { engine.put_receiver.withdraw(receive); }

void EarlyReturn::progress(Lock& lock) { engine.progress.round(lock); }

}  // namespace sluice
