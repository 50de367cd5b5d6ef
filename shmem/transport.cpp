#include "shmem/transport.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <utility>

#include "runtime/base/clock.hpp"
#include "runtime/machine/peer_distance.hpp"
#include "runtime/process/descriptor_room.hpp"
#include "shmem/cache_hints.hpp"
#include "shmem/wake_word.hpp"

namespace sluice {

namespace {

/// Most often one message a poll: what the caller waits for is the last one there, and a look at the line after it, which the
/// sender has just armed, costs a transfer between the processors before the call could return. Where
/// more are waited for, so many: a poll for each would cost half of what the message itself does.
constexpr int max_at_once = 8;

constexpr std::uint64_t own_bell = ~std::uint64_t{0};  // epoll tags; peers are tagged with their local index
constexpr std::uint64_t own_reminder = own_bell - 1;

Descriptor moved_up(int fd) { return DescriptorRoom::moved_up(Descriptor(fd)); }

void watch(const Descriptor& epoll, int fd, std::uint64_t tag) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.u64 = tag;
  checked(::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
}

}  // namespace

CopyMode copy_mode(std::string_view name) {
  if (name == "alias") return CopyMode::alias;
  if (name == "cma") return CopyMode::cma;
  if (name == "stream") return CopyMode::stream;
  return CopyMode::automatic;
}

ShmemTransport::Link::Link(ShmemPeer&& met, const Inbox& own, std::size_t self, std::size_t index, const LinkTerms& terms)
    : peer(met.peer),
      out(met.inbox.ring_control(self), met.inbox.ring_buffer(self), met.inbox.layout().ring_capacity(), terms.lap,
          terms.elsewhere),
      in(own.ring_control(index), own.ring_buffer(index), own.layout().ring_capacity(), terms.lap),
      inbox(std::move(met.inbox)),
      socket(std::move(met.socket)),
      helper_bell(std::move(met.helper_bell)),
      memory(terms.mode == CopyMode::automatic || terms.mode == CopyMode::alias ? std::move(met.alias_file) : Descriptor()),
      cross(met.pid) {
  if (terms.mode == CopyMode::automatic || terms.mode == CopyMode::cma) cross.probe(met.token_address, inbox.identity().token);
}

ShmemTransport::ShmemTransport(ShmemBootstrap&& bootstrap, CopyMode mode, bool oversubscribed)
    : owner_(::getpid()),
      self_(bootstrap.self_),
      inbox_(std::move(bootstrap.inbox_)),
      contact_words_(inbox_.layout().contact_words()),
      patient_(oversubscribed),
      helper_bell_(std::move(bootstrap.helper_bell_)),
      reminder_(moved_up(checked(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK), "timerfd_create"))),
      epoll_(moved_up(checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1"))) {
  watch(epoll_, helper_bell_.get(), own_bell);
  watch(epoll_, reminder_.get(), own_reminder);
  const LinkTerms terms{.mode = mode, .elsewhere = !patient_, .lap = cache_hints::lap_bytes(bootstrap.peers_.size(), !patient_)};
  for (std::size_t index = 0; index < bootstrap.peers_.size(); index++) {
    const auto number = static_cast<std::size_t>(bootstrap.peers_[index].peer);
    if (local_of_.size() <= number) local_of_.resize(number + 1);
    local_of_[number] = static_cast<std::uint32_t>(index);
    links_.push_back(index == self_ ? nullptr
                                    : std::make_unique<Link>(std::move(bootstrap.peers_[index]), inbox_, self_, index, terms));
    if (links_.back()) watch(epoll_, links_.back()->socket.get(), index);
  }
  senders_.reserve(links_.size());
  for (std::uint32_t slot = InboxLayout::slots; slot-- > 0;) free_slots_.push_back(slot);
}

ShmemTransport::~ShmemTransport() { leave(); }

void ShmemTransport::leave() {
  // A forked child shares the inbox, but it is not the process that the peers know.
  if (::getpid() == owner_) inbox_.finalized().store(1, std::memory_order_release);
}

std::string ShmemTransport::refusals(Peer peer) const {
  const Link& to = link(peer);
  std::string text;
  if (!to.memory.usable()) text = "alias: " + to.memory.refusal();
  const std::string cross = to.cross.usable() ? to.cross.write_refusal() : to.cross.refusal();
  if (!cross.empty()) text += (text.empty() ? "cma: " : "; cma: ") + cross;
  return text;
}

std::size_t ShmemTransport::max_payload(Peer /*peer*/) const { return ring::largest_payload(inbox_.layout().ring_capacity()); }

std::byte* ShmemTransport::reserve(Peer to, std::size_t payload_bytes) {
  Link& target = link(to);
  if (std::byte* room = target.out.reserve(payload_bytes)) return room;
  if (!target.waits_for_room) waiting_for_room_++;
  target.waits_for_room = true;
  wake_for(target, EventMask::room);  // it may have room that it has not made known
  return nullptr;
}

void ShmemTransport::commit(Peer to, const WireHeader& header) {
  Link& target = link(to);
  const bool first = target.out.is_fresh();
  const EventMask events = events_of(header);
  const bool answers = std::exchange(target.answers, false);
  if (events == EventMask::eager) {
    target.out.publish<std::memory_order_release>(header, answers);
  } else {
    target.out.publish(header, answers);
  }
  if (first) target.inbox.contacts(self_ / 64).fetch_or(std::uint64_t{1} << (self_ % 64), std::memory_order_seq_cst);
  wake_for(target, events);
}

int ShmemTransport::poll(MessageSink& sink) {
  if (!deferred_.empty()) ring_overdue();
  if (waiting_for_room_ != 0) deliver_room(sink);
  for (std::size_t word = 0; word < contact_words_; word++) {
    if (inbox_.contacts(word).load(std::memory_order_relaxed) != 0) [[unlikely]]
      admit_new_senders(word);
  }
  int delivered = 0;
  for (std::size_t i = 0; i < senders_.size(); i++) delivered += drain(*senders_[i], sink);
  return delivered;
}

int ShmemTransport::drain(Link& from, MessageSink& sink) {
  const auto deliver = [&](const WireHeader& header, std::span<const std::byte> payload) {
    sink.on_message(from.peer, header, payload);
  };
  int delivered = 0;
  do {
    const RingReader::Found found = from.in.take(deliver);
    if (found != RingReader::Found::message) {
      if (found == RingReader::Found::corrupt) give_up(from, "sent a record that is not one");
      if (from.in.owes_room() && from.in.publish_head()) wake_for(from, EventMask::room);
      return delivered;
    }
    if (from.in.yield_room()) wake_for(from, EventMask::room);
    from.answers = true;
    delivered++;
  } while (delivered < max_at_once && sink.takes_another());
  return delivered;
}

void ShmemTransport::admit_new_senders(std::size_t word) {
  std::uint64_t bits = inbox_.contacts(word).exchange(0, std::memory_order_acquire);
  for (; bits != 0; bits &= bits - 1) {
    const std::size_t index = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
    if (index >= links_.size() || !links_[index]) continue;
    Link& sender = *links_[index];
    senders_.push_back(&sender);
    if (std::exchange(sender.has_sent, true)) continue;
    sender.sent_before = last_sender_.load(std::memory_order_relaxed);
    last_sender_.store(&sender, std::memory_order_release);
  }
}

void ShmemTransport::deliver_room(MessageSink& sink) {
  for (const auto& candidate : links_) {
    if (!candidate || !candidate->waits_for_room || candidate->out.wish_stands()) continue;
    candidate->waits_for_room = false;
    waiting_for_room_--;
    sink.on_room(candidate->peer);
  }
}

bool ShmemTransport::is_silent() const {
  for (std::size_t word = 0; word < contact_words_; word++) {
    if (inbox_.contacts(word).load(std::memory_order_relaxed) != 0) return false;
  }
  for (const Link* sender = last_sender_.load(std::memory_order_acquire); sender; sender = sender->sent_before) {
    if (!sender->in.is_silent()) return false;
  }
  return true;
}

bool ShmemTransport::pending() const {
  for (std::size_t word = 0; word < contact_words_; word++) {
    if (inbox_.contacts(word).load(std::memory_order_seq_cst) != 0) return true;
  }
  for (const Link* sender : senders_) {
    if (sender->in.pending() || sender->in.owes_room()) return true;
  }
  if (waiting_for_room_ == 0) return false;
  return std::any_of(links_.begin(), links_.end(), [](const auto& candidate) {
    return candidate && candidate->waits_for_room && !candidate->out.wish_stands();
  });
}

bool ShmemTransport::can_write(Peer peer) const { return link(peer).memory.usable(); }
bool ShmemTransport::can_read_blocks(Peer peer) const { return link(peer).memory.usable(); }
bool ShmemTransport::can_read(Peer peer) const { return link(peer).cross.usable(); }

bool ShmemTransport::write(Peer peer, std::uint64_t file_offset, std::span<const std::byte> source, TargetLines lines) {
  return link(peer).memory.write(file_offset, source, lines);
}

bool ShmemTransport::read_block(Peer peer, std::uint64_t file_offset, std::span<std::byte> target, TargetLines lines,
                                SourceLines source) {
  return link(peer).memory.read(file_offset, target, lines, source);
}

void ShmemTransport::leave_address_space() {
  for (const auto& to : links_) {
    if (to) to->memory.leave_address_space();
  }
}

std::uint32_t ShmemTransport::line_latency_ns(Peer peer) {
  constexpr std::array<std::size_t, InboxLayout::marks> order{1, 2, 0};
  Link& from = link(peer);
  std::uint64_t seen = 0;
  const std::uint32_t ns = ns_of_lines(order, [&](std::size_t index) {
    seen = from.inbox.mark(index).load(std::memory_order_relaxed);
    return seen;
  });
  return std::exchange(from.seen_mark, seen) == seen ? 0 : std::max(ns, std::uint32_t{1});
}

void ShmemTransport::mark_lines() {
  ++marks_;
  for (std::size_t index = 0; index < InboxLayout::marks; ++index) inbox_.mark(index).store(marks_, std::memory_order_relaxed);
}

std::uint32_t ShmemTransport::line_latency_before_ns(Peer peer, std::uint64_t end) {
  return ns_of_lines(lines_before_end, [&](std::size_t line) {
    std::uint64_t word = 0;
    read_block(peer, end - line * cache_line, std::as_writable_bytes(std::span(&word, 1)), TargetLines::unknown,
               SourceLines::kept);
    return word;
  });
}

std::size_t ShmemTransport::read(Peer peer, std::uint64_t peer_address, std::span<std::byte> target) {
  return link(peer).cross.read(peer_address, target);
}

std::uint32_t ShmemTransport::open_progress_slot() {
  if (free_slots_.empty()) return no_slot;
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  inbox_.slot(slot).store(0, std::memory_order_relaxed);  // the sender learns of the slot by a message that comes later
  return slot;
}

void ShmemTransport::close_progress_slot(std::uint32_t slot) { free_slots_.push_back(slot); }

std::uint64_t ShmemTransport::progress(std::uint32_t slot) const { return inbox_.slot(slot).load(std::memory_order_acquire); }

void ShmemTransport::report_progress(Peer to, std::uint32_t slot, std::uint64_t bytes) {
  if (slot < InboxLayout::slots) link(to).inbox.slot(slot).store(bytes, std::memory_order_release);
}

std::atomic<std::uint64_t>& ShmemTransport::claims(std::uint32_t slot) { return inbox_.claims(slot); }

std::atomic<std::uint64_t>* ShmemTransport::claims_at(Peer peer, std::uint32_t slot) {
  return slot < InboxLayout::slots ? &link(peer).inbox.claims(slot) : nullptr;
}

const Inbox& ShmemTransport::inbox_of(Peer peer) const {
  const std::size_t local = local_of_[static_cast<std::size_t>(peer)];
  return local == self_ ? inbox_ : links_[local]->inbox;
}

CopyLoad ShmemTransport::copy_load(Peer peer) const {
  const Inbox& inbox = inbox_of(peer);
  CopyLoad load{.expected = 0, .made = inbox.copied().load(std::memory_order_relaxed)};
  for (std::size_t local = 0; local < links_.size(); local++) load.expected += inbox.load(local).load(std::memory_order_relaxed);
  return load;
}

void ShmemTransport::expect_copy(Peer by, std::int64_t bytes) {
  std::atomic<std::uint64_t>& word = inbox_of(by).load(self_);
  word.store(word.load(std::memory_order_relaxed) + static_cast<std::uint64_t>(bytes), std::memory_order_relaxed);
}

void ShmemTransport::copied(std::size_t bytes) {
  copied_ += bytes;
  inbox_.copied().store(copied_, std::memory_order_relaxed);
}

std::size_t ShmemTransport::adapter_work() const {
  std::uint64_t transfers = adapter_work_;
  for (std::size_t local = 0; local < links_.size(); local++) {
    if (local != self_) transfers += links_[local]->inbox.adapter_work().load(std::memory_order_relaxed);
  }
  return transfers;
}

void ShmemTransport::note_adapter_work(int transfers) {
  adapter_work_ += static_cast<std::uint64_t>(static_cast<std::int64_t>(transfers));
  inbox_.adapter_work().store(adapter_work_, std::memory_order_relaxed);
}

void ShmemTransport::set_wake_mask(WakeMask level) {
  if (asks_helper_for(level, EventMask::eager)) {
    if (inbox_.wake_mask().load(std::memory_order_seq_cst) == level) return;
    remind_helper();
  }
  inbox_.wake_mask().store(level, std::memory_order_seq_cst);
}

void ShmemTransport::sleep(std::chrono::microseconds limit) {
  sleepers_.fetch_add(1, std::memory_order_seq_cst);
  sleep_on(inbox_.wake_mask(), limit);
  sleepers_.fetch_sub(1, std::memory_order_relaxed);
}

void ShmemTransport::poke() {
  WakeMask expected = WakeMask::sleeper;
  inbox_.wake_mask().compare_exchange_strong(expected, WakeMask::none, std::memory_order_seq_cst);
  // Also when the level was lowered by somebody else meanwhile: those that sleep since before must look again.
  if (sleepers_.load(std::memory_order_seq_cst) != 0) wake_sleepers(inbox_.wake_mask());
}

void ShmemTransport::sleep_helper() {
  while (!take_helper_events(-1)) {
  }
}

bool ShmemTransport::take_helper_events(int limit_ms) {
  std::array<epoll_event, 16> events{};
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), limit_ms);
  if (count < 0 && errno != EINTR) return true;
  const Peer gone_before = vanished();
  bool rung = false;
  for (int i = 0; i < count; i++) {
    const std::uint64_t tag = events[static_cast<std::size_t>(i)].data.u64;
    if (tag == own_bell) {
      std::uint64_t times = 0;
      rung = ::read(helper_bell_.get(), &times, sizeof times) > 0 || rung;
    } else if (tag == own_reminder) {
      std::uint64_t times = 0;
      rung = ::read(reminder_.get(), &times, sizeof times) > 0 || rung;
      reminded_.store(false, std::memory_order_relaxed);
    } else {
      hear(*links_[tag]);
    }
  }
  return rung || vanished() != gone_before;
}

