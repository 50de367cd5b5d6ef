// A collective call that is ready to be carried by messages, and its forms: blocking, nonblocking and persistent.
//
// A form is a function object. `Call::prepare(site, arguments...)` answers what is to be carried, or nothing: then the host
// carries the call. `Call::prepare_short(site, arguments...)`, where there is one, answers a ShortCall, or nothing where the call
// does not go through lanes; `Call::carry_out_short` is the same of calls that have no nonblocking form there.
// `Call::needs(arguments...)`, where there is one, is what that needs (host_needs.hpp).
//
// A persistent call is prepared when it is made, as the other form decides it, so that all members agree. What of its contents
// is copied aside then is copied again at each start (persistent_collective.hpp).
#pragma once

#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "interpose/device/buffers.hpp"
#include "interpose/mpi/collective_orders.hpp"
#include "runtime/lane_calls.hpp"
#include "runtime/release/host_needs.hpp"

namespace sluice {

/// The buffers of a call.
struct PreparedBuffers {
  PreparedBuffers(Communicator& in, CallSite from) : communicator(in), site(from) {}

  // Complete, and where the processor reaches it: what a device has goes through host memory, on this rank alone.
  [[nodiscard]] UserBuffer read(const BufferArgument& buffer);
  [[nodiscard]] UserBuffer write(const BufferArgument& buffer);
  [[nodiscard]] UserBuffer exchange(const BufferArgument& buffer);
  /// A packed copy of what the processor reaches, instead of it.
  [[nodiscard]] UserBuffer copied(const UserBuffer& buffer);

  Communicator& communicator;
  CallSite site;
  std::vector<std::unique_ptr<std::byte[]>> kept;  // as CollectiveOrder
  std::unique_ptr<StagedReceive> staged;

  /// Contents that are used as they were when the call was started.
  struct CopiedAside {
    UserBuffer from;
    bool is_on_device = false;
    std::byte* to = nullptr;  // packed

    void copy(const char* call) const;
  };
  std::vector<CopiedAside> copied_aside;

 private:
  void copy_aside(const CopiedAside& what);
};

struct PreparedCollective : PreparedBuffers {
  using PreparedBuffers::PreparedBuffers;

  int carry_out();
  /// Where nobody has to wait for the program's thread.
  [[nodiscard]] bool can_be_started() const { return !order.own_operation; }
  /// The host repeats a short call in half of the time, as it has nothing to prepare.
  [[nodiscard]] bool is_worth_repeating() const;
  int start(MPI_Request* request);

  CollectiveOrder order;
  std::size_t agreed_bytes = 0;  // that all members know, of a block or of all; 0 where there is no such thing
};

/// A call through lanes, with its buffers as above.
template <typename Step>
struct ShortCall {
  PreparedBuffers prepared;
  Step step;
  std::size_t bytes = 0;  // of the result
  /// The block that this rank has for itself has two lengths: an error that only it can know. It takes part all the same, so that
  /// the members stay in step, and without that block, or without all of them.
  bool is_odd = false;

  int carry_out() {
    return concluded(prepared, engine().collectives().through_lanes(*prepared.communicator.team, step), bytes, is_odd);
  }
  int start(MPI_Request* request) {
    LaneOrder order{std::make_unique<Step>(std::move(step)), std::move(prepared.kept), bytes, is_odd};
    return start_in_lanes(prepared.communicator, std::move(order), std::move(prepared.staged), prepared.site, request);
  }
};

/// MPI's answer to a blocking call through lanes.
int concluded(PreparedBuffers& call, const std::optional<Mismatch>& mismatch, std::size_t bytes, bool is_odd);

/// False where the communicator has made too many: then the host carries it on all members.
bool make_persistent(PreparedCollective prepared, MPI_Request* request);

namespace forms {

template <typename Call, typename... Arguments>
HostNeeds needs_of(Arguments... arguments) {
  if constexpr (requires { Call::needs(arguments...); })
    return Call::needs(arguments...);
  else
    return HostNeeds(HostNeeds::Reach::everything);
}

template <auto host_call, typename Call>
struct Blocking {
  template <typename... Arguments>
  int operator()(CallSite site, Arguments... arguments) const {
    if constexpr (requires { Call::carry_out_short(site, arguments...); }) {
      if (const auto code = Call::carry_out_short(site, arguments...)) return *code;
    }
    if constexpr (requires { Call::prepare_short(site, arguments...); }) {
      if (auto call = Call::prepare_short(site, arguments...)) return call->carry_out();
    }
    if (auto prepared = Call::prepare(site, arguments...)) return prepared->carry_out();
    const HostCall call([&] { return needs_of<Call>(arguments...); });
    return (host().*host_call)(arguments...);
  }
};

template <typename Call, typename... Arguments>
concept HasShortForm = requires(CallSite site, Arguments... arguments) {
  Call::prepare_short(site, arguments...);
};

/// The request is the last argument.
template <auto host_call, typename Call>
struct Nonblocking {
  template <typename... Arguments>
  int operator()(CallSite site, Arguments... arguments) const {
    const auto all = std::make_tuple(arguments...);
    constexpr std::size_t last = sizeof...(Arguments) - 1;
    MPI_Request* const request = std::get<last>(all);
    const auto without_request = [&all](auto function) {
      return [&]<std::size_t... indices>(std::index_sequence<indices...>) { return function(std::get<indices>(all)...); }
      (std::make_index_sequence<last>());
    };
    if (request) {
      const auto code = without_request([&](auto... those) -> std::optional<int> {
        if constexpr (HasShortForm<Call, decltype(those)...>) {
          if (auto call = Call::prepare_short(site, those...)) return call->start(request);
        }
        return std::nullopt;
      });
      if (code) return *code;
      auto prepared = without_request([site](auto... those) { return Call::prepare(site, those...); });
      if (prepared && prepared->can_be_started()) return prepared->start(request);
    }
    const auto needs = [&] { return without_request([](auto... those) { return needs_of<Call>(those...); }); };
    return start_on_host(
        needs, [&] { return (host().*host_call)(arguments...); }, request);
  }
};

/// Info and request are the last arguments.
template <auto host_call, typename Call>
struct Persistent {
  template <typename... Arguments>
  int operator()(CallSite site, Arguments... arguments) const {
    const auto all = std::make_tuple(arguments...);
    constexpr std::size_t last = sizeof...(Arguments) - 1;
    if (MPI_Request* const request = std::get<last>(all)) {
      auto prepared = [&]<std::size_t... indices>(std::index_sequence<indices...>) {
        return Call::prepare(site, std::get<indices>(all)...);
      }
      (std::make_index_sequence<last - 1>());
      if (prepared && prepared->is_worth_repeating() && make_persistent(std::move(*prepared), request)) return MPI_SUCCESS;
    }
    const HostCall call;
    return (host().*host_call)(arguments...);
  }
};

}  // namespace forms
}  // namespace sluice
