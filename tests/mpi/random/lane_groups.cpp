// Events of more than two ranks: wildcards of unknown order, and collectives among the messages.
#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "lane.hpp"

namespace random_program {

/// With MPI_ANY_TAG a receive could take messages of other events: these are kept out by a barrier on either side.
void Lane::perform_wild(const Event& event) {
  const int destination = event.transfers[0].destination;
  if (!is_member_with(event.communicator, destination)) return;
  MPI_Comm comm = communicators_[event.communicator];
  if (event.any_tag) {
    wait_for_all();
    MPI_Barrier(comm);
  }
  if (destination == options_.rank) {
    busy(event.receiver_delay_us);
    receive_wild(event);
  } else {
    for (const auto& transfer : event.transfers) {
      if (transfer.source == options_.rank) send(transfer);
    }
  }
  if (event.any_tag) MPI_Barrier(comm);
}

namespace {

struct WildReceive {
  OperationPointer operation;
  MPI_Status status;
};

}  // namespace

/// Whatever order the sources come in, the messages of each source match the receives in the order in which they were sent.
void Lane::receive_wild(const Event& event) {
  std::vector<WildReceive> receives(event.transfers.size());
  std::vector<Pending> pending;
  const auto selector = [&](ReceiveCall call) {
    auto transfer = event.transfers[0];
    transfer.any_source = true;
    transfer.any_tag = event.any_tag;
    transfer.receive_call = call;
    return transfer;
  };
  static constexpr std::array calls{ReceiveCall::recv,       ReceiveCall::irecv,       ReceiveCall::irecv,
                                    ReceiveCall::probe_recv, ReceiveCall::iprobe_recv, ReceiveCall::probe_irecv};
  const bool mixed = random_.chance(50);
  auto call = random_.pick<ReceiveCall>(calls);
  for (std::size_t i = 0; i < receives.size(); ++i) {
    if (mixed) call = random_.pick<ReceiveCall>(calls);
    auto& [operation, status] = receives[i];
    operation = prepare(event.transfers[0], true);
    const auto transfer = selector(call);
    if (call == ReceiveCall::irecv || call == ReceiveCall::probe_irecv) {
      const MPI_Request request = start_receive(transfer, *operation);
      pending.push_back({request, false, true, [&status = status](const MPI_Status* found) { status = *found; }});
    } else {
      status = receive_blocking(transfer, *operation);
    }
  }
  complete_all(pending);

  std::map<int, std::size_t> next;  // by source: the position in event.transfers from which to look for its next message
  for (auto& [operation, status] : receives) {
    std::size_t& position = next[status.MPI_SOURCE];
    while (position < event.transfers.size() &&
           local_rank(event.communicator, event.transfers[position].source) != status.MPI_SOURCE) {
      ++position;
    }
    if (position == event.transfers.size()) fail(operation->transfer, "a message too many from source %d", status.MPI_SOURCE);
    operation->transfer = &event.transfers[position++];
    received(std::move(operation), &status);
  }
}

void Lane::perform_collective(const Event& event) {
  const auto mine = std::ranges::find_if(
      event.transfers, [&](const Transfer& transfer) { return is_member_with(event.communicator, transfer.destination); });
  const Transfer& transfer = *mine;
  MPI_Comm comm = communicators_[event.communicator];
  const auto members = script_.communicators[event.communicator].members(options_.rank);
  busy(options_.rank % 2 == 0 ? event.sender_delay_us : event.receiver_delay_us);
  MPI_Request request = MPI_REQUEST_NULL;
  switch (event.kind) {
    case EventKind::barrier:
      MPI_Barrier(comm);
      return;
    case EventKind::start_barrier:
      MPI_Ibarrier(comm, &request);
      outstanding_.push_back({request, false, false, [](const MPI_Status*) {}});
      return;
    case EventKind::sum:
      return perform_sum(comm, members, false);
    case EventKind::start_sum:
      return perform_sum(comm, members, true);
    default:
      break;
  }
  const bool root = transfer.destination == options_.rank;
  auto operation = prepare(transfer, true);
  if (event.kind == EventKind::relay_broadcast && transfer.source != transfer.destination) {
    if (transfer.source == options_.rank) send(transfer);
    if (root) receive_blocking(transfer, *operation);
  } else if (root) {
    fill(*operation);
  }
  const int root_rank = local_rank(event.communicator, transfer.destination);
  const int count = static_cast<int>(operation->elements);
  if (event.kind == EventKind::start_broadcast) {
    MPI_Ibcast(operation->slot.origin, count, operation->layout->type(), root_rank, comm, &request);
    outstanding_.push_back({request, false, false, [this, operation](const MPI_Status*) { finish(*operation); }});
    return;
  }
  MPI_Bcast(operation->slot.origin, count, operation->layout->type(), root_rank, comm);
  finish(*operation);
}

void Lane::perform_sum(MPI_Comm communicator, const std::vector<int>& members, bool nonblocking) {
  struct Sums {
    std::array<long, 8> mine;
    std::array<long, 8> total;
  };
  auto sums = std::make_shared<Sums>();
  for (std::size_t i = 0; i < sums->mine.size(); ++i) sums->mine[i] = (options_.rank + 1) * static_cast<long>(i + event_);
  const long ranks = std::accumulate(members.begin(), members.end(), std::ssize(members));
  const auto check = [this, sums, ranks, event = event_] {
    for (std::size_t i = 0; i < sums->total.size(); ++i) {
      if (sums->total[i] != ranks * static_cast<long>(i + event)) fail(nullptr, "a sum over all ranks is wrong");
    }
    digest_ += combine(static_cast<std::uint64_t>(sums->total[7]), event);
  };
  if (!nonblocking) {
    MPI_Allreduce(sums->mine.data(), sums->total.data(), 8, MPI_LONG, MPI_SUM, communicator);
    return check();
  }
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(sums->mine.data(), sums->total.data(), 8, MPI_LONG, MPI_SUM, communicator, &request);
  outstanding_.push_back({request, false, false, [check](const MPI_Status*) { check(); }});
}

}  // namespace random_program
