// Every way to send and to receive one message.
#include <algorithm>
#include <array>

#include "lane.hpp"

namespace random_program {

namespace {

/// The first three arguments of a call for an operation's buffer. A type with an absolute address lives only for the call.
class BufferArguments {
 public:
  explicit BufferArguments(const Operation& operation)
      : base(operation.slot.origin), count(static_cast<int>(operation.elements)), type(operation.layout->type()) {
    if (!operation.from_bottom) return;
    type = make_absolute(*operation.layout, operation.elements, operation.slot.origin);
    base = MPI_BOTTOM;
    count = 1;
    owned_ = true;
  }
  ~BufferArguments() {
    if (owned_) MPI_Type_free(&type);
  }
  BufferArguments(const BufferArguments&) = delete;
  BufferArguments& operator=(const BufferArguments&) = delete;

  void* base;
  int count;
  MPI_Datatype type;

 private:
  bool owned_ = false;
};

}  // namespace

OperationPointer Lane::prepare(const Transfer& transfer, bool receive, Memory::Placement placement) {
  auto operation = std::make_shared<Operation>();
  operation->transfer = &transfer;
  const LayoutSpec& spec = receive ? transfer.receive_layout : transfer.send_layout;
  operation->layout = std::make_unique<Layout>(transfer.base, spec);
  operation->elements = operation->layout->elements_for(receive ? transfer.capacity_units : transfer.units);
  operation->from_bottom = spec.from_bottom && operation->elements > 0;
  const auto bytes = std::max<std::ptrdiff_t>(0, operation->layout->upper(operation->elements));
  const std::size_t alignment = transfer.base == Base::byte ? 1 : 8;
  operation->slot = memory_.allocate(static_cast<std::size_t>(bytes), alignment, placement, random_);
  return operation;
}

void Lane::fill(const Operation& operation) {
  operation.layout->scatter(contents_of(*operation.transfer), operation.slot.origin);
}

void Lane::send(const Transfer& transfer) {
  auto operation = prepare(transfer, false);
  fill(*operation);
  switch (transfer.send_call) {
    case SendCall::send:
    case SendCall::ssend:
    case SendCall::bsend:
    case SendCall::sendrecv_to_null:
      send_blocking(transfer, *operation);
      return finish_sent(*operation);
    case SendCall::isend_then_free: {
      MPI_Request request = start_send(transfer, *operation);
      MPI_Request_free(&request);
      forgotten_.push_back(std::move(operation));
      return;
    }
    default:
      break;
  }
  const bool persistent = transfer.send_call >= SendCall::send_init && transfer.send_call <= SendCall::bsend_init;
  const MPI_Request request = start_send(transfer, *operation);
  remember_send(std::move(operation), request, persistent);
}

void Lane::send_blocking(const Transfer& transfer, const Operation& operation) {
  const BufferArguments buffer(operation);
  const int to = local_rank(transfer.communicator, transfer.destination);
  MPI_Comm comm = communicator(transfer);
  switch (transfer.send_call) {
    case SendCall::ssend:
      MPI_Ssend(buffer.base, buffer.count, buffer.type, to, transfer.tag, comm);
      break;
    case SendCall::bsend:
      MPI_Bsend(buffer.base, buffer.count, buffer.type, to, transfer.tag, comm);
      break;
    case SendCall::sendrecv_to_null: {
      MPI_Status status;
      MPI_Sendrecv(buffer.base, buffer.count, buffer.type, to, transfer.tag, nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, comm,
                   &status);
      if (status.MPI_SOURCE != MPI_PROC_NULL || status.MPI_TAG != MPI_ANY_TAG) fail(&transfer, "wrong status from MPI_PROC_NULL");
      break;
    }
    default:
      MPI_Send(buffer.base, buffer.count, buffer.type, to, transfer.tag, comm);
      break;
  }
}

MPI_Request Lane::start_send(const Transfer& transfer, const Operation& operation) {
  const BufferArguments buffer(operation);
  const int to = local_rank(transfer.communicator, transfer.destination);
  MPI_Comm comm = communicator(transfer);
  MPI_Request request = MPI_REQUEST_NULL;
  const auto call = [&](auto function) { function(buffer.base, buffer.count, buffer.type, to, transfer.tag, comm, &request); };
  switch (transfer.send_call) {
    case SendCall::issend:
      call(MPI_Issend);
      break;
    case SendCall::ibsend:
      call(MPI_Ibsend);
      break;
    case SendCall::send_init:
      call(MPI_Send_init);
      break;
    case SendCall::ssend_init:
      call(MPI_Ssend_init);
      break;
    case SendCall::bsend_init:
      call(MPI_Bsend_init);
      break;
    default:
      call(MPI_Isend);
      return request;
  }
  if (transfer.send_call >= SendCall::send_init) MPI_Start(&request);
  return request;
}

void Lane::remember_send(OperationPointer operation, MPI_Request request, bool persistent) {
  outstanding_.push_back(
      {request, persistent, false, [this, kept = std::move(operation)](const MPI_Status*) { finish_sent(*kept); }});
}

void Lane::remember_receive(OperationPointer operation, MPI_Request request, bool persistent) {
  outstanding_.push_back(
      {request, persistent, false, [this, kept = std::move(operation)](const MPI_Status* status) { received(kept, status); }});
}

void Lane::receive(const Transfer& transfer) {
  switch (transfer.receive_call) {
    case ReceiveCall::irecv:
    case ReceiveCall::recv_init:
    case ReceiveCall::probe_irecv:
    case ReceiveCall::mprobe_imrecv:
    case ReceiveCall::improbe_imrecv: {
      auto operation = prepare(transfer, true);
      const MPI_Request request = start_receive(transfer, *operation);
      return remember_receive(std::move(operation), request, transfer.receive_call == ReceiveCall::recv_init);
    }
    default:
      break;
  }
  auto operation = prepare(transfer, true);
  const MPI_Status status = receive_blocking(transfer, *operation);
  received(std::move(operation), &status);
}

MPI_Status Lane::receive_blocking(const Transfer& transfer, const Operation& operation) {
  const BufferArguments buffer(operation);
  const int from = transfer.any_source ? MPI_ANY_SOURCE : local_rank(transfer.communicator, transfer.source);
  const int tag = transfer.any_tag ? MPI_ANY_TAG : transfer.tag;
  MPI_Comm comm = communicator(transfer);
  MPI_Status status;
  switch (transfer.receive_call) {
    case ReceiveCall::probe_recv:
    case ReceiveCall::iprobe_recv: {
      const MPI_Status found = probe(transfer);
      MPI_Recv(buffer.base, buffer.count, buffer.type, found.MPI_SOURCE, found.MPI_TAG, comm, &status);
      break;
    }
    case ReceiveCall::mprobe_mrecv:
    case ReceiveCall::improbe_mrecv: {
      MPI_Message message = matched_probe(transfer, status);
      check_envelope(transfer, *operation.layout, status);
      MPI_Mrecv(buffer.base, buffer.count, buffer.type, &message, &status);
      if (message != MPI_MESSAGE_NULL) fail(&transfer, "MPI_Mrecv did not reset the message handle");
      break;
    }
    case ReceiveCall::sendrecv_from_null:
      MPI_Sendrecv(nullptr, 0, MPI_INT, MPI_PROC_NULL, 3, buffer.base, buffer.count, buffer.type, from, tag, comm, &status);
      break;
    default:
      MPI_Recv(buffer.base, buffer.count, buffer.type, from, tag, comm, &status);
      break;
  }
  return status;
}

MPI_Request Lane::start_receive(const Transfer& transfer, const Operation& operation) {
  const BufferArguments buffer(operation);
  int from = transfer.any_source ? MPI_ANY_SOURCE : local_rank(transfer.communicator, transfer.source);
  int tag = transfer.any_tag ? MPI_ANY_TAG : transfer.tag;
  MPI_Comm comm = communicator(transfer);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  switch (transfer.receive_call) {
    case ReceiveCall::recv_init:
      MPI_Recv_init(buffer.base, buffer.count, buffer.type, from, tag, comm, &request);
      random_.chance(50) ? MPI_Start(&request) : MPI_Startall(1, &request);
      return request;
    case ReceiveCall::mprobe_imrecv:
    case ReceiveCall::improbe_imrecv: {
      MPI_Message message = matched_probe(transfer, status);
      MPI_Imrecv(buffer.base, buffer.count, buffer.type, &message, &request);
      if (message != MPI_MESSAGE_NULL) fail(&transfer, "MPI_Imrecv did not reset the message handle");
      return request;
    }
    case ReceiveCall::probe_irecv:
      status = probe(transfer);
      from = status.MPI_SOURCE;
      tag = status.MPI_TAG;
      break;
    default:
      break;
  }
  MPI_Irecv(buffer.base, buffer.count, buffer.type, from, tag, comm, &request);
  return request;
}

MPI_Status Lane::probe(const Transfer& transfer) {
  const int from = transfer.any_source ? MPI_ANY_SOURCE : local_rank(transfer.communicator, transfer.source);
  const int tag = transfer.any_tag ? MPI_ANY_TAG : transfer.tag;
  MPI_Status status;
  if (transfer.receive_call != ReceiveCall::iprobe_recv) {
    MPI_Probe(from, tag, communicator(transfer), &status);
    return status;
  }
  for (int found = 0; found == 0; busy(1)) MPI_Iprobe(from, tag, communicator(transfer), &found, &status);
  return status;
}

MPI_Message Lane::matched_probe(const Transfer& transfer, MPI_Status& status) {
  const int from = transfer.any_source ? MPI_ANY_SOURCE : local_rank(transfer.communicator, transfer.source);
  const int tag = transfer.any_tag ? MPI_ANY_TAG : transfer.tag;
  MPI_Message message = MPI_MESSAGE_NULL;
  const bool blocking = transfer.receive_call == ReceiveCall::mprobe_mrecv || transfer.receive_call == ReceiveCall::mprobe_imrecv;
  if (blocking) {
    MPI_Mprobe(from, tag, communicator(transfer), &message, &status);
    return message;
  }
  for (int found = 0; found == 0; busy(1)) MPI_Improbe(from, tag, communicator(transfer), &found, &message, &status);
  return message;
}

void Lane::check_envelope(const Transfer& transfer, const Layout& layout, const MPI_Status& status) {
  const int source = local_rank(transfer.communicator, transfer.source);
  if (status.MPI_SOURCE != source || status.MPI_TAG != transfer.tag) {
    fail(&transfer, "status says source %d tag %d, expected %d and %d", status.MPI_SOURCE, status.MPI_TAG, source, transfer.tag);
  }
  int count = -1;
  int elements = -1;
  int cancelled = -1;
  MPI_Count wide = -1;
  MPI_Get_count(&status, layout.type(), &count);
  MPI_Get_elements(&status, layout.type(), &elements);
  MPI_Get_elements_x(&status, layout.type(), &wide);
  MPI_Test_cancelled(&status, &cancelled);
  if (count != layout.expected_count(transfer.bytes())) {
    fail(&transfer, "MPI_Get_count says %d, expected %d", count, layout.expected_count(transfer.bytes()));
  }
  const int expected = layout.expected_elements(transfer.bytes());
  if (elements != expected || wide != expected) fail(&transfer, "MPI_Get_elements says %d, expected %d", elements, expected);
  if (cancelled != 0) fail(&transfer, "the receive counts as cancelled");
}

}  // namespace random_program
