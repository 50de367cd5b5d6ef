// Combined send and receive, blocking and nonblocking. A blocking one posts its receive first, so that the send cannot keep the
// peers from each other.
#include <array>
#include <memory>

#include "interpose/device/buffers.hpp"
#include "interpose/mpi/errors.hpp"
#include "interpose/mpi/handles.hpp"
#include "interpose/mpi/operation_arguments.hpp"

namespace sluice::calls {
namespace {

/// Both halves are Sluice's or have no process at the other end.
bool carried(const SendArguments& send, const ReceiveArguments& receive) {
  return (send.carried() || send.to_no_process()) && (receive.carried() || receive.from_no_process());
}

/// `staged`: where the message of a device lands.
Request* start(const ReceiveArguments& receive, const StagedReceive* staged, CallSite site) {
  if (!receive.carried()) return nullptr;
  Context& context = *receive.communicator().context;
  const UserBuffer buffer = staged ? staged->buffer() : receive.buffer().user_buffer();
  return engine().start_receive(context, receive.from(), receive.tag(), buffer, site, Engine::Caller::waits);
}

Request* start(const SendArguments& send, CallSite site) {
  if (!send.carried()) return nullptr;
  Context& context = *send.communicator().context;
  const UserBuffer buffer = send.buffer().user_buffer();
  if (is_on_device(send.buffer())) [[unlikely]]
    return start_device_send(context, send.to(), send.tag(), buffer, SendMode::standard, site, Engine::Caller::waits);
  return engine().start_send(context, send.to(), send.tag(), buffer, SendMode::standard, site, Engine::Caller::waits);
}

/// Both at once, so that they are released together or not at all.
Outcome await(Request* sent, Request* received, StagedReceive* staged, CallSite site) {
  const std::array<Request*, 2> both{sent, received};
  engine().wait_all(both, site);
  if (sent) engine().take(sent);
  const Outcome outcome = received ? engine().take(received) : no_process_outcome;
  if (received && staged) staged->deliver(outcome);
  return outcome;
}

template <auto host_call, typename Count>
int both(CallSite site, const void* send_address, Count send_count, MPI_Datatype send_type, int to, int send_tag,
         void* receive_address, Count receive_count, MPI_Datatype receive_type, int from, int receive_tag, MPI_Comm comm,
         MPI_Status* status) {
  const SendArguments send(send_address, send_count, send_type, to, send_tag, comm);
  const ReceiveArguments receive(receive_address, receive_count, receive_type, from, receive_tag, comm);
  if (!carried(send, receive)) [[unlikely]] {
    const HostCall call;
    return (host().*host_call)(send_address, send_count, send_type, to, send_tag, receive_address, receive_count, receive_type,
                               from, receive_tag, comm, status);
  }
  send.buffer().settle(Access::read);
  receive.buffer().settle(Access::write);
  const auto staged = stage_receive(receive.buffer(), site.function());
  Request* posted = start(receive, staged.get(), site);
  Request* sent = start(send, site);
  const Outcome outcome = await(sent, posted, staged.get(), site);
  fill_status(status, outcome);
  return conclude(outcome, receive.communicator(), site.function());
}

/// Sends the message from a packed copy, out of the way of what is to be received.
Request* start_copy(const SendArguments& send, CallSite site, Engine::Caller caller) {
  if (!send.carried()) return nullptr;
  const BufferArgument& buffer = send.buffer();
  if (is_on_device(buffer)) [[unlikely]]
    return start_device_send(*send.communicator().context, send.to(), send.tag(), buffer.user_buffer(), SendMode::standard, site,
                             caller);
  auto copy = std::make_unique_for_overwrite<std::byte[]>(buffer.bytes());
  LayoutCursor(buffer.user_buffer()).pack({copy.get(), buffer.bytes()});
  return engine().start_send(*send.communicator().context, send.to(), send.tag(), std::move(copy), buffer.bytes(), site, caller);
}

template <auto host_call, typename Count>
int both_in_place(CallSite site, void* address, Count count, MPI_Datatype type, int to, int send_tag, int from, int receive_tag,
                  MPI_Comm comm, MPI_Status* status) {
  const SendArguments send(address, count, type, to, send_tag, comm);
  const ReceiveArguments receive(address, count, type, from, receive_tag, comm);
  if (!carried(send, receive)) [[unlikely]] {
    const HostCall call;
    return (host().*host_call)(address, count, type, to, send_tag, from, receive_tag, comm, status);
  }
  receive.buffer().settle(Access::write);
  const auto staged = stage_receive(receive.buffer(), site.function());
  Request* sent = start_copy(send, site, Engine::Caller::waits);
  Request* posted = start(receive, staged.get(), site);
  const Outcome outcome = await(sent, posted, staged.get(), site);
  fill_status(status, outcome);
  return conclude(outcome, receive.communicator(), site.function());
}

/// Starts both halves. The request is that of the receive: the message leaves from a copy that nobody waits for, as the copy of a
/// small message does. A standard-mode send may be buffered, so neither half holds up the other.
int start_both(const SendArguments& send, const ReceiveArguments& receive, CallSite site, MPI_Request* request) {
  Request* const sent = start_copy(send, site, Engine::Caller::goes_on);
  if (sent) engine().completion().detach(sent);
  if (!receive.carried()) {
    *request = handle_for_no_process(true);
    return MPI_SUCCESS;
  }
  Communicator& communicator = receive.communicator();
  auto staged = stage_receive(receive.buffer(), site.function());
  const UserBuffer target = staged ? staged->buffer() : receive.buffer().user_buffer();
  Request* const posted = engine().start_receive(*communicator.context, receive.from(), receive.tag(), target, site);
  *request = handle_for_receive(posted, communicator, std::move(staged));
  return MPI_SUCCESS;
}

template <auto host_call, typename Count>
int nonblocking(CallSite site, const void* send_address, Count send_count, MPI_Datatype send_type, int to, int send_tag,
                void* receive_address, Count receive_count, MPI_Datatype receive_type, int from, int receive_tag, MPI_Comm comm,
                MPI_Request* request) {
  const SendArguments send(send_address, send_count, send_type, to, send_tag, comm);
  const ReceiveArguments receive(receive_address, receive_count, receive_type, from, receive_tag, comm);
  if (!request || !carried(send, receive)) [[unlikely]] {
    const HostCall call;
    return host_activity().started((host().*host_call)(send_address, send_count, send_type, to, send_tag, receive_address,
                                                       receive_count, receive_type, from, receive_tag, comm, request),
                                   request);
  }
  send.buffer().settle(Access::read);
  receive.buffer().settle(Access::write);
  return start_both(send, receive, site, request);
}

template <auto host_call, typename Count>
int nonblocking_in_place(CallSite site, void* address, Count count, MPI_Datatype type, int to, int send_tag, int from,
                         int receive_tag, MPI_Comm comm, MPI_Request* request) {
  const SendArguments send(address, count, type, to, send_tag, comm);
  const ReceiveArguments receive(address, count, type, from, receive_tag, comm);
  if (!request || !carried(send, receive)) [[unlikely]] {
    const HostCall call;
    return host_activity().started((host().*host_call)(address, count, type, to, send_tag, from, receive_tag, comm, request),
                                   request);
  }
  receive.buffer().settle(Access::write);
  return start_both(send, receive, site, request);
}

constexpr auto Sendrecv = both<&HostTable::Sendrecv, int>;
constexpr auto Sendrecv_c = both<&HostTable::Sendrecv_c, MPI_Count>;
constexpr auto Sendrecv_replace = both_in_place<&HostTable::Sendrecv_replace, int>;
constexpr auto Sendrecv_replace_c = both_in_place<&HostTable::Sendrecv_replace_c, MPI_Count>;
constexpr auto Isendrecv = nonblocking<&HostTable::Isendrecv, int>;
constexpr auto Isendrecv_c = nonblocking<&HostTable::Isendrecv_c, MPI_Count>;
constexpr auto Isendrecv_replace = nonblocking_in_place<&HostTable::Isendrecv_replace, int>;
constexpr auto Isendrecv_replace_c = nonblocking_in_place<&HostTable::Isendrecv_replace_c, MPI_Count>;

}  // namespace
}  // namespace sluice::calls

#include "exports.hpp"
EXPORT(Sendrecv)
EXPORT(Sendrecv_c)
EXPORT(Sendrecv_replace)
EXPORT(Sendrecv_replace_c)
EXPORT(Isendrecv)
EXPORT(Isendrecv_c)
EXPORT(Isendrecv_replace)
EXPORT(Isendrecv_replace_c)
