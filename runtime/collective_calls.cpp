#include "runtime/collective_calls.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "runtime/base/fatal.hpp"
#include "runtime/collective_call.hpp"

namespace sluice {
namespace {

/// Messages that no receive waits for are looked through once, after so many rounds in which nothing moved or came.
constexpr unsigned rounds_per_look = 64;

/// For the trace: apart from those of other calls, for a long time.
std::uint32_t number_of(const PersistentStart& start) {
  constexpr unsigned bits_of_starts = 16;
  return (CollectiveTags::persistent_numbers | start.number) << bits_of_starts | (start.starts & ((1U << bits_of_starts) - 1));
}

/// `own`: the context whose channel this is.
trace::CollectiveTrace::Call describe(const Context& own, const CollectiveOrder& order, bool waits) {
  const auto bytes_of = [](const std::vector<UserBuffer>& buffers) {
    return std::accumulate(buffers.begin(), buffers.end(), std::uint64_t{0},
                           [](std::uint64_t sum, const UserBuffer& buffer) { return sum + buffer.bytes(); });
  };
  return {.kind = order.kind,
          .communicator = own.id(),
          .first = own.peer(Rank{0}),
          .number = order.persistent ? number_of(*order.persistent) : own.channel->collective_calls,
          .bytes = std::max(bytes_of(order.buffers.operand), bytes_of(order.buffers.result)),
          .root = order.root ? own.peer(*order.root) : trace::CollectiveTrace::no_peer,
          .ranks = static_cast<std::uint32_t>(own.size()),
          .how = waits ? std::uint16_t{0} : trace::collective_nonblocking};
}

}  // namespace

CollectiveOrder CollectiveOrder::again() const {
  CollectiveOrder order;
  order.schedule = schedule;
  order.buffers = buffers;
  order.reduction = reduction;
  order.fingerprint = fingerprint;
  order.kind = kind;
  order.root = root;
  order.bytes = bytes;
  order.persistent = persistent;
  return order;
}

CollectiveCalls::CollectiveCalls(const Parts& parts) : parts_(parts) {}

CollectiveCalls::~CollectiveCalls() = default;

/// What comes early for it is kept by the matcher.
Context& CollectiveCalls::channel_of(Context& context) {
  if (!context.channel) {
    std::vector<Peer> group;
    for (std::size_t rank = 0; rank < context.size(); ++rank) group.push_back(context.peer(Rank{static_cast<int>(rank)}));
    context.channel = &parts_.matcher.adopt(channel_id(context.id()), std::move(group), context.self());
    context.channel->is_channel = true;
    context.channel->errors_return = context.errors_return;
  }
  context.channel->rendezvous = context.rendezvous;
  return *context.channel;
}

CollectiveCall& CollectiveCalls::make(Context& context, CollectiveOrder order, CallSite site, bool waits) {
  ++parts_.statistics.collective_calls;
  Context& channel = channel_of(context);
  std::optional<trace::CollectiveTrace::Call> traced;
  if (trace::on()) [[unlikely]]
    traced = describe(context, order, waits);
  const CollectiveRun::Tags tags = order.persistent
                                       ? CollectiveRun::Tags::of_persistent(order.persistent->number, order.fingerprint)
                                       : CollectiveRun::Tags(channel.collective_calls++, order.fingerprint);
  rounds_without_news_ = 0;
  calls_.push_back(std::make_unique<CollectiveCall>(
      parts_, memory_, std::move(order), CollectiveCall::Start{.channel = channel, .tags = tags, .site = site, .waits = waits}));
  if (traced) calls_.back()->begin_trace(*traced);
  return *calls_.back();
}

CollectiveCall& CollectiveCalls::begin(Context& context, CollectiveOrder order, CallSite site) {
  return make(context, std::move(order), site, true);
}

/// The call is complete. One that has failed keeps its memory, in which messages may be under way.
void CollectiveCalls::conclude(CollectiveCall& call) {
  Request& request = call.request();
  if (const auto odd_one = call.run().odd_one()) {
    request.failure = Failure::truncated;
    request.message_bytes = request.limit;
    report("%s: rank %d of the communicator is in another collective call, or in one of another length", request.site.function(),
           static_cast<int>(*odd_one));
  }
  if (call.traced()) call.traced()->end(call.has_failed() || call.run().odd_one().has_value());
  const auto place = std::find_if(calls_.begin(), calls_.end(), [&](const auto& one) { return one.get() == &call; });
  if (call.has_failed()) failed_.push_back(std::move(*place));
  calls_.erase(place);
  parts_.requests.finish(&request);
}

Outcome CollectiveCalls::end(CollectiveCall& call) {
  Request& request = call.request();
  if (!call.is_over()) {
    call.check_released();
    call.run().finish();
  }
  conclude(call);
  return parts_.requests.take(&request);
}

void CollectiveCalls::leave(CollectiveCall& call) {
  call.is_left();
  rounds_without_news_ = 0;
  parts_.requests.detach(&call.request());
}

std::optional<std::uint32_t> CollectiveCalls::make_persistent(Context& context) {
  Context& channel = channel_of(context);
  if (channel.persistent_calls == CollectiveTags::persistent_numbers) return std::nullopt;
  parts_.matcher.keep(context);
  parts_.matcher.keep(channel);
  return channel.persistent_calls++;
}

void CollectiveCalls::unmake_persistent(Context& context) {
  parts_.matcher.let_go(context.channel);
  parts_.matcher.let_go(&context);
}

Request* CollectiveCalls::start(Lock& lock, Context& context, CollectiveOrder order, CallSite site) {
  CollectiveCall& call = make(context, std::move(order), site, false);
  Request& request = call.request();
  call.advance();
  while (call.run().has_work()) {
    call.work(lock);
    call.advance();
  }
  if (call.traced()) call.traced()->is_begun();
  if (call.is_over()) conclude(call);
  return &request;
}

bool CollectiveCalls::advance(Lock& lock) {
  bool moved = false;
  for (std::size_t i = 0; i < calls_.size();) {
    CollectiveCall& call = *calls_[i];
    if (call.is_waited_in() || call.is_busy()) {
      ++i;
      continue;
    }
    moved |= call.advance();
    if (call.run().has_work()) {
      call.work(lock);
      return true;  // the list may be another one by now
    }
    if (call.is_over()) {
      conclude(call);
      moved = true;
    } else {
      ++i;
    }
  }
  if (moved) {
    rounds_without_news_ = 0;
  } else if (rounds_without_news_ != rounds_per_look && ++rounds_without_news_ == rounds_per_look) {
    look_for_odd_ones();
  }
  return moved;
}

bool CollectiveCalls::is_at_rest() const { return rounds_without_news_ == rounds_per_look && !has_work() && !has_duties(); }

void CollectiveCalls::look_for_odd_ones() {
  for (const auto& call : calls_) {
    if (!call->is_busy() && !call->is_over()) call->look_for_odd_one();
  }
}

bool CollectiveCalls::has_work() const {
  return std::any_of(calls_.begin(), calls_.end(), [](const auto& call) { return !call->is_waited_in() && call->has_work(); });
}

bool CollectiveCalls::has_duties() const {
  return std::any_of(calls_.begin(), calls_.end(),
                     [](const auto& call) { return !call->is_waited_in() && !call->is_busy() && call->run().has_more_rounds(); });
}

}  // namespace sluice
