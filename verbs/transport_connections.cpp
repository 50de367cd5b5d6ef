// Connections: how they begin and end (verbs/endpoint.hpp has the table).

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "net/supervision.hpp"
#include "net/system.hpp"
#include "runtime/base/clock.hpp"
#include "verbs/transport.hpp"
#include "verbs/watch_tags.hpp"

namespace sluice {
namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;

}  // namespace

VerbsTransport::VerbsTransport(const Options& options, std::unique_ptr<VerbsQueues> queues, Listener listener, Job job)
    : options_(options),
      queues_(std::move(queues)),
      device_(queues_->device()),
      job_(std::move(job)),
      endpoints_(job_.addresses.size()),
      max_rings_(max_rings(options)),
      helper_epoll_(system::new_epoll()),
      connector_(
          {.self = options.self,
           .ranks = static_cast<std::uint32_t>(job_.addresses.size()),
           .secret = options.secret,
           .timeout_seconds = options.handshake_seconds},
          std::move(listener),
          {.is_connected = [this](Peer peer) { return is_connected(peer); },
           .connected = [this](Peer peer, Descriptor socket) { greet(peer, std::move(socket)); },
           .unreachable = [this](Peer peer, const std::string& why) { lose(endpoint(peer), "it cannot be reached: " + why); }}) {
  const auto add = [this](int descriptor, std::uint32_t events, std::uint64_t tag) {
    checked(system::epoll_control(helper_epoll_.get(), EPOLL_CTL_ADD, descriptor, events, tag), "epoll_ctl");
  };
  add(bell_.descriptor(), EPOLLIN, watch_tags::bell);
  add(connector_.descriptor(), EPOLLIN, watch_tags::listeners);
  add(queues_->channel()->fd, EPOLLONESHOT, watch_tags::channel);
  add(device_.context()->async_fd, EPOLLIN, watch_tags::adapter);
}

VerbsTransport::~VerbsTransport() = default;

VerbsTransport::Endpoint& VerbsTransport::endpoint(Peer peer) {
  auto& slot = endpoints_[static_cast<std::size_t>(peer)];
  if (!slot) {
    const auto index = static_cast<std::size_t>(peer);
    slot = std::make_unique<Endpoint>(peer, index < job_.shares_memory.size() && job_.shares_memory[index]);
  }
  return *slot;
}

bool VerbsTransport::is_connected(Peer peer) const {
  const auto index = static_cast<std::size_t>(peer);
  return index < endpoints_.size() && endpoints_[index] && endpoints_[index]->state > Endpoint::State::calling;
}

const QueuePair* VerbsTransport::queue_pair(Peer peer) const {
  const auto& found = endpoints_[static_cast<std::size_t>(peer)];
  return found && found->state == Endpoint::State::open ? &*found->queue_pair : nullptr;
}

RemoteMemory VerbsTransport::ring_of(Peer peer) const {
  const auto& found = endpoints_[static_cast<std::size_t>(peer)];
  if (!found || found->state != Endpoint::State::open || !found->words || found->words->theirs.open == 0) return {};
  return {found->words->theirs.address, found->words->theirs.key};
}

void VerbsTransport::call(Endpoint& endpoint) {
  endpoint.state = Endpoint::State::calling;
  const auto rank = static_cast<std::size_t>(endpoint.peer);
  connector_.call(endpoint.peer,
                  Connector::destinations_of(job_.endpoints[rank], job_.endpoints[static_cast<std::size_t>(options_.self)],
                                             job_.on_this_host[rank]));
  note_deadline();
  wake_helper();
}

void VerbsTransport::greet(Peer peer, Descriptor socket) {
  Endpoint& met = endpoint(peer);
  met.state = Endpoint::State::greeted;
  met.socket = std::move(socket);
  tune_socket(met.socket.get(), options_.handshake_seconds);
  system::epoll_control(helper_epoll_.get(), EPOLL_CTL_ADD, met.socket.get(), EPOLLIN,
                        watch_tags::first_peer + static_cast<std::uint64_t>(peer));
  try {
    met.queue_pair.emplace(*queues_);
    by_queue_pair_.emplace(met.queue_pair->number(), &met);
    met.sends.open(met.queue_pair->get(), queues_->slots());
    if (!met.shares_memory) {
      met.words = &queues_->ring_words(connections_++);
      queues_->buffers().grow();
    }
  } catch (const std::exception& error) {
    return lose(met, std::string("this process cannot connect to it: ") + error.what());
  }
  say(met, VerbsHello::Step::hello);
  if (said_goodbye_) say(met, VerbsHello::Step::goodbye);
}

