// Every way to wait for requests, over random subsets, Sluice's and the host's mixed, null requests among them.
#include <sched.h>

#include <algorithm>
#include <numeric>

#include "lane.hpp"

namespace random_program {

namespace {

enum class WaitCall { wait, waitall, waitany, waitsome, test, testall, testany, testsome, get_status, count };

/// Polling with more ranks than cores: let the others run.
template <typename Poll>
void poll_until(Poll poll) {
  for (int done = 0; done == 0; sched_yield()) done = poll();
}

/// What one call reported: indices of completed requests, with their statuses unless these were ignored.
struct Completion {
  std::vector<MPI_Request> requests;
  std::vector<std::size_t> completed;
  std::vector<MPI_Status> statuses;  // one per entry of `completed`, or empty
};

void complete_one(Completion& work, WaitCall call) {
  MPI_Status status;
  int index = 0;
  const int count = static_cast<int>(work.requests.size());
  switch (call) {
    case WaitCall::wait:
      MPI_Wait(work.requests.data(), &status);
      break;
    case WaitCall::test:
      poll_until([&, flag = 0]() mutable { return MPI_Test(work.requests.data(), &flag, &status), flag; });
      break;
    case WaitCall::get_status:
      poll_until([&, flag = 0]() mutable { return MPI_Request_get_status(work.requests[0], &flag, &status), flag; });
      MPI_Wait(work.requests.data(), &status);
      break;
    case WaitCall::testany:
      poll_until([&, flag = 0]() mutable { return MPI_Testany(count, work.requests.data(), &index, &flag, &status), flag; });
      break;
    default:
      MPI_Waitany(count, work.requests.data(), &index, &status);
      break;
  }
  work.completed = {static_cast<std::size_t>(index)};
  work.statuses = {status};
}

void complete_several(Completion& work, WaitCall call, bool ignore_statuses) {
  const int count = static_cast<int>(work.requests.size());
  work.statuses.resize(work.requests.size());
  MPI_Status* statuses = ignore_statuses ? MPI_STATUSES_IGNORE : work.statuses.data();
  std::vector<int> indices(work.requests.size());
  int done = count;
  std::iota(indices.begin(), indices.end(), 0);
  switch (call) {
    case WaitCall::waitall:
      MPI_Waitall(count, work.requests.data(), statuses);
      break;
    case WaitCall::testall:
      poll_until([&, flag = 0]() mutable { return MPI_Testall(count, work.requests.data(), &flag, statuses), flag; });
      break;
    case WaitCall::waitsome:
      MPI_Waitsome(count, work.requests.data(), &done, indices.data(), statuses);
      break;
    default:
      poll_until([&] { return MPI_Testsome(count, work.requests.data(), &done, indices.data(), statuses), done; });
      break;
  }
  work.completed.assign(indices.begin(), indices.begin() + done);
  if (ignore_statuses) work.statuses.clear();
}

}  // namespace

/// Hands every completed request to its owner; the others stay in `pending`.
void Lane::settle_completed(std::vector<Pending>& pending, const std::vector<std::size_t>& chosen,
                            const std::vector<std::size_t>& completed, const std::vector<MPI_Request>& requests,
                            const std::vector<MPI_Status>* statuses) {
  std::vector<Pending> done;
  std::vector<MPI_Status> done_statuses;
  for (std::size_t i = 0; i < completed.size(); ++i) {
    const std::size_t position = completed[i];
    if (position >= chosen.size()) continue;  // one of the null requests of Waitall
    Pending& entry = pending[chosen[position]];
    entry.request = requests[position];
    if (entry.persistent == (entry.request == MPI_REQUEST_NULL)) fail(nullptr, "a completed request has the wrong handle");
    if (entry.persistent) MPI_Request_free(&entry.request);
    done.push_back(std::move(entry));
    done_statuses.push_back(statuses != nullptr ? (*statuses)[i] : MPI_Status{});
    entry.done = nullptr;
  }
  std::erase_if(pending, [](const Pending& entry) { return entry.done == nullptr; });
  for (std::size_t i = 0; i < done.size(); ++i) done[i].done(statuses != nullptr ? &done_statuses[i] : nullptr);
}

void Lane::complete_some(std::vector<Pending>& pending) {
  if (pending.empty()) return;
  auto call = static_cast<WaitCall>(random_.below(static_cast<std::size_t>(WaitCall::count)));
  std::vector<std::size_t> chosen(pending.size());
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  random_.shuffle(chosen);
  const bool single = call == WaitCall::wait || call == WaitCall::test || call == WaitCall::get_status;
  chosen.resize(single ? 1 : random_.between(1, chosen.size()));

  Completion work;
  bool wants_status = false;
  for (const std::size_t index : chosen) {
    work.requests.push_back(pending[index].request);
    wants_status = wants_status || pending[index].wants_status;
  }
  const bool several =
      call == WaitCall::waitall || call == WaitCall::testall || call == WaitCall::waitsome || call == WaitCall::testsome;
  if (!single && random_.chance(25)) work.requests.push_back(MPI_REQUEST_NULL);
  if (several) {
    complete_several(work, call, !wants_status && random_.chance(25));
  } else {
    complete_one(work, call);
  }
  settle_completed(pending, chosen, work.completed, work.requests, work.statuses.empty() ? nullptr : &work.statuses);
}

void Lane::complete_all(std::vector<Pending>& pending) {
  while (!pending.empty()) complete_some(pending);
}

void Lane::wait_for_some() { complete_some(outstanding_); }

void Lane::wait_for_all() { complete_all(outstanding_); }

/// One request, by whatever call; returns its status.
MPI_Status Lane::complete(MPI_Request& request, bool persistent) {
  Completion work;
  work.requests = {request};
  const auto call = static_cast<WaitCall>(random_.below(static_cast<std::size_t>(WaitCall::count)));
  const bool several =
      call == WaitCall::waitall || call == WaitCall::testall || call == WaitCall::waitsome || call == WaitCall::testsome;
  if (several) {
    complete_several(work, call, false);
  } else {
    complete_one(work, call);
  }
  request = work.requests[0];
  if (persistent == (request == MPI_REQUEST_NULL)) fail(nullptr, "a completed request has the wrong handle");
  return work.statuses[0];
}

}  // namespace random_program
