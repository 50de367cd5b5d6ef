// Blocking and nonblocking receives, with both kinds of counts.
#include "interpose/device/buffers.hpp"
#include "interpose/mpi/errors.hpp"
#include "interpose/mpi/handles.hpp"
#include "interpose/mpi/operation_arguments.hpp"

namespace sluice::calls {
namespace {

Outcome receive_on_device(const ReceiveArguments& receive, CallSite site) {
  StagedReceive staged(receive.buffer().user_buffer(), site.function());
  const Outcome outcome = engine().receive(*receive.communicator().context, receive.from(), receive.tag(), staged.buffer(), site);
  staged.deliver(outcome);
  return outcome;
}

Outcome receive_now(const ReceiveArguments& receive, CallSite site) {
  Context& context = *receive.communicator().context;
  const BufferArgument& buffer = receive.buffer();
  if (is_on_device(buffer)) [[unlikely]]
    return receive_on_device(receive, site);
  return buffer.simple() ? engine().receive(context, receive.from(), receive.tag(), buffer.address(), buffer.bytes(), site)
                         : engine().receive(context, receive.from(), receive.tag(), buffer.user_buffer(), site);
}

template <auto host_call, typename Count>
int blocking(CallSite site, void* address, Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  const ReceiveArguments receive(address, count, type, from, tag, comm);
  if (!receive.carried()) [[unlikely]] {
    const HostCall call;
    return (host().*host_call)(address, count, type, from, tag, comm, status);
  }
  receive.buffer().settle(Access::write);
  Communicator& communicator = receive.communicator();
  const Outcome outcome = receive_now(receive, site);
  fill_status(status, outcome);
  return conclude(outcome, communicator, site.function());
}

template <auto host_call, typename Count>
int nonblocking(CallSite site, void* address, Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                MPI_Request* request) {
  const ReceiveArguments receive(address, count, type, from, tag, comm);
  if (!request || !receive.carried()) [[unlikely]] {
    if (request && receive.from_no_process()) {
      *request = handle_for_no_process(true);
      return MPI_SUCCESS;
    }
    const HostCall call;
    return host_activity().started((host().*host_call)(address, count, type, from, tag, comm, request), request);
  }
  receive.buffer().settle(Access::write);
  Communicator& communicator = receive.communicator();
  Context& context = *communicator.context;
  if (auto staged = stage_receive(receive.buffer(), site.function())) [[unlikely]] {
    Request* landing = engine().start_receive(context, receive.from(), receive.tag(), staged->buffer(), site);
    *request = handle_for_receive(landing, communicator, std::move(staged));
    return MPI_SUCCESS;
  }
  Request* started = receive.buffer().simple()
                         ? engine().start_receive(context, receive.from(), receive.tag(), receive.buffer().contents(), site)
                         : engine().start_receive(context, receive.from(), receive.tag(), receive.buffer().user_buffer(), site);
  *request = handle_for_receive(started, communicator);
  return MPI_SUCCESS;
}

constexpr auto Recv = blocking<&HostTable::Recv, int>;
constexpr auto Recv_c = blocking<&HostTable::Recv_c, MPI_Count>;
constexpr auto Irecv = nonblocking<&HostTable::Irecv, int>;
constexpr auto Irecv_c = nonblocking<&HostTable::Irecv_c, MPI_Count>;

}  // namespace
}  // namespace sluice::calls

#include "exports.hpp"
EXPORT(Recv)
EXPORT(Recv_c)
EXPORT(Irecv)
EXPORT(Irecv_c)
