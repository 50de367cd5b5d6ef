#include "tcp/connection.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "net/system.hpp"

namespace sluice {
namespace {

/// Read ahead at the border of two messages. More saves calls where many small messages come; but of a long message so much is
/// copied.
constexpr std::size_t border_bytes = 17 * 1024;
/// What was read ahead, or a whole message and the beginning of the next.
constexpr std::size_t in_bytes = Connection::max_payload + frame::header_bytes + border_bytes;
/// The same where the last message was longer than that.
constexpr std::size_t short_border_bytes = 1024;
/// Shorter messages are read whole before they are looked at.
constexpr std::size_t min_begun_bytes = 4 * 1024;
/// Behind the bytes of a data frame: room for the header that follows it, and small messages.
constexpr std::size_t tail_bytes = 4 * 1024;
/// Read or written by one call: so long other threads wait for the engine lock.
constexpr std::size_t call_bytes = 256 * 1024;

bool would_block(int error) {
  return error == EAGAIN || error == EWOULDBLOCK || error == EINTR || error == ENOBUFS || error == ENOMEM;
}

std::span<std::byte, frame::header_bytes> header_at(std::byte* place) {
  return std::span<std::byte, frame::header_bytes>(place, frame::header_bytes);
}

}  // namespace

Connection::Connection(Peer peer, std::size_t staging_bytes)
    : peer_(peer), staging_bytes_(std::max(staging_bytes, max_payload + frame::header_bytes)) {}

void Connection::open(Descriptor socket) {
  socket_ = std::move(socket);
  in_ = std::make_unique_for_overwrite<std::byte[]>(in_bytes);
  blocked_ = false;
  unsent_limit_ = {};
  wakes_by_ = 1;
}

void Connection::close() {
  socket_.reset();
  blocked_ = true;
}

// --- output ------------------------------------------------------------------------------------------------------------

void Connection::note_failure() {
  blocked_ = true;
  if (!would_block(errno)) error_ = errno;
}

std::byte* Connection::reserve(std::size_t payload_bytes) {
  const std::size_t bytes = frame::header_bytes + payload_bytes;
  if (!room_for(bytes)) {
    wanted_ = std::max(wanted_, bytes);
    return nullptr;
  }
  if (!staging_) staging_ = std::make_unique_for_overwrite<std::byte[]>(staging_bytes_);
  if (staged_end_ + bytes > staging_bytes_) {
    std::memmove(staging_.get(), staging_.get() + staged_begin_, staged_end_ - staged_begin_);
    staged_end_ -= staged_begin_;
    staged_begin_ = 0;
  }
  reserved_ = bytes;
  return staging_.get() + staged_end_ + frame::header_bytes;
}

void Connection::commit(const WireHeader& header) {
  frame::encode(header, header_at(staging_.get() + staged_end_));
  staged_end_ += reserved_;
  ++counts_.messages_sent;
  counts_.bytes_sent += reserved_;
  if (!blocked_) flush();
}

bool Connection::send(const WireHeader& header, std::span<const std::byte> prefix, std::span<const std::byte> bytes) {
  if (!is_open() || blocked_ || holds_output() || header_left_ + frame_left_ != 0) return false;
  frame::Header encoded{};
  frame::encode(header, encoded);
  const std::array<std::span<const std::byte>, 3> parts{encoded, prefix, bytes};
  std::array<iovec, 3> segments{};
  for (std::size_t i = 0; i < parts.size(); ++i) segments[i] = {const_cast<std::byte*>(parts[i].data()), parts[i].size()};
  const ssize_t result = system::send(socket_.get(), segments.data(), segments.size());
  if (result < 0) {
    note_failure();
    return false;
  }
  auto sent = static_cast<std::size_t>(result);
  ++counts_.messages_sent;
  counts_.bytes_sent += encoded.size() + prefix.size() + bytes.size();
  if (sent == encoded.size() + prefix.size() + bytes.size()) return true;
  blocked_ = true;
  if (!staging_) staging_ = std::make_unique_for_overwrite<std::byte[]>(staging_bytes_);
  for (const auto& part : parts) {  // the buffer is empty, and as long as any message
    const std::size_t gone = std::min(sent, part.size());
    sent -= gone;
    if (gone < part.size()) std::memcpy(staging_.get() + staged_end_, part.data() + gone, part.size() - gone);
    staged_end_ += part.size() - gone;
  }
  return true;
}

void Connection::flush() {
  if (!is_open()) return;
  blocked_ = false;
  while (staged_begin_ != staged_end_ && header_left_ + frame_left_ == 0) {
    const ssize_t sent = system::send(socket_.get(), staging_.get() + staged_begin_, staged_end_ - staged_begin_);
    if (sent < 0) return note_failure();
    staged_begin_ += static_cast<std::size_t>(sent);
  }
  if (staged_begin_ == staged_end_) staged_begin_ = staged_end_ = 0;
}

void Connection::say_goodbye() {
  flush();
  if (!is_open() || blocked_ || holds_output() || header_left_ + frame_left_ != 0) return;
  frame::Header goodbye{};
  frame::encode(frame::Control::goodbye, 0, goodbye);
  if (system::send(socket_.get(), goodbye.data(), goodbye.size()) < 0) note_failure();
}

std::size_t Connection::stream(std::uint64_t subject, std::span<const std::byte> next) {
  stream_waits_ = true;
  if (!is_open() || blocked_) return 0;
  if (header_left_ + frame_left_ == 0) {
    flush();
    if (holds_output()) return 0;
    unsent_limit_.adjust(socket_.get());
    frame_subject_ = subject;
    frame_left_ = std::min(next.size(), frame_bytes);
    WireHeader header;
    header.kind = MessageKind::data;
    header.subject = subject;
    header.payload_bytes = static_cast<std::uint32_t>(frame_left_);
    frame::encode(header, frame_header_);
    header_left_ = frame_header_.size();
    ++counts_.messages_sent;
    counts_.bytes_sent += header_left_ + frame_left_;
  } else if (frame_subject_ != subject) {
    return 0;
  }
  const std::size_t bytes = std::min(next.size(), frame_left_);
  std::array<iovec, 2> segments{
      {{frame_header_.data() + frame_header_.size() - header_left_, header_left_}, {const_cast<std::byte*>(next.data()), bytes}}};
  const ssize_t sent = system::send(socket_.get(), segments.data(), segments.size());
  if (sent < 0) {
    note_failure();
    return 0;
  }
  const std::size_t of_header = std::min(static_cast<std::size_t>(sent), header_left_);
  const std::size_t of_payload = static_cast<std::size_t>(sent) - of_header;
  header_left_ -= of_header;
  frame_left_ -= of_payload;
  if (of_payload < bytes) blocked_ = true;
  if (header_left_ + frame_left_ == 0 && holds_output()) flush();
  stream_waits_ = of_payload < next.size();
  return of_payload;
}

// --- input -------------------------------------------------------------------------------------------------------------

void Connection::wake_within_frame_by(std::size_t max_bytes) {
  const int wanted = static_cast<int>(std::clamp<std::size_t>(data_left_, 1, max_bytes));
  if (!is_open() || wanted == wakes_by_) return;
  // A socket of another kind (unit tests) is readable with the first byte.
  if (system::set_option(socket_.get(), SOL_SOCKET, SO_RCVLOWAT, wanted) == 0) wakes_by_ = wanted;
}

Connection::Arrival Connection::receive(MessageSink& sink) {
  if (!is_open()) return Arrival::nothing;
  return data_left_ != 0 ? receive_data(sink) : receive_messages(sink);
}

Connection::Arrival Connection::judge(ssize_t received) {
  if (received > 0) {
    counts_.bytes_received += static_cast<std::size_t>(received);
    return Arrival::something;
  }
  if (received < 0 && would_block(errno)) return Arrival::nothing;
  if (received < 0) error_ = errno;
  return Arrival::end;
}

/// The buffer is empty here.
Connection::Arrival Connection::receive_data(MessageSink& sink) {
  in_begin_ = in_end_ = 0;
  const std::span<std::byte> place = sink.place(peer_, data_, std::min(data_left_, call_bytes));
  if (place.empty()) {
    const ssize_t received = system::receive(socket_.get(), in_.get(), std::min(data_left_, border_bytes));
    const Arrival arrival = judge(received);
    if (arrival != Arrival::something) return arrival;
    in_end_ = static_cast<std::size_t>(received);
    take_data(sink);
    return arrival;
  }
  std::array<iovec, 2> segments{{{place.data(), place.size()}, {in_.get(), place.size() == data_left_ ? tail_bytes : 0}}};
  const ssize_t received = system::receive(socket_.get(), segments.data(), segments.size());
  const Arrival arrival = judge(received);
  if (arrival != Arrival::something) return arrival;
  const std::size_t placed = std::min(static_cast<std::size_t>(received), place.size());
  in_end_ = static_cast<std::size_t>(received) - placed;
  data_left_ -= placed;
  sink.on_placed(peer_, data_, placed);
  return parse(sink) ? arrival : Arrival::damaged;
}

Connection::Arrival Connection::receive_messages(MessageSink& sink) {
  std::size_t bytes = long_messages_ ? short_border_bytes : border_bytes;
  if (in_end_ - in_begin_ >= frame::header_bytes) {
    // In the middle of a message: the rest of it.
    const auto begun = frame::decode(header_at(in_.get() + in_begin_), max_payload);
    bytes = frame::header_bytes + begun.header.payload_bytes - (in_end_ - in_begin_) + tail_bytes;
  }
  make_tail_room(bytes);
  const ssize_t received = system::receive(socket_.get(), in_.get() + in_end_, bytes);
  const Arrival arrival = judge(received);
  if (arrival != Arrival::something) return arrival;
  in_end_ += static_cast<std::size_t>(received);
  return parse(sink) ? arrival : Arrival::damaged;
}

void Connection::make_tail_room(std::size_t bytes) {
  if (in_end_ + bytes <= in_bytes) return;
  std::memmove(in_.get(), in_.get() + in_begin_, in_end_ - in_begin_);
  in_end_ -= in_begin_;
  in_begin_ = 0;
}

bool Connection::parse(MessageSink& sink) {
  for (;;) {
    if (data_left_ != 0) {
      if (!take_data(sink)) break;
      continue;
    }
    const std::size_t available = in_end_ - in_begin_;
    if (available < frame::header_bytes) break;
    const frame::Decoded found = frame::decode(header_at(in_.get() + in_begin_), max_payload);
    if (!found.good()) return false;
    const std::size_t payload = found.header.payload_bytes;
    if (payload > 64) long_messages_ = payload > border_bytes;
    if (found.control == frame::Control::none && found.header.kind == MessageKind::data) {
      data_ = found.header;
      data_left_ = payload;
      in_begin_ += frame::header_bytes;
      ++counts_.messages_received;
      continue;
    }
    if (available < frame::header_bytes + payload) {
      if (payload < min_begun_bytes || !begin_early(sink, found.header)) break;
      continue;
    }
    const std::span<const std::byte> bytes(in_.get() + in_begin_ + frame::header_bytes, payload);
    in_begin_ += frame::header_bytes + payload;
    ++counts_.messages_received;
    if (found.control == frame::Control::none) sink.on_message(peer_, found.header, bytes);
    if (found.control == frame::Control::goodbye) heard_goodbye_ = true;
  }
  if (in_begin_ == in_end_) in_begin_ = in_end_ = 0;
  return true;
}

/// What is missing of a message may go straight to its receive.
bool Connection::begin_early(MessageSink& sink, const WireHeader& header) {
  const std::span<const std::byte> head(in_.get() + in_begin_ + frame::header_bytes, in_end_ - in_begin_ - frame::header_bytes);
  const MessageSink::Begun begun = sink.begin(peer_, header, head);
  if (begun.subject == 0) return false;
  data_ = {};
  data_.kind = MessageKind::data;
  data_.subject = begun.subject;
  data_left_ = header.payload_bytes - begun.data_at;
  data_.payload_bytes = static_cast<std::uint32_t>(data_left_);
  in_begin_ += frame::header_bytes + begun.data_at;
  ++counts_.messages_received;
  return true;
}

/// Bytes of the data frame that came into the buffer. False when none are left there.
bool Connection::take_data(MessageSink& sink) {
  const std::size_t available = std::min(in_end_ - in_begin_, data_left_);
  if (available == 0) return false;
  const std::byte* const source = in_.get() + in_begin_;
  const std::span<std::byte> place = sink.place(peer_, data_, available);
  const std::size_t bytes = place.empty() ? available : place.size();
  in_begin_ += bytes;
  data_left_ -= bytes;
  if (place.empty()) {
    WireHeader segment = data_;
    segment.payload_bytes = static_cast<std::uint32_t>(bytes);
    sink.on_message(peer_, segment, {source, bytes});
  } else {
    std::memcpy(place.data(), source, bytes);
    sink.on_placed(peer_, data_, bytes);
  }
  return true;
}

}  // namespace sluice
