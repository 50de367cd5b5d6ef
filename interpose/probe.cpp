// Probes, and the receives of what a matched probe took out of matching.
#include <span>

#include "interpose/errors.hpp"
#include "interpose/handles.hpp"
#include "interpose/messages.hpp"
#include "interpose/operation_arguments.hpp"

namespace sluice::calls {
namespace {

/// The communicator, when Sluice carries this probe.
Communicator* carried(int from, int tag, MPI_Comm comm) {
  Communicator* communicator = adopted(comm);
  return communicator && valid_source(*communicator, from) && valid_receive_tag(tag) ? communicator : nullptr;
}

int Probe(CallSite, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  const Communicator* communicator = carried(from, tag, comm);
  if (!communicator) {
    const HostCall host_call;
    return host().Probe(from, tag, comm, status);
  }
  Outcome found;
  engine().wait_probe(*communicator->context, Rank{from}, Tag{tag}, found);
  fill_status(status, found);
  return MPI_SUCCESS;
}

int Iprobe(CallSite, int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  const Communicator* communicator = carried(from, tag, comm);
  if (!communicator || !flag) return host().Iprobe(from, tag, comm, flag, status);
  Outcome found;
  *flag = engine().probe(*communicator->context, Rank{from}, Tag{tag}, found) ? 1 : 0;
  if (*flag) fill_status(status, found);
  return MPI_SUCCESS;
}

/// Hands a message that left matching to the application.
int hand_out(Message* found, const Outcome& outcome, Communicator& communicator, MPI_Message* message, MPI_Status* status) {
  *message = handle_for_message(found, communicator);
  fill_status(status, outcome);
  return MPI_SUCCESS;
}

int Mprobe(CallSite, int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  Communicator* communicator = carried(from, tag, comm);
  if (!communicator || !message) {
    const HostCall host_call;
    return host().Mprobe(from, tag, comm, message, status);
  }
  Outcome outcome;
  Message* found = engine().wait_matched_probe(*communicator->context, Rank{from}, Tag{tag}, outcome);
  return hand_out(found, outcome, *communicator, message, status);
}

int Improbe(CallSite, int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  Communicator* communicator = carried(from, tag, comm);
  if (!communicator || !flag || !message) return host().Improbe(from, tag, comm, flag, message, status);
  Outcome outcome;
  Message* found = engine().matched_probe(*communicator->context, Rank{from}, Tag{tag}, outcome);
  *flag = found ? 1 : 0;
  return found ? hand_out(found, outcome, *communicator, message, status) : MPI_SUCCESS;
}

/// The host judges the buffer with a receive from nobody: it cannot be given a message that is not its own.
int refuse(void* address, int count, MPI_Datatype type, const MatchedMessage& slot) {
  return host().Recv(address, count, type, MPI_PROC_NULL, 0, slot.communicator->handle, MPI_STATUS_IGNORE);
}

int Mrecv(CallSite site, void* address, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  MatchedMessage* slot = message ? find_message(*message) : nullptr;
  if (!slot) {
    const HostCall host_call;
    return host().Mrecv(address, count, type, message, status);
  }
  const BufferArgument buffer(address, count, type);
  if (!buffer.valid()) return refuse(address, count, type, *slot);
  buffer.settle(Access::write);
  const MatchedMessage taken = take_message(*slot);
  *message = predefined().message_null;
  const auto staged = stage_receive(buffer, site.function());
  const UserBuffer target = staged ? staged->buffer() : buffer.user_buffer();
  Request* request = engine().start_receive(taken.message, target, site, Engine::Caller::waits);
  engine().wait_all({&request, 1}, site);
  const Outcome outcome = engine().take(request);
  if (staged) staged->deliver(outcome);
  fill_status(status, outcome);
  return conclude(outcome, *taken.communicator, site.function());
}

int Imrecv(CallSite site, void* address, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  MatchedMessage* slot = message && request ? find_message(*message) : nullptr;
  if (!slot) {
    const HostCall host_call;
    return host_activity().started(host().Imrecv(address, count, type, message, request), request);
  }
  const BufferArgument buffer(address, count, type);
  if (!buffer.valid()) return refuse(address, count, type, *slot);
  buffer.settle(Access::write);
  const MatchedMessage taken = take_message(*slot);
  *message = predefined().message_null;
  auto staged = stage_receive(buffer, site.function());
  const UserBuffer target = staged ? staged->buffer() : buffer.user_buffer();
  Request* started = engine().start_receive(taken.message, target, site);
  *request = handle_for_receive(started, *taken.communicator, std::move(staged));
  return MPI_SUCCESS;
}

}  // namespace
}  // namespace sluice::calls

#include "exports.hpp"
EXPORT(Probe)
EXPORT(Iprobe)
EXPORT(Mprobe)
EXPORT(Improbe)
EXPORT(Mrecv)
EXPORT(Imrecv)
