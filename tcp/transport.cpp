#include "tcp/transport.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "net/system.hpp"
#include "runtime/base/clock.hpp"

namespace sluice {
namespace {

/// With so many connections, reading each in vain is as cheap as asking which of them has something.
constexpr std::size_t few_links = 2;
constexpr std::uint64_t second_ns = 1'000'000'000;

/// The helper thread takes so much of a frame at a time: all of it, unless it is a whole message of an announcement.
constexpr std::size_t helper_bytes = std::size_t{128} << 10;

// Tags in the helper thread's epoll set.
constexpr std::uint64_t bell_tag = 0;
constexpr std::uint64_t listeners_tag = 1;
constexpr std::uint64_t links_tag = 2;

std::string cause_of(const Connection& connection, Connection::Arrival arrival) {
  if (arrival == Connection::Arrival::damaged) {
    return "what came over its connection is no message: " + frame::explain(connection.damaged_header(), Connection::max_payload);
  }
  const int error = connection.error();
  if (error == 0 || error == ECONNRESET || error == EPIPE)
    return "its connection was closed: its process ended without MPI_Finalize";
  return std::string("its connection failed: ") + std::strerror(error);
}

}  // namespace

TcpTransport::TcpTransport(const Options& options, Listener listener, std::vector<TcpEndpoint> endpoints,
                           std::vector<bool> on_this_host)
    : options_(options),
      endpoints_(std::move(endpoints)),
      on_this_host_(std::move(on_this_host)),
      links_(endpoints_.size()),
      links_epoll_(system::new_epoll()),
      helper_epoll_(system::new_epoll()),
      connector_(
          {.self = options.self,
           .ranks = static_cast<std::uint32_t>(endpoints_.size()),
           .secret = options.secret,
           .timeout_seconds = options.timeout_seconds},
          std::move(listener),
          {.is_connected = [this](Peer peer) { return is_connected(peer); },
           .connected = [this](Peer peer, Descriptor socket) { open(peer, std::move(socket)); },
           .unreachable = [this](Peer peer, const std::string& why) { lose(link(peer), "it cannot be reached: " + why); }}) {
  const auto add = [this](int descriptor, std::uint32_t events, std::uint64_t tag) {
    checked(system::epoll_control(helper_epoll_.get(), EPOLL_CTL_ADD, descriptor, events, tag), "epoll_ctl");
  };
  add(bell_.descriptor(), EPOLLIN, bell_tag);
  add(connector_.descriptor(), EPOLLIN, listeners_tag);
  add(links_epoll_.get(), EPOLLONESHOT, links_tag);
}

TcpTransport::~TcpTransport() = default;

TcpTransport::Statistics TcpTransport::statistics() const {
  Statistics sum{connections_, connector_.rejected(), {}};
  for (const auto& link : links_) {
    if (!link) continue;
    const Connection::Counts& counts = link->connection.counts();
    sum.counts.messages_sent += counts.messages_sent;
    sum.counts.bytes_sent += counts.bytes_sent;
    sum.counts.messages_received += counts.messages_received;
    sum.counts.bytes_received += counts.bytes_received;
  }
  return sum;
}

// --- connections -----------------------------------------------------------------------------------------------------------

TcpTransport::Link& TcpTransport::link(Peer peer) {
  auto& slot = links_[static_cast<std::size_t>(peer)];
  if (!slot) slot = std::make_unique<Link>(peer, options_.staging_bytes);
  return *slot;
}

bool TcpTransport::is_connected(Peer peer) const {
  const auto index = static_cast<std::size_t>(peer);
  return index < links_.size() && links_[index] && (links_[index]->connection.is_open() || links_[index]->failed);
}

void TcpTransport::call(Link& link) {
  const auto rank = static_cast<std::size_t>(link.peer_number);
  const TcpEndpoint& own = endpoints_[static_cast<std::size_t>(options_.self)];
  connector_.call(link.peer_number, Connector::destinations_of(endpoints_[rank], own, on_this_host_[rank]));
  note_deadline();
  wake_helper();
}

void TcpTransport::open(Peer peer, Descriptor socket) {
  Link& opened = link(peer);
  tune_socket(socket.get(), options_.timeout_seconds);
  opened.connection.open(std::move(socket));
  watch(opened, EPOLL_CTL_ADD);
  open_.push_back(&opened);
  ++connections_;
  if (look_again_ == never) look_again_ = now_ns() + Supervision::interval_ns(options_.timeout_seconds);
  opened.connection.flush();
  if (said_goodbye_) opened.connection.say_goodbye();
  note_output(opened);
}

void TcpTransport::watch(Link& link, int operation) {
  link.watched_for_room = link.connection.is_blocked();
  const std::uint32_t events = link.watched_for_room ? EPOLLIN | EPOLLOUT : EPOLLIN;
  system::epoll_control(links_epoll_.get(), operation, link.connection.descriptor(), events,
                        static_cast<std::uint64_t>(link.peer_number));
}

void TcpTransport::lose(Link& link, const std::string& cause) {
  if (link.failed) return;
  link.failed = true;
  std::erase(open_, &link);
  link.connection.close();  // and thereby leaves the epoll set
  if (!link.connection.heard_goodbye()) return vanish(link.peer_number, cause);
  if (static_cast<int>(parted_) >= 0) return;
  parted_ = link.peer_number;
  parted_at_ = now_ns();
}

void TcpTransport::vanish(Peer peer, const std::string& cause) {
  if (leaving_.load(std::memory_order_relaxed) || static_cast<int>(vanished()) >= 0) return;
  std::snprintf(cause_.data(), cause_.size(), "%s", cause.c_str());
  vanished_.store(peer, std::memory_order_release);
  wake_helper();
}

/// Sending has failed. What came before that is taken first: it may say why.
void TcpTransport::bury_failed(MessageSink& sink) {
  failing_ = false;
  for (std::size_t i = open_.size(); i-- > 0;) {
    Link& link = *open_[i];
    if (link.connection.error() == 0) continue;
    while (!link.failed && serve(link, sink) != 0) {
    }
    lose(link, cause_of(link.connection, Connection::Arrival::end));
  }
}

void TcpTransport::say_goodbye() {
  said_goodbye_ = true;
  for (Link* link : open_) link->connection.say_goodbye();
}

void TcpTransport::supervise() {
  look_again_ = now_ns() + Supervision::interval_ns(options_.timeout_seconds);
  for (std::size_t i = open_.size(); i-- > 0;) {
    Link& link = *open_[i];
    if (!link.supervision.is_dead(link.connection.descriptor(), options_.timeout_seconds)) continue;
    lose(link, "no answer over its connection for " + std::to_string(options_.timeout_seconds) + " s, SLUICE_TCP_TIMEOUT");
  }
  if (static_cast<int>(parted_) >= 0 && now_ns() - parted_at_ >= options_.timeout_seconds * second_ns) {
    vanish(parted_, "it called MPI_Abort, and nobody has ended this process since");
  }
}

// --- output ----------------------------------------------------------------------------------------------------------------

void TcpTransport::note_output(Link& link) {
  const Connection& connection = link.connection;
  if (connection.holds_output() != link.counted_holding) {
    link.counted_holding = !link.counted_holding;
    link.counted_holding ? ++holding_ : --holding_;
    holds_output_ = holding_ != 0;
  }
  if (connection.error() != 0) failing_ = true;
  if (connection.is_open() && connection.is_blocked() != link.watched_for_room) watch(link, EPOLL_CTL_MOD);
  if (connection.owes_room() && !link.in_rooms) {
    link.in_rooms = true;
    rooms_.push_back(&link);
  }
}

std::byte* TcpTransport::reserve(Peer to, std::size_t payload_bytes) {
  Link& target = link(to);
  if (!target.connection.is_open() && !target.failed) call(target);
  return target.connection.reserve(payload_bytes);
}

void TcpTransport::commit(Peer to, const WireHeader& header) {
  Link& target = link(to);
  target.connection.commit(header);
  note_output(target);
}

bool TcpTransport::send(Peer to, const WireHeader& header, std::span<const std::byte> prefix, std::span<const std::byte> bytes) {
  Link& target = link(to);
  const bool sent = target.connection.send(header, prefix, bytes);
  note_output(target);
  return sent;
}

std::size_t TcpTransport::stream(Peer to, std::uint64_t subject, std::span<const std::byte> next) {
  Link& target = link(to);
  const std::size_t bytes = target.connection.stream(subject, next);
  note_output(target);
  return bytes;
}

int TcpTransport::tell_room(MessageSink& sink) {
  const std::vector<Link*> told = std::move(rooms_);
  rooms_.clear();
  for (Link* link : told) {
    link->in_rooms = false;
    link->connection.room_was_told();
    sink.on_room(link->peer_number);
  }
  return static_cast<int>(told.size());
}

// --- input -----------------------------------------------------------------------------------------------------------------

int TcpTransport::serve(Link& link, MessageSink& sink) {
  const Connection::Arrival arrival = link.connection.receive(sink);
  if (link.connection.is_within_frame() && !link.in_begun) {
    link.in_begun = true;
    begun_.push_back(&link);
  }
  if (arrival == Connection::Arrival::nothing) return 0;
  if (arrival != Connection::Arrival::something) lose(link, cause_of(link.connection, arrival));
  return 1;
}

int TcpTransport::poll(MessageSink& sink) {
  if (failing_) bury_failed(sink);
  int moved = rooms_.empty() ? 0 : tell_room(sink);
  const auto waits = [](const Link* link) { return link->watched_for_room; };
  if (open_.size() <= few_links && std::none_of(open_.begin(), open_.end(), waits)) {
    for (std::size_t i = open_.size(); i-- > 0;) moved += serve(*open_[i], sink);
    return moved;
  }
  std::array<epoll_event, 32> events{};
  const int count = system::epoll_wait(links_epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    Link& link = *links_[event.data.u64];
    if ((event.events & EPOLLOUT) != 0) {
      link.connection.flush();
      note_output(link);
    }
    if ((event.events & ~std::uint32_t{EPOLLOUT}) != 0) moved += serve(link, sink);
  }
  if (!rooms_.empty()) moved += tell_room(sink);
  return moved;
}

// --- sleeping --------------------------------------------------------------------------------------------------------------

void TcpTransport::wake_within_frames_by(std::size_t max_bytes) {
  std::erase_if(begun_, [max_bytes](Link* link) {
    link->connection.wake_within_frame_by(max_bytes);
    link->in_begun = link->connection.is_within_frame();
    return !link->in_begun;
  });
}

void TcpTransport::set_wake_mask(WakeMask level) {
  const bool wanted = level != WakeMask::none && (options_.hears_for_sleepers || level != WakeMask::sleeper);
  if (!begun_.empty()) wake_within_frames_by(wanted && level != WakeMask::sleeper ? helper_bytes : 1);
  if (!wanted && !armed_) return;
  armed_ = wanted;
  const std::uint32_t events = EPOLLONESHOT | (wanted ? std::uint32_t{EPOLLIN} : 0);
  system::epoll_control(helper_epoll_.get(), EPOLL_CTL_MOD, links_epoll_.get(), events, links_tag);
}

void TcpTransport::sleep(std::chrono::microseconds limit) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limit);
  timespec timeout{seconds.count(), std::chrono::nanoseconds(limit - seconds).count()};
  std::array<pollfd, 2> files{{{links_epoll_.get(), POLLIN, 0}, {poke_.descriptor(), POLLIN, 0}}};
  ::syscall(SYS_ppoll, files.data(), files.size(), &timeout, nullptr, 0);
}

void TcpTransport::poke() {
  poked_ = true;
  poke_.ring();
}

void TcpTransport::forget_pokes() {
  if (poked_) poke_.silence();
  poked_ = false;
}

void TcpTransport::note_deadline() { attend_at(std::min(connector_.deadline(), look_again_)); }

bool TcpTransport::take_helper_events() {
  std::array<epoll_event, 3> events{};
  const int count = system::epoll_wait(helper_epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t tag = events[static_cast<std::size_t>(i)].data.u64;
    if (tag == bell_tag) bell_.silence();
    if (tag == listeners_tag) listeners_rang_.store(true, std::memory_order_relaxed);
  }
  return count > 0 || helper_wait_ms() == 0;
}

void TcpTransport::wake_helper() { bell_.ring(); }

void TcpTransport::attend() {
  const std::uint64_t now = now_ns();
  if (listeners_rang_.exchange(false, std::memory_order_relaxed) || now >= connector_.deadline()) connector_.step();
  if (now >= look_again_) supervise();
  note_deadline();
}

}  // namespace sluice
