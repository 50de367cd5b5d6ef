// Persistent requests: described once, started again and again.
#include "interpose/mpi/attached_buffer.hpp"
#include "interpose/mpi/errors.hpp"
#include "interpose/mpi/handles.hpp"
#include "interpose/mpi/operation_arguments.hpp"

namespace sluice::calls {
namespace {

/// What MPI_Send_init and its kin describe.
struct Description {
  bool receives = false;
  bool no_process = false;  // MPI_PROC_NULL
  SendMode mode{};
  Rank rank{};
  Tag tag{};
  UserBuffer buffer;
  ByteRange span;
  bool on_device = false;
};

class PersistentMessage final : public PersistentOperation {
 public:
  PersistentMessage(Description what, Communicator& communicator) : what_(std::move(what)), communicator_(communicator) {
    engine().contexts().keep(context());
  }
  ~PersistentMessage() override { engine().contexts().let_go(context()); }
  PersistentMessage(const PersistentMessage&) = delete;
  PersistentMessage& operator=(const PersistentMessage&) = delete;

  int start(Handle& handle, CallSite site) override;

 private:
  [[nodiscard]] Context& context() const { return *communicator_.context; }
  [[nodiscard]] Request* start_on_device(Handle& handle, CallSite site) const;
  [[nodiscard]] Request* start_operation(CallSite site) const;

  const Description what_;
  Communicator& communicator_;
};

Request* PersistentMessage::start_on_device(Handle& handle, CallSite site) const {
  if (!what_.receives) return start_device_send(context(), what_.rank, what_.tag, what_.buffer, what_.mode, site);
  handle.staged = std::make_unique<StagedReceive>(what_.buffer, site.function());
  return engine().start_receive(context(), what_.rank, what_.tag, handle.staged->buffer(), site);
}

Request* PersistentMessage::start_operation(CallSite site) const {
  if (what_.receives) return engine().start_receive(context(), what_.rank, what_.tag, what_.buffer, site);
  return engine().start_send(context(), what_.rank, what_.tag, what_.buffer, what_.mode, site);
}

int PersistentMessage::start(Handle& handle, CallSite site) {
  if (Engine::Memory::anything_released()) engine().memory().settle(what_.span, what_.receives ? Access::write : Access::read);
  if (what_.no_process) {
    handle.outcome = what_.receives ? no_process_outcome : empty_outcome;
  } else {
    if (what_.mode == SendMode::buffered && !attached_buffer_has_room(communicator_, what_.buffer.bytes())) {
      return raise_error(communicator_, MPI_ERR_BUFFER, site.function());
    }
    handle.active = what_.on_device ? start_on_device(handle, site) : start_operation(site);
    handle.outcome = empty_outcome;  // of a send that has left
  }
  set_started(handle);
  return MPI_SUCCESS;
}

MPI_Request handle_for(Description what, Communicator& communicator) {
  const bool receives = what.receives;
  return handle_for_persistent(std::make_unique<PersistentMessage>(std::move(what), communicator), receives, communicator);
}

template <auto host_call, SendMode mode, typename Count>
int send_init(CallSite, const void* address, Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  const SendArguments send(address, count, type, to, tag, comm);
  if (!request || !(send.carried() || send.to_no_process())) {
    return (host().*host_call)(address, count, type, to, tag, comm, request);
  }
  *request = handle_for({.receives = false,
                         .no_process = send.to_no_process(),
                         .mode = mode,
                         .rank = send.to(),
                         .tag = send.tag(),
                         .buffer = send.buffer().user_buffer(),
                         .span = send.buffer().span(),
                         .on_device = is_on_device(send.buffer())},
                        send.communicator());
  return MPI_SUCCESS;
}

template <auto host_call, typename Count>
int receive_init(CallSite, void* address, Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                 MPI_Request* request) {
  const ReceiveArguments receive(address, count, type, from, tag, comm);
  if (!request || !(receive.carried() || receive.from_no_process())) {
    return (host().*host_call)(address, count, type, from, tag, comm, request);
  }
  *request = handle_for({.receives = true,
                         .no_process = receive.from_no_process(),
                         .mode = {},
                         .rank = receive.from(),
                         .tag = receive.tag(),
                         .buffer = receive.buffer().user_buffer(),
                         .span = receive.buffer().span(),
                         .on_device = is_on_device(receive.buffer())},
                        receive.communicator());
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
  return handle && handle->is_inactive() ? handle->operation->start(*handle, site) : start_host(request);
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