void VerbsTransport::say(Endpoint& endpoint, VerbsHello::Step step) {
  VerbsHello hello{.step = step,
                   .queue_pair = endpoint.queue_pair->number(),
                   .packet_number = endpoint.queue_pair->packet_number(),
                   .window = VerbsQueues::window,
                   .buffer_bytes = verbs_slot::bytes};
  if (max_rings_ != 0 && endpoint.words) {
    hello.ring_words = queues_->ring_words_memory().remote(endpoint.words);
    hello.ring_slots = eager_ring::slots;
  }
  const VerbsHello::Wire bytes = hello.encode();
  // Three records at most are ever said on this socket: they fit into its buffer.
  if (system::send(endpoint.socket.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
    lose(endpoint, std::string("its connection failed: ") + std::strerror(errno));
  }
}

void VerbsTransport::hear(Endpoint& endpoint) {
  while (endpoint.socket) {
    const std::span<std::byte> rest = std::span(endpoint.heard).subspan(endpoint.heard_bytes);
    const ssize_t bytes = system::receive(endpoint.socket.get(), rest.data(), rest.size());
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (bytes == 0 || (bytes < 0 && errno == ECONNRESET)) {
      return lose(endpoint, "its connection was closed: its process ended without MPI_Finalize");
    }
    if (bytes < 0) return lose(endpoint, std::string("its connection failed: ") + std::strerror(errno));
    endpoint.heard_bytes += static_cast<std::size_t>(bytes);
    if (endpoint.heard_bytes < endpoint.heard.size()) continue;
    endpoint.heard_bytes = 0;
    const std::optional<VerbsHello> hello = VerbsHello::decode(endpoint.heard);
    if (!hello) return lose(endpoint, "what it says of its queue pair cannot be understood");
    on_hello(endpoint, *hello);
  }
}

void VerbsTransport::on_hello(Endpoint& endpoint, const VerbsHello& hello) {
  if (hello.step == VerbsHello::Step::goodbye) {
    endpoint.heard_goodbye = true;
  } else if (endpoint.state == Endpoint::State::greeted && hello.step == VerbsHello::Step::hello) {
    if (hello.buffer_bytes != verbs_slot::bytes) {
      return lose(endpoint, "it has buffers of " + std::to_string(hello.buffer_bytes) + " bytes, this process of " +
                                std::to_string(verbs_slot::bytes));
    }
    endpoint.credits = Credits(hello.window, VerbsQueues::window);
    // Rings only where both sides have them: who writes into one must see at once when it is closed.
    if (max_rings_ != 0 && endpoint.words && hello.ring_slots != 0) {
      endpoint.peer_words = hello.ring_words;
      endpoint.to_ring = RingSender(*endpoint.words, hello.ring_slots);
      endpoint.ring_credits = Credits(hello.ring_slots, eager_ring::slots);
    }
    try {
      const VerbsAddress& address = job_.addresses[static_cast<std::size_t>(endpoint.peer)];
      endpoint.queue_pair->connect(address, hello, QueuePair::timeout_code(options_.retry_seconds));
    } catch (const std::exception& error) {
      return lose(endpoint, std::string("this process cannot connect to it: ") + error.what());
    }
    endpoint.state = Endpoint::State::proving;
    say(endpoint, VerbsHello::Step::ready);
  } else if (endpoint.state == Endpoint::State::proving && hello.step == VerbsHello::Step::ready) {
    endpoint.state = Endpoint::State::open;
    ++counts_.connections;
  } else {
    lose(endpoint, "it greets out of turn");
  }
}

void VerbsTransport::hear_adapter() {
  ibv_async_event event{};
  while (device_.library().get_async_event(device_.context(), &event) == 0) {
    on_adapter_event(event);
    device_.library().ack_async_event(&event);
  }
}

void VerbsTransport::on_adapter_event(const ibv_async_event& event) {
  const std::string what = device_.description() + ": " + device_.library().event_type_str(event.event_type);
  switch (event.event_type) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED: {  // in error, whoever put it there

      const auto found = by_queue_pair_.find(event.element.qp->qp_num);
      if (found != by_queue_pair_.end()) lose_queue_pair(*found->second, "its connection failed: " + what);
      return;
    }
    case IBV_EVENT_CQ_ERR:
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_DEVICE_FATAL:
      // Nobody can be reached any more, whoever is named first.
      for (const auto& endpoint : endpoints_) {
        if (endpoint && endpoint->state > Endpoint::State::calling)
          lose(*endpoint, "the adapter of this process failed: " + what);
      }
      return;
    default:
      // A port that goes down may come back within the time of the retries; if it does not, they say so.
      return;
  }
}

/// What the peer has said before, and the end of its process, tell more than what has become of the queue pair.
void VerbsTransport::lose_queue_pair(Endpoint& endpoint, const std::string& cause) {
  hear(endpoint);
  lose(endpoint, cause);
}

void VerbsTransport::lose(Endpoint& endpoint, const std::string& cause) {
  if (endpoint.state == Endpoint::State::failed) return;
  endpoint.state = Endpoint::State::failed;
  endpoint.socket.reset();  // and thereby leaves the epoll set
  if (endpoint.shares_memory) {
    if (endpoint.queue_pair) failed_.push_back(&endpoint);
    wake_helper();
    return;
  }
  if (!endpoint.heard_goodbye) return vanish(endpoint.peer, cause);
  if (static_cast<int>(parted_) >= 0) return;
  parted_ = endpoint.peer;
  parted_deadline_ = now_ns() + options_.handshake_seconds * second_ns;
  note_deadline();
  wake_helper();
}

/// Of peers on this node, whose connections have failed. Without a queue pair the adapter uses no memory for it any more; not in
/// `lose`, which may be called while completions of that queue pair are handled, and where nobody can be told.
int VerbsTransport::end_failed_reads(MessageSink& sink) {
  int told = 0;
  for (Endpoint* endpoint : std::exchange(failed_, {})) {
    by_queue_pair_.erase(endpoint->queue_pair->number());
    endpoint->queue_pair.reset();
    endpoint->sends.abandon([&](const SendQueue::Done& done) {
      if (done.token == 0) return;
      sink.on_transfer_failed(done.token);
      ++told;
    });
  }
  return told;
}

void VerbsTransport::vanish(Peer peer, const std::string& cause) {
  if (leaving_.load(std::memory_order_relaxed) || static_cast<int>(vanished()) >= 0) return;
  std::snprintf(cause_.data(), cause_.size(), "%s", cause.c_str());
  vanished_.store(peer, std::memory_order_release);
  wake_helper();
}

void VerbsTransport::say_goodbye() {
  said_goodbye_ = true;
  for (const auto& endpoint : endpoints_) {
    if (endpoint && endpoint->state > Endpoint::State::calling && endpoint->state != Endpoint::State::failed)
      say(*endpoint, VerbsHello::Step::goodbye);
  }
}

}  // namespace sluice
