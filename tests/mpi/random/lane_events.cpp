// What each kind of event asks of one rank.
#include <algorithm>
#include <array>
#include <cstring>

#include "lane.hpp"

namespace random_program {

void Lane::perform(const Event& event) {
  switch (event.kind) {
    case EventKind::transfer:
      return perform_transfer(event);
    case EventKind::to_self:
      return perform_to_self(event);
    case EventKind::shift:
      return perform_shift(event);
    case EventKind::chain:
      return perform_chain(event);
    case EventKind::overwrite:
      return perform_overwrite(event);
    case EventKind::ready:
      return perform_ready(event);
    case EventKind::repeat:
      return perform_repeat(event);
    case EventKind::handed_on:
      return perform_handed_on(event);
    case EventKind::wild:
      return perform_wild(event);
    case EventKind::cancelled:
      return perform_cancelled(event);
    case EventKind::call:
      return perform_call(event);
    case EventKind::quiesce:
      wait_for_all();
      verify_late_buffers();
      join_threads();
      return check_successors();
    default:
      return perform_collective(event);
  }
}

void Lane::perform_transfer(const Event& event) {
  const Transfer& transfer = event.transfers[0];
  if (transfer.source == options_.rank) {
    busy(event.sender_delay_us);
    send(transfer);
  } else if (transfer.destination == options_.rank) {
    busy(event.receiver_delay_us);
    receive(transfer);
  }
}

/// Mostly into memory of its own, which can be given back or resized as well.
void Lane::perform_handed_on(const Event& event) {
  const Transfer& transfer = event.transfers[0];
  if (transfer.source == options_.rank) {
    busy(event.sender_delay_us);
    return send(transfer);
  }
  if (transfer.destination != options_.rank) return;
  auto operation = prepare(transfer, true, random_.chance(75) ? Memory::Placement::own : Memory::Placement::anywhere);
  receive_blocking(transfer, *operation);
  options_.touching_threads&& random_.chance(20) ? touch_elsewhere(std::move(operation)) : use(*operation);
}

void Lane::perform_to_self(const Event& event) {
  const Transfer& transfer = event.transfers[0];
  if (transfer.source != options_.rank) return;
  auto outgoing = prepare(transfer, false);
  auto incoming = prepare(transfer, true);
  fill(*outgoing);
  MPI_Status status;
  MPI_Request send_request = MPI_REQUEST_NULL;
  switch (random_.below(4)) {
    case 0: {
      MPI_Request request = start_receive(transfer, *incoming);
      send_blocking(transfer, *outgoing);
      status = complete(request);
      break;
    }
    case 1: {
      send_request = start_send(transfer, *outgoing);
      status = receive_blocking(transfer, *incoming);
      complete(send_request);
      break;
    }
    case 2: {
      send_request = start_send(transfer, *outgoing);
      auto by_probe = transfer;
      by_probe.receive_call = random_.chance(50) ? ReceiveCall::mprobe_mrecv : ReceiveCall::probe_recv;
      status = receive_blocking(by_probe, *incoming);
      complete(send_request);
      break;
    }
    default: {
      MPI_Request request = start_receive(transfer, *incoming);
      auto synchronous = transfer;
      synchronous.send_call = SendCall::issend;
      send_request = start_send(synchronous, *outgoing);
      complete(send_request);
      status = complete(request);
      break;
    }
  }
  finish_sent(*outgoing);
  received(std::move(incoming), &status);
}

void Lane::perform_shift(const Event& event) {
  const Transfer* outgoing = nullptr;
  const Transfer* incoming = nullptr;
  for (const auto& transfer : event.transfers) {
    if (transfer.source == options_.rank) outgoing = &transfer;
    if (transfer.destination == options_.rank) incoming = &transfer;
  }
  if (outgoing == nullptr) return;
  busy(event.sender_delay_us);
  auto sent = prepare(*outgoing, false);
  fill(*sent);
  const int to = local_rank(outgoing->communicator, outgoing->destination);
  const int from = local_rank(incoming->communicator, incoming->source);
  MPI_Comm comm = communicator(*outgoing);
  MPI_Status status;
  const auto choice = random_.below(4);
  if (choice == 0) {
    MPI_Sendrecv_replace(sent->slot.origin, static_cast<int>(sent->elements), sent->layout->type(), to, outgoing->tag, from,
                         incoming->tag, comm, &status);
    sent->transfer = incoming;
    return received(std::move(sent), &status);
  }
  auto got = prepare(*incoming, true);
  if (choice == 1) {
    MPI_Sendrecv(sent->slot.origin, static_cast<int>(sent->elements), sent->layout->type(), to, outgoing->tag, got->slot.origin,
                 static_cast<int>(got->elements), got->layout->type(), from, incoming->tag, comm, &status);
  } else if (choice == 2) {
    MPI_Request request = start_send(*outgoing, *sent);
    status = receive_blocking(*incoming, *got);
    complete(request);
  } else {
    MPI_Request request = start_receive(*incoming, *got);
    send_blocking(*outgoing, *sent);
    status = complete(request);
  }
  finish_sent(*sent);
  received(std::move(got), &status);
}

void Lane::perform_chain(const Event& event) {
  OperationPointer held;
  for (const auto& transfer : event.transfers) {
    if (transfer.source == options_.rank) {
      busy(event.sender_delay_us);
      if (!held) {
        send(transfer);
        continue;
      }
      MPI_Request request = start_send(transfer, *held);
      complete(request);
      finish(*held);
      held = nullptr;
    } else if (transfer.destination == options_.rank) {
      held = prepare(transfer, true);
      receive_blocking(transfer, *held);
    }
  }
  if (held) received(std::move(held), nullptr);
}

void Lane::perform_overwrite(const Event& event) {
  const Transfer& first = event.transfers[0];
  const Transfer& second = event.transfers[1];
  for (const auto& transfer : event.transfers) {
    if (transfer.source != options_.rank) continue;
    busy(event.sender_delay_us);
    send(transfer);
  }
  if (first.destination != options_.rank) return;
  auto operation = prepare(first, true);
  receive_blocking(first, *operation);
  receive_blocking(second, *operation);
  auto expected = contents_of(first);
  std::ranges::copy(contents_of(second), expected.begin());
  verify_contents(*operation, expected);
  add_to_digest(second);
  if (!memory_.release(operation->slot)) fail(&second, "data beside a buffer changed");
}

void Lane::perform_ready(const Event& event) {
  const Transfer& transfer = event.transfers[0];
  MPI_Comm comm = communicator(transfer);
  if (transfer.destination == options_.rank) {
    auto posted = transfer;
    posted.receive_call = ReceiveCall::irecv;
    auto operation = prepare(transfer, true);
    const MPI_Request request = start_receive(posted, *operation);
    MPI_Send(nullptr, 0, MPI_BYTE, local_rank(transfer.communicator, transfer.source), transfer.tag, comm);
    remember_receive(std::move(operation), request, false);
  } else if (transfer.source == options_.rank) {
    const int to = local_rank(transfer.communicator, transfer.destination);
    auto operation = prepare(transfer, false);
    fill(*operation);
    MPI_Recv(nullptr, 0, MPI_BYTE, to, transfer.tag, comm, MPI_STATUS_IGNORE);
    busy(event.sender_delay_us);
    const int count = static_cast<int>(operation->elements);
    MPI_Request request = MPI_REQUEST_NULL;
    const std::byte* data = operation->slot.origin;
    const auto choice = random_.below(3);
    if (choice == 0) {
      MPI_Rsend(data, count, operation->layout->type(), to, transfer.tag, comm);
      return finish_sent(*operation);
    }
    if (choice == 1) {
      MPI_Irsend(data, count, operation->layout->type(), to, transfer.tag, comm, &request);
    } else {
      MPI_Rsend_init(data, count, operation->layout->type(), to, transfer.tag, comm, &request);
      MPI_Start(&request);
    }
    remember_send(std::move(operation), request, choice == 2);
  }
}

void Lane::perform_repeat(const Event& event) {
  const Transfer& first = event.transfers[0];
  const bool sender = first.source == options_.rank;
  if (!sender && first.destination != options_.rank) return;
  auto model = first;
  model.send_call = random_.chance(50) ? SendCall::send_init : SendCall::ssend_init;
  model.receive_call = ReceiveCall::recv_init;
  auto operation = prepare(first, !sender);
  if (sender) fill(*operation);
  MPI_Request request = MPI_REQUEST_NULL;
  for (const auto& round : event.transfers) {
    operation->transfer = &round;
    busy(sender ? event.sender_delay_us : event.receiver_delay_us);
    if (sender && &round != &first) fill(*operation);
    if (&round == &first) {
      request = sender ? start_send(model, *operation) : start_receive(model, *operation);
    } else {
      random_.chance(50) ? MPI_Start(&request) : MPI_Startall(1, &request);
    }
    const MPI_Status status = complete(request, true);
    if (sender) continue;
    check_envelope(round, *operation->layout, status);
    verify(*operation);
    add_to_digest(round);
  }
  MPI_Request_free(&request);
  if (!memory_.release(operation->slot)) fail(&first, "data beside a buffer changed");
}

void Lane::perform_cancelled(const Event& event) {
  const Transfer& transfer = event.transfers[0];
  if (transfer.source != options_.rank) return;
  auto operation = prepare(transfer, true);
  auto posted = transfer;
  posted.receive_call = random_.chance(50) ? ReceiveCall::irecv : ReceiveCall::recv_init;
  posted.any_source = random_.chance(50);
  MPI_Request request = start_receive(posted, *operation);
  busy(event.receiver_delay_us);
  MPI_Cancel(&request);
  const MPI_Status status = complete(request, posted.receive_call == ReceiveCall::recv_init);
  int cancelled = 0;
  MPI_Test_cancelled(&status, &cancelled);
  if (cancelled == 0) fail(&transfer, "a receive that nobody sends to was not cancelled");
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  verify_contents(*operation, {});
  if (!memory_.release(operation->slot)) fail(&transfer, "data beside a buffer changed");
}

}  // namespace random_program
