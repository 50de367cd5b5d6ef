// Probes, and the receives of what a matched probe took out of matching.
#include <span>

#include "interpose/mpi/errors.hpp"
#include "interpose/mpi/handles.hpp"
#include "interpose/mpi/messages.hpp"
#include "interpose/mpi/operation_arguments.hpp"

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
    const HostCall call;
    return host().Probe(from, tag, comm, status);
  }
  Outcome found;
  engine().probes().wait_probe(*communicator->context, Rank{from}, Tag{tag}, found);
  fill_status(status, found);
  return MPI_SUCCESS;
}

int Iprobe(CallSite, int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  const Communicator* communicator = carried(from, tag, comm);
  if (!communicator || !flag) return host().Iprobe(from, tag, comm, flag, status);
  Outcome found;
  *flag = engine().probes().probe(*communicator->context, Rank{from}, Tag{tag}, found) ? 1 : 0;
  if (*flag) fill_status(status, found);
  return MPI_SUCCESS;
}

/// Hands a message that left matching to the application.
int hand_out(Unexpected* found, const Outcome& outcome, Communicator& communicator, MPI_Message* message, MPI_Status* status) {
  *message = handle_for_message(found, communicator);
  fill_status(status, outcome);
  return MPI_SUCCESS;
}

int Mprobe(CallSite, int from, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  Communicator* communicator = carried(from, tag, comm);
  if (!communicator || !message) {
    const HostCall call;
    return host().Mprobe(from, tag, comm, message, status);
  }
  Outcome outcome;
  Unexpected* found = engine().probes().wait_matched_probe(*communicator->context, Rank{from}, Tag{tag}, outcome);
  return hand_out(found, outcome, *communicator, message, status);
}

int Improbe(CallSite, int from, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  Communicator* communicator = carried(from, tag, comm);
  if (!communicator || !flag || !message) return host().Improbe(from, tag, comm, flag, message, status);
  Outcome outcome;
  Unexpected* found = engine().probes().matched_probe(*communicator->context, Rank{from}, Tag{tag}, outcome);
  *flag = found ? 1 : 0;
  return found ? hand_out(found, outcome, *communicator, message, status) : MPI_SUCCESS;
}

/// The host judges the buffer with a receive from nobody: it cannot be given a message that is not its own.
template <auto host_call, typename Count>
int refuse(void* address, Count count, MPI_Datatype type, const MatchedProbe& slot) {
  return (host().*host_call)(address, count, type, MPI_PROC_NULL, 0, slot.communicator->handle, MPI_STATUS_IGNORE);
}

template <auto host_call, auto host_receive, typename Count>
int matched(CallSite site, void* address, Count count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  MatchedProbe* slot = message ? find_message(*message) : nullptr;
  if (!slot) {
    const HostCall call;
    return (host().*host_call)(address, count, type, message, status);
  }
  const BufferArgument buffer(address, count, type);
  if (!buffer.valid()) return refuse<host_receive>(address, count, type, *slot);
  buffer.settle(Access::write);
  const MatchedProbe taken = take_message(*slot);
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

template <auto host_call, auto host_receive, typename Count>
int matched_nonblocking(CallSite site, void* address, Count count, MPI_Datatype type, MPI_Message* message,
                        MPI_Request* request) {
  MatchedProbe* slot = message && request ? find_message(*message) : nullptr;
  if (!slot) {
    const HostCall call;
    return host_activity().started((host().*host_call)(address, count, type, message, request), request);
  }
  const BufferArgument buffer(address, count, type);
  if (!buffer.valid()) return refuse<host_receive>(address, count, type, *slot);
  buffer.settle(Access::write);
  const MatchedProbe taken = take_message(*slot);
  *message = predefined().message_null;
  auto staged = stage_receive(buffer, site.function());
  const UserBuffer target = staged ? staged->buffer() : buffer.user_buffer();
  Request* started = engine().start_receive(taken.message, target, site);
  *request = handle_for_receive(started, *taken.communicator, std::move(staged));
  return MPI_SUCCESS;
}

constexpr auto Mrecv = matched<&HostTable::Mrecv, &HostTable::Recv, int>;
constexpr auto Mrecv_c = matched<&HostTable::Mrecv_c, &HostTable::Recv_c, MPI_Count>;
constexpr auto Imrecv = matched_nonblocking<&HostTable::Imrecv, &HostTable::Recv, int>;
constexpr auto Imrecv_c = matched_nonblocking<&HostTable::Imrecv_c, &HostTable::Recv_c, MPI_Count>;

}  // namespace
}  // namespace sluice::calls

#include "exports.hpp"
EXPORT(Probe)
EXPORT(Iprobe)
EXPORT(Mprobe)
EXPORT(Improbe)
EXPORT(Mrecv)
EXPORT(Mrecv_c)
EXPORT(Imrecv)
EXPORT(Imrecv_c)