/// Something happened on a peer's socket, on which nothing is ever sent after the introduction: the peer has closed it. What it
/// expected of this process is void, and its adapter has nothing under way. (Others on the node write the same.)
void ShmemTransport::hear(const Link& from) {
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, from.socket.get(), nullptr);
  inbox_.load(local_of_[static_cast<std::size_t>(from.peer)]).store(0, std::memory_order_relaxed);
  from.inbox.adapter_work().store(0, std::memory_order_relaxed);
  if (from.inbox.finalized().load(std::memory_order_acquire) != 0) return;
  Peer none{-1};
  vanished_.compare_exchange_strong(none, from.peer, std::memory_order_release, std::memory_order_relaxed);
}

void ShmemTransport::wake_helper() { ring_bell(helper_bell_.get()); }

Peer ShmemTransport::vanished() const { return vanished_.load(std::memory_order_acquire); }

/// The peer's data can't be trusted any more: nothing is taken from it, and it counts as vanished.
void ShmemTransport::give_up(const Link& from, const char* cause) {
  std::array<char, 160> line{};
  const int length =
      std::snprintf(line.data(), line.size(), "sluice: rank %d (on this node) %s; its messages are ignored from now on\n",
                    static_cast<int>(from.peer), cause);
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), static_cast<std::size_t>(length));
  std::erase(senders_, &from);
  Peer none{-1};
  vanished_.compare_exchange_strong(none, from.peer, std::memory_order_release, std::memory_order_relaxed);
  wake_helper();
}

}  // namespace sluice
