// completions COUNTS REPEATS: what a completion call over an array of requests costs, in ns.
//
//   null, inactive   nothing can complete
//   pending          nothing does; `mixed`: nor does a generalized request at the end of the array, which stays the host's
//   one              the last of them has come
//   all              they have all come
//
// The last rank calls; the first sends, when it is told how many messages to send.
#include <algorithm>
#include <array>
#include <cstdio>

#include "bench.hpp"

namespace bench {

namespace {

constexpr int control = 32'000;  // tags below are those of the messages

struct Calls {
  explicit Calls(std::size_t count) : requests(count, MPI_REQUEST_NULL), values(count), indices(count), statuses(count) {}
  [[nodiscard]] int size() const { return static_cast<int>(requests.size()); }

  std::vector<MPI_Request> requests;
  std::vector<int> values;
  std::vector<int> indices;
  std::vector<MPI_Status> statuses;
  int flag = 0;
  int index = 0;
};

struct Call {
  const char* name;
  void (*make)(Calls&);
  bool waits;
};

constexpr std::array calls{
    Call{"Testall", [](Calls& c) { MPI_Testall(c.size(), c.requests.data(), &c.flag, c.statuses.data()); }, false},
    Call{"Testany", [](Calls& c) { MPI_Testany(c.size(), c.requests.data(), &c.index, &c.flag, c.statuses.data()); }, false},
    Call{"Testsome", [](Calls& c) { MPI_Testsome(c.size(), c.requests.data(), &c.flag, c.indices.data(), c.statuses.data()); },
         false},
    Call{"Test", [](Calls& c) { MPI_Test(&c.requests.back(), &c.flag, c.statuses.data()); }, false},
    Call{"Waitall", [](Calls& c) { MPI_Waitall(c.size(), c.requests.data(), c.statuses.data()); }, true},
    Call{"Waitany", [](Calls& c) { MPI_Waitany(c.size(), c.requests.data(), &c.index, c.statuses.data()); }, true},
    Call{"Waitsome", [](Calls& c) { MPI_Waitsome(c.size(), c.requests.data(), &c.flag, c.indices.data(), c.statuses.data()); },
         true},
};

/// The median of several batches.
double time_of_polls(const Call& call, Calls& c, int repeats) {
  constexpr int batches = 9;
  std::vector<double> times;
  for (int batch = 0; batch < batches; ++batch) {
    const double start = now();
    for (int i = 0; i < repeats; ++i) call.make(c);
    times.push_back((now() - start) / repeats * 1e9);
  }
  return median(times);
}

void show(const char* situation, const Call& call, std::size_t count, double ns) {
  std::printf("%s_%s_%zu %.1f ns\n", situation, call.name, count, ns);
  std::fflush(stdout);
}

void post(Calls& c) {
  for (std::size_t i = 0; i < c.requests.size(); ++i) {
    if (c.requests[i] == MPI_REQUEST_NULL)
      MPI_Irecv(&c.values[i], 1, MPI_INT, 0, static_cast<int>(i), MPI_COMM_WORLD, &c.requests[i]);
  }
}

/// The first rank sends those from `first` on.
void have_sent(std::size_t first, std::size_t count) {
  int range[2] = {static_cast<int>(first), static_cast<int>(count)};
  MPI_Send(range, 2, MPI_INT, 0, control, MPI_COMM_WORLD);
  if (count != 0) MPI_Recv(range, 1, MPI_INT, 0, control, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void send_as_told() {
  for (;;) {
    int range[2];
    MPI_Recv(range, 2, MPI_INT, ranks() - 1, control, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (range[1] == 0) return;
    for (int i = range[0]; i < range[1]; ++i) MPI_Send(&i, 1, MPI_INT, ranks() - 1, i, MPI_COMM_WORLD);
    MPI_Send(range, 1, MPI_INT, ranks() - 1, control, MPI_COMM_WORLD);
  }
}

/// The messages from `first` on have come before each call.
double time_of_completions(const Call& call, Calls& c, std::size_t first, int repeats) {
  std::vector<double> times;
  for (int i = 0; i < repeats; ++i) {
    post(c);
    have_sent(first, c.requests.size());
    const double start = now();
    call.make(c);
    times.push_back((now() - start) * 1e9);
    for (std::size_t k = first; k < c.requests.size(); ++k) MPI_Wait(&c.requests[k], MPI_STATUS_IGNORE);
  }
  return median(times);
}

MPI_Request generalized() {
  const auto query = [](void*, MPI_Status* status) {
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    return MPI_Status_set_cancelled(status, 0);
  };
  const auto release = [](void*) { return MPI_SUCCESS; };
  const auto cancel = [](void*, int) { return MPI_SUCCESS; };
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Grequest_start(query, release, cancel, nullptr, &request);
  return request;
}

void measure_pending(std::size_t count, int repeats) {
  const int polls = std::max(20, repeats * 64 / static_cast<int>(count + 16));
  Calls c(count);
  for (const Call& call : calls) {
    if (!call.waits) show("null", call, count, time_of_polls(call, c, polls));
  }
  for (MPI_Request& request : c.requests) MPI_Recv_init(c.values.data(), 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
  for (const Call& call : calls) {
    if (!call.waits) show("inactive", call, count, time_of_polls(call, c, polls));
  }
  for (MPI_Request& request : c.requests) MPI_Request_free(&request);
  post(c);
  for (const Call& call : calls) {
    if (!call.waits) show("pending", call, count, time_of_polls(call, c, polls));
  }
  const MPI_Request of_the_host = generalized();
  c.requests.push_back(of_the_host);
  c.indices.resize(count + 1);
  c.statuses.resize(count + 1);
  for (const Call& call : calls) {
    if (!call.waits) show("mixed", call, count, time_of_polls(call, c, polls));
  }
  have_sent(0, count);
  have_sent(0, 0);
  MPI_Grequest_complete(of_the_host);
  MPI_Waitall(c.size(), c.requests.data(), MPI_STATUSES_IGNORE);
}

void measure_completions(std::size_t count, int repeats) {
  Calls c(count);
  for (const Call& call : calls) {
    if (std::string(call.name) != "Waitall" && std::string(call.name) != "Testall")
      show("one", call, count, time_of_completions(call, c, count - 1, repeats));
  }
  post(c);
  have_sent(0, count);
  MPI_Waitall(c.size(), c.requests.data(), MPI_STATUSES_IGNORE);
  for (const Call& call : calls) show("all", call, count, time_of_completions(call, c, 0, repeats));
  have_sent(0, 0);
}

}  // namespace

void completions(Arguments arguments) {
  const int repeats = std::stoi(argument(arguments, 1, "200"));
  for (const std::size_t count : sizes(arguments, 0, "1,16,64,1024")) {
    if (rank() == ranks() - 1) {
      measure_pending(count, repeats);
      measure_completions(count, repeats);
    } else if (rank() == 0) {
      send_as_told();  // for what is pending
      send_as_told();  // for what is complete
    }
  }
}

}  // namespace bench
