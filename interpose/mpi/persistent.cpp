// Persistent requests: described once, started again and again.
#include "interpose/mpi/attached_buffer.hpp"
#include "interpose/mpi/errors.hpp"
#include "interpose/mpi/handles.hpp"
#include "interpose/mpi/operation_arguments.hpp"

namespace sluice::calls {
namespace {

template <auto host_call, SendMode mode, typename Count>
int send_init(CallSite, const void* address, Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  const SendArguments send(address, count, type, to, tag, comm);
  if (!request || !(send.carried() || send.to_no_process())) {
    return (host().*host_call)(address, count, type, to, tag, comm, request);
  }
  auto operation = std::make_unique<PersistentOperation>(PersistentOperation{.receives = false,
                                                                             .no_process = send.to_no_process(),
                                                                             .mode = mode,
                                                                             .rank = send.to(),
                                                                             .tag = send.tag(),
                                                                             .buffer = send.buffer().user_buffer(),
                                                                             .span = send.buffer().span(),
                                                                             .on_device = is_on_device(send.buffer())});
  *request = handle_for_persistent(std::move(operation), send.communicator());
  return MPI_SUCCESS;
}

template <auto host_call, typename Count>
int receive_init(CallSite, void* address, Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                 MPI_Request* request) {
  const ReceiveArguments receive(address, count, type, from, tag, comm);
  if (!request || !(receive.carried() || receive.from_no_process())) {
    return (host().*host_call)(address, count, type, from, tag, comm, request);
  }
  auto operation = std::make_unique<PersistentOperation>(PersistentOperation{.receives = true,
                                                                             .no_process = receive.from_no_process(),
                                                                             .mode = {},
                                                                             .rank = receive.from(),
                                                                             .tag = receive.tag(),
                                                                             .buffer = receive.buffer().user_buffer(),
                                                                             .span = receive.buffer().span(),
                                                                             .on_device = is_on_device(receive.buffer())});
  *request = handle_for_persistent(std::move(operation), receive.communicator());
  return MPI_SUCCESS;
}

Request* start_on_device(Handle& handle, CallSite site) {
  const PersistentOperation& operation = *handle.operation;
  Context& context = *handle.communicator->context;
  if (!operation.receives)
    return start_device_send(context, operation.rank, operation.tag, operation.buffer, operation.mode, site);
  handle.staged = std::make_unique<StagedReceive>(operation.buffer, site.function());
  return engine().start_receive(context, operation.rank, operation.tag, handle.staged->buffer(), site);
}

Request* start_operation(const PersistentOperation& operation, Context& context, CallSite site) {
  if (operation.receives) return engine().start_receive(context, operation.rank, operation.tag, operation.buffer, site);
  return engine().start_send(context, operation.rank, operation.tag, operation.buffer, operation.mode, site);
}

int start(Handle& handle, CallSite site) {
  const PersistentOperation& operation = *handle.operation;
  Communicator& communicator = *handle.communicator;
  if (Engine::Memory::anything_released())
    engine().memory().settle(operation.span, operation.receives ? Access::write : Access::read);
  if (operation.no_process) {
    handle.outcome = operation.receives ? no_process_outcome : empty_outcome;
  } else {
    if (operation.mode == SendMode::buffered && !attached_buffer_has_room(communicator, operation.buffer.bytes())) {
      return raise_error(communicator, MPI_ERR_BUFFER, site.function());
    }
    handle.active = operation.on_device ? start_on_device(handle, site) : start_operation(operation, *communicator.context, site);
    handle.outcome = empty_outcome;  // of a send that has left
  }
  set_started(handle);
  return MPI_SUCCESS;
}

int start_host(MPI_Request* request) {
  const HostCall host_call;
  const int code = host().Start(request);
  if (code == MPI_SUCCESS) host_activity().persistent_started(*request);
  return code;
}

int Start(CallSite site, MPI_Request* request) {
  Handle* handle = request ? find_handle(*request) : nullptr;
  // What is not an inactive persistent request of Sluice's is an error or the host's; the host says which.
  return handle && handle->is_inactive() ? start(*handle, site) : start_host(request);
}

int Startall(CallSite site, int count, MPI_Request requests[]) {
  if (count < 0 || (count > 0 && !requests)) return host().Startall(count, requests);
  int result = MPI_SUCCESS;
  for (int i = 0; i < count; ++i) {
    const int code = Start(site, &requests[i]);
    if (result == MPI_SUCCESS) result = code;
  }
  return result;
}

constexpr auto Send_init = send_init<&HostTable::Send_init, SendMode::standard, int>;
constexpr auto Send_init_c = send_init<&HostTable::Send_init_c, SendMode::standard, MPI_Count>;
constexpr auto Rsend_init = send_init<&HostTable::Rsend_init, SendMode::standard, int>;
constexpr auto Rsend_init_c = send_init<&HostTable::Rsend_init_c, SendMode::standard, MPI_Count>;
constexpr auto Ssend_init = send_init<&HostTable::Ssend_init, SendMode::synchronous, int>;
constexpr auto Ssend_init_c = send_init<&HostTable::Ssend_init_c, SendMode::synchronous, MPI_Count>;
constexpr auto Bsend_init = send_init<&HostTable::Bsend_init, SendMode::buffered, int>;
constexpr auto Bsend_init_c = send_init<&HostTable::Bsend_init_c, SendMode::buffered, MPI_Count>;
constexpr auto Recv_init = receive_init<&HostTable::Recv_init, int>;
constexpr auto Recv_init_c = receive_init<&HostTable::Recv_init_c, MPI_Count>;

}  // namespace
}  // namespace sluice::calls

#include "exports.hpp"
EXPORT(Send_init)
EXPORT(Send_init_c)
EXPORT(Rsend_init)
EXPORT(Rsend_init_c)
EXPORT(Ssend_init)
EXPORT(Ssend_init_c)
EXPORT(Bsend_init)
EXPORT(Bsend_init_c)
EXPORT(Recv_init)
EXPORT(Recv_init_c)
EXPORT(Start)
EXPORT(Startall)
