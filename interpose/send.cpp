// Blocking and nonblocking sends in the four modes. A ready send is a standard one: the receive that it relies on is posted.
#include "interpose/attached_buffer.hpp"
#include "interpose/device_buffers.hpp"
#include "interpose/errors.hpp"
#include "interpose/handles.hpp"
#include "interpose/operation_arguments.hpp"

namespace sluice::calls {
namespace {

/// A buffered send needs room in the attached buffer.
template <SendMode mode>
bool lacks_room(const SendArguments& send) {
  if constexpr (mode == SendMode::buffered) return !attached_buffer_has_room(send.buffer().bytes());
  return false;
}

void send_from_device(const SendArguments& send, SendMode mode, CallSite site) {
  Context& context = *send.communicator().context;
  const UserBuffer device = send.buffer().user_buffer();
  const auto copy = copy_from_device(device, site.function());
  engine().send(context, send.to(), send.tag(), copy.get(), device.bytes(), mode, site);
}

Request* start(const SendArguments& send, SendMode mode, CallSite site) {
  Context& context = *send.communicator().context;
  const BufferArgument& buffer = send.buffer();
  if (is_on_device(buffer)) [[unlikely]]
    return start_device_send(context, send.to(), send.tag(), buffer.user_buffer(), mode, site);
  return buffer.simple() ? engine().start_send(context, send.to(), send.tag(), buffer.contents(), mode, site)
                         : engine().start_send(context, send.to(), send.tag(), buffer.user_buffer(), mode, site);
}

template <auto host_call, SendMode mode>
int blocking(CallSite site, const void* address, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  const SendArguments send(address, count, type, to, tag, comm);
  if (!send.carried()) [[unlikely]] {
    const HostCall call;
    return (host().*host_call)(address, count, type, to, tag, comm);
  }
  send.buffer().settle(Access::read);
  if (lacks_room<mode>(send)) return raise_error(send.communicator(), MPI_ERR_BUFFER, site.function());
  if (is_on_device(send.buffer())) [[unlikely]] {
    send_from_device(send, mode, site);
  } else {
    send_now(send, mode, site);
  }
  return MPI_SUCCESS;
}

template <auto host_call, SendMode mode>
int nonblocking(CallSite site, const void* address, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                MPI_Request* request) {
  const SendArguments send(address, count, type, to, tag, comm);
  if (!request || !send.carried()) [[unlikely]] {
    if (request && send.to_no_process()) {
      *request = handle_for_no_process(false);
      return MPI_SUCCESS;
    }
    const HostCall call;
    return host_activity().started((host().*host_call)(address, count, type, to, tag, comm, request), request);
  }
  send.buffer().settle(Access::read);
  if (lacks_room<mode>(send)) return raise_error(send.communicator(), MPI_ERR_BUFFER, site.function());
  *request = handle_for_send(start(send, mode, site), send.communicator());
  return MPI_SUCCESS;
}

constexpr auto Send = blocking<&HostTable::Send, SendMode::standard>;
constexpr auto Rsend = blocking<&HostTable::Rsend, SendMode::standard>;
constexpr auto Ssend = blocking<&HostTable::Ssend, SendMode::synchronous>;
constexpr auto Bsend = blocking<&HostTable::Bsend, SendMode::buffered>;
constexpr auto Isend = nonblocking<&HostTable::Isend, SendMode::standard>;
constexpr auto Irsend = nonblocking<&HostTable::Irsend, SendMode::standard>;
constexpr auto Issend = nonblocking<&HostTable::Issend, SendMode::synchronous>;
constexpr auto Ibsend = nonblocking<&HostTable::Ibsend, SendMode::buffered>;

}  // namespace
}  // namespace sluice::calls

#include "exports.hpp"
EXPORT(Send)
EXPORT(Rsend)
EXPORT(Ssend)
EXPORT(Bsend)
EXPORT(Isend)
EXPORT(Irsend)
EXPORT(Issend)
EXPORT(Ibsend)
