// Combined send and receive. The receive is posted first, so that the send cannot keep the peers from each other.
#include <array>
#include <memory>

#include "interpose/device_buffers.hpp"
#include "interpose/errors.hpp"
#include "interpose/operation_arguments.hpp"
#include "interpose/status.hpp"

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

int Sendrecv(CallSite site, const void* send_address, int send_count, MPI_Datatype send_type, int to, int send_tag,
             void* receive_address, int receive_count, MPI_Datatype receive_type, int from, int receive_tag, MPI_Comm comm,
             MPI_Status* status) {
  const SendArguments send(send_address, send_count, send_type, to, send_tag, comm);
  const ReceiveArguments receive(receive_address, receive_count, receive_type, from, receive_tag, comm);
  if (!carried(send, receive)) [[unlikely]] {
    const HostCall host_call;
    return host().Sendrecv(send_address, send_count, send_type, to, send_tag, receive_address, receive_count, receive_type, from,
                           receive_tag, comm, status);
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
Request* start_copy(const SendArguments& send, CallSite site) {
  if (!send.carried()) return nullptr;
  const BufferArgument& buffer = send.buffer();
  if (is_on_device(buffer)) [[unlikely]]
    return start_device_send(*send.communicator().context, send.to(), send.tag(), buffer.user_buffer(), SendMode::standard, site,
                             Engine::Caller::waits);
  auto copy = std::make_unique_for_overwrite<std::byte[]>(buffer.bytes());
  LayoutCursor(buffer.user_buffer()).pack({copy.get(), buffer.bytes()});
  return engine().start_send(*send.communicator().context, send.to(), send.tag(), std::move(copy), buffer.bytes(), site,
                             Engine::Caller::waits);
}

int Sendrecv_replace(CallSite site, void* address, int count, MPI_Datatype type, int to, int send_tag, int from, int receive_tag,
                     MPI_Comm comm, MPI_Status* status) {
  const SendArguments send(address, count, type, to, send_tag, comm);
  const ReceiveArguments receive(address, count, type, from, receive_tag, comm);
  if (!carried(send, receive)) [[unlikely]] {
    const HostCall host_call;
    return host().Sendrecv_replace(address, count, type, to, send_tag, from, receive_tag, comm, status);
  }
  receive.buffer().settle(Access::write);
  const auto staged = stage_receive(receive.buffer(), site.function());
  Request* sent = start_copy(send, site);
  Request* posted = start(receive, staged.get(), site);
  const Outcome outcome = await(sent, posted, staged.get(), site);
  fill_status(status, outcome);
  return conclude(outcome, receive.communicator(), site.function());
}

}  // namespace
}  // namespace sluice::calls

#include "exports.hpp"
EXPORT(Sendrecv)
EXPORT(Sendrecv_replace)
