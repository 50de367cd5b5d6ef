#include "interpose/mpi/persistent_collective.hpp"

#include <utility>

namespace sluice {
namespace {

void settle(const std::vector<UserBuffer>& buffers, Access access) {
  for (const UserBuffer& buffer : buffers) engine().memory().settle(buffer.span(), access);
}

}  // namespace

PersistentCollective::PersistentCollective(PreparedCollective prepared, std::uint32_t number) : prepared_(std::move(prepared)) {
  prepared_.order.persistent = PersistentStart{.number = number};
}

PersistentCollective::~PersistentCollective() { engine().collectives().unmake_persistent(*prepared_.communicator.context); }

int PersistentCollective::start(Handle& handle, CallSite site) {
  CollectiveOrder& order = prepared_.order;
  if (Engine::Memory::anything_released()) {
    for (const PreparedCollective::CopiedAside& what : prepared_.copied_aside)
      engine().memory().settle(what.from.span(), Access::read);
    settle(order.buffers.operand, Access::read);
    settle(order.buffers.result, Access::write);
  }
  for (const PreparedCollective::CopiedAside& what : prepared_.copied_aside) what.copy(site.function());
  handle.active = engine().collectives().start(*prepared_.communicator.context, order.again(), site);
  handle.staged = std::move(prepared_.staged);
  ++order.persistent->starts;
  set_started(handle);
  return MPI_SUCCESS;
}

void PersistentCollective::take_back(std::unique_ptr<StagedReceive> delivered) {
  delivered->again();
  prepared_.staged = std::move(delivered);
}

bool make_persistent(PreparedCollective prepared, MPI_Request* request) {
  Communicator& communicator = prepared.communicator;
  const auto number = engine().collectives().make_persistent(*communicator.context);
  if (!number) return false;
  *request = handle_for_persistent(std::make_unique<PersistentCollective>(std::move(prepared), *number), false, communicator);
  return true;
}

}  // namespace sluice
