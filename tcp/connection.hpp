// One connection with one peer: messages in, messages out, over a byte stream that somebody else has opened.
//
// Output. Messages of the engine are built in a staging buffer, whose size bounds what waits in this process for a slow peer,
// and go out at once when nothing is in front of them. Streamed bytes (`data`) go out of the sender's memory and are never
// staged: a data frame that has begun is continued by the next `stream` call for the same subject, and nothing else is sent
// before its end. So the output is at any time
//
//     idle       nothing staged, no frame begun
//     staging    staged messages are going out; a new data frame waits for the last of them
//     framing    a data frame has begun; staged messages wait for its end
//
// Input. What arrives is read into a buffer, and complete messages are handed to the sink from there. The bytes of a data
// frame are read straight into the place that the sink names, with a short tail of the buffer behind them for the next header
// (scatter), so one system call is made for each arrival and no byte of a long message is copied twice.
//
// Before the connection is open, messages may be staged already.
//
// Threading: engine lock, every function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "net/frame.hpp"
#include "runtime/base/posix.hpp"
#include "runtime/transport/message_sink.hpp"
#include "tcp/unsent_limit.hpp"

namespace sluice {

class Connection {
 public:
  /// Longest payload of any message but `data`.
  static constexpr std::size_t max_payload = 256 * 1024 + 256;
  /// A frame of streamed bytes: other messages to the peer wait for its end.
  static constexpr std::size_t frame_bytes = 128 * 1024;

  struct Counts {
    std::uint64_t messages_sent = 0;
    std::uint64_t bytes_sent = 0;  // frames, headers included
    std::uint64_t messages_received = 0;
    std::uint64_t bytes_received = 0;
  };

  Connection(Peer peer, std::size_t staging_bytes);

  void open(Descriptor socket);
  [[nodiscard]] bool is_open() const { return static_cast<bool>(socket_); }
  [[nodiscard]] int descriptor() const { return socket_.get(); }
  /// Nothing more comes or goes.
  void close();

  // --- output -------------------------------------------------------------------------------------------------------
  std::byte* reserve(std::size_t payload_bytes);
  void commit(const WireHeader& header);
  /// As Transport::send.
  bool send(const WireHeader& header, std::span<const std::byte> prefix, std::span<const std::byte> bytes);
  /// As Channel::stream.
  std::size_t stream(std::uint64_t subject, std::span<const std::byte> next);
  /// Sends what is staged, as far as there is room in the socket.
  void flush();
  /// Tells the peer that the end of the connection will be no fault, if that can be done at once: not within a frame.
  void say_goodbye();
  /// Something of the engine's is still here.
  [[nodiscard]] bool holds_output() const { return staged_begin_ != staged_end_; }
  /// The socket was full: nothing goes out before it is writable, and `flush` was called.
  [[nodiscard]] bool is_blocked() const { return blocked_; }
  /// Somebody was refused room, and should be told once there is some.
  [[nodiscard]] bool owes_room() const { return !blocked_ && (stream_waits_ || (wanted_ != 0 && room_for(wanted_))); }
  void room_was_told() {
    wanted_ = 0;
    stream_waits_ = false;
  }

  // --- input --------------------------------------------------------------------------------------------------------
  enum class Arrival : std::uint8_t { nothing, something, end, damaged };
  /// Reads once and delivers what is complete.
  Arrival receive(MessageSink& sink);

  /// Bytes of a frame come next, for a place that is known.
  [[nodiscard]] bool is_within_frame() const { return data_left_ != 0; }
  /// Who waits for the socket to be readable is woken by any byte; within a frame only by `most` bytes or the rest of it.
  void wake_within_frame_by(std::size_t max_bytes);

  /// Why sending or receiving has failed: an errno value; 0 when it has not.
  [[nodiscard]] int error() const { return error_; }
  /// The peer has said that the end of the connection will be no fault.
  [[nodiscard]] bool heard_goodbye() const { return heard_goodbye_; }
  [[nodiscard]] const Counts& counts() const { return counts_; }
  /// The header that `receive` has found damaged.
  [[nodiscard]] std::span<const std::byte, frame::header_bytes> damaged_header() const {
    return std::span<const std::byte, frame::header_bytes>(in_.get() + in_begin_, frame::header_bytes);
  }

 private:
  [[nodiscard]] bool room_for(std::size_t bytes) const { return staged_end_ - staged_begin_ + bytes <= staging_bytes_; }
  void note_failure();

  Arrival receive_data(MessageSink& sink);
  Arrival receive_messages(MessageSink& sink);
  Arrival judge(ssize_t received);
  bool parse(MessageSink& sink);
  bool take_data(MessageSink& sink);
  bool begin_early(MessageSink& sink, const WireHeader& header);
  void make_tail_room(std::size_t bytes);

  Peer peer_;
  Descriptor socket_;
  int error_ = 0;
  bool heard_goodbye_ = false;

  // Staged output: [staged_begin_, staged_end_) of the buffer. Made with the first message.
  std::size_t staging_bytes_;
  std::unique_ptr<std::byte[]> staging_;
  std::size_t staged_begin_ = 0;
  std::size_t staged_end_ = 0;
  std::size_t reserved_ = 0;  // bytes of the frame between reserve and commit
  std::size_t wanted_ = 0;    // largest refused; 0: none was
  bool stream_waits_ = false;
  bool blocked_ = false;

  // The data frame that has begun; none when both are 0.
  frame::Header frame_header_{};
  std::size_t header_left_ = 0;
  std::size_t frame_left_ = 0;
  std::uint64_t frame_subject_ = 0;
  UnsentLimit unsent_limit_;

  // Input: [in_begin_, in_end_) of the buffer; and the data frame whose bytes come next.
  std::unique_ptr<std::byte[]> in_;
  std::size_t in_begin_ = 0;
  std::size_t in_end_ = 0;
  WireHeader data_;
  std::size_t data_left_ = 0;
  int wakes_by_ = 1;            // SO_RCVLOWAT
  bool long_messages_ = false;  // the last message that was not control was one

  Counts counts_;
};

}  // namespace sluice
