// Combined send and receive. The receive is posted first, so that the blocking send cannot keep the peers from each other.
#include <memory>
#include <span>

#include "interpose/errors.hpp"
#include "interpose/operation_arguments.hpp"
#include "interpose/status.hpp"

namespace sluice::calls {
namespace {

/// Both halves are Sluice's or have no process at the other end.
bool carried(const SendArguments& send, const ReceiveArguments& receive) {
  return (send.carried() || send.to_no_process()) && (receive.carried() || receive.from_no_process());
}

Request* start(const ReceiveArguments& receive, CallSite site) {
  if (!receive.carried()) return nullptr;
  Context& context = *receive.communicator().context;
  return engine().start_receive(context, receive.from(), receive.tag(), receive.buffer().user_buffer(), site);
}

Outcome await(Request* request, CallSite site) {
  if (!request) return no_process_outcome;
  engine().wait_all({&request, 1}, site);
  return engine().take(request);
}

int Sendrecv(CallSite site, const void* send_address, int send_count, MPI_Datatype send_type, int to, int send_tag,
             void* receive_address, int receive_count, MPI_Datatype receive_type, int from, int receive_tag, MPI_Comm comm,
             MPI_Status* status) {
  const SendArguments send(send_address, send_count, send_type, to, send_tag, comm);
  const ReceiveArguments receive(receive_address, receive_count, receive_type, from, receive_tag, comm);
  if (!carried(send, receive)) [[unlikely]] {
    settle_before_host();
    return host().Sendrecv(send_address, send_count, send_type, to, send_tag, receive_address, receive_count, receive_type, from,
                           receive_tag, comm, status);
  }
  send.buffer().settle();
  receive.buffer().settle();
  Request* posted = start(receive, site);
  if (send.carried()) send_now(send, SendMode::standard, site);
  const Outcome outcome = await(posted, site);
  fill_status(status, outcome);
  return conclude(outcome, receive.communicator(), site.function);
}

/// The message in packed form, out of the way of what is to be received.
std::unique_ptr<std::byte[]> packed_copy(const BufferArgument& buffer) {
  auto copy = std::make_unique_for_overwrite<std::byte[]>(buffer.bytes());
  LayoutCursor(buffer.user_buffer()).pack({copy.get(), buffer.bytes()});
  return copy;
}

int Sendrecv_replace(CallSite site, void* address, int count, MPI_Datatype type, int to, int send_tag, int from, int receive_tag,
                     MPI_Comm comm, MPI_Status* status) {
  const SendArguments send(address, count, type, to, send_tag, comm);
  const ReceiveArguments receive(address, count, type, from, receive_tag, comm);
  if (!carried(send, receive)) [[unlikely]] {
    settle_before_host();
    return host().Sendrecv_replace(address, count, type, to, send_tag, from, receive_tag, comm, status);
  }
  receive.buffer().settle();
  const std::size_t bytes = send.buffer().bytes();
  const auto copy = send.carried() ? packed_copy(send.buffer()) : nullptr;
  Request* posted = start(receive, site);
  if (send.carried()) {
    engine().send(*send.communicator().context, send.to(), send.tag(), copy.get(), bytes, SendMode::standard, site);
  }
  const Outcome outcome = await(posted, site);
  fill_status(status, outcome);
  return conclude(outcome, receive.communicator(), site.function);
}

}  // namespace
}  // namespace sluice::calls

#include "exports.hpp"
EXPORT(Sendrecv)
EXPORT(Sendrecv_replace)
