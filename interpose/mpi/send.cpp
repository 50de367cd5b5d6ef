// Blocking and nonblocking sends in the four modes, with both kinds of counts. A ready send is a standard one: the receive that
// it relies on is posted.
#include "interpose/device/buffers.hpp"
#include "interpose/mpi/attached_buffer.hpp"
#include "interpose/mpi/errors.hpp"
#include "interpose/mpi/handles.hpp"
#include "interpose/mpi/operation_arguments.hpp"

namespace sluice::calls {
namespace {

/// A buffered send needs room in the attached buffer.
template <SendMode mode>
bool lacks_room(const SendArguments& send) {
  if constexpr (mode == SendMode::buffered) return !attached_buffer_has_room(send.communicator(), send.buffer().bytes());
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

template <auto host_call, SendMode mode, typename Count>
int blocking(CallSite site, const void* address, Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
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

template <auto host_call, SendMode mode, typename Count>
int nonblocking(CallSite site, const void* address, Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
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

constexpr auto Send = blocking<&HostTable::Send, SendMode::standard, int>;
constexpr auto Send_c = blocking<&HostTable::Send_c, SendMode::standard, MPI_Count>;
constexpr auto Rsend = blocking<&HostTable::Rsend, SendMode::standard, int>;
constexpr auto Rsend_c = blocking<&HostTable::Rsend_c, SendMode::standard, MPI_Count>;
constexpr auto Ssend = blocking<&HostTable::Ssend, SendMode::synchronous, int>;
constexpr auto Ssend_c = blocking<&HostTable::Ssend_c, SendMode::synchronous, MPI_Count>;
constexpr auto Bsend = blocking<&HostTable::Bsend, SendMode::buffered, int>;
constexpr auto Bsend_c = blocking<&HostTable::Bsend_c, SendMode::buffered, MPI_Count>;
constexpr auto Isend = nonblocking<&HostTable::Isend, SendMode::standard, int>;
constexpr auto Isend_c = nonblocking<&HostTable::Isend_c, SendMode::standard, MPI_Count>;
constexpr auto Irsend = nonblocking<&HostTable::Irsend, SendMode::standard, int>;
constexpr auto Irsend_c = nonblocking<&HostTable::Irsend_c, SendMode::standard, MPI_Count>;
constexpr auto Issend = nonblocking<&HostTable::Issend, SendMode::synchronous, int>;
constexpr auto Issend_c = nonblocking<&HostTable::Issend_c, SendMode::synchronous, MPI_Count>;
constexpr auto Ibsend = nonblocking<&HostTable::Ibsend, SendMode::buffered, int>;
constexpr auto Ibsend_c = nonblocking<&HostTable::Ibsend_c, SendMode::buffered, MPI_Count>;

}  // namespace
}  // namespace sluice::calls

#include "exports.hpp"
EXPORT(Send)
EXPORT(Send_c)
EXPORT(Rsend)
EXPORT(Rsend_c)
EXPORT(Ssend)
EXPORT(Ssend_c)
EXPORT(Bsend)
EXPORT(Bsend_c)
EXPORT(Isend)
EXPORT(Isend_c)
EXPORT(Irsend)
EXPORT(Irsend_c)
EXPORT(Issend)
EXPORT(Issend_c)
EXPORT(Ibsend)
EXPORT(Ibsend_c)
