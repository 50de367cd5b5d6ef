#include "io_channels.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace random_program {

namespace {

constexpr std::size_t max_in_flight = 16384;  // less than any pipe or socket holds, so that output never waits for input

/// Two ends of a pipe or of a pair of sockets.
class Pair {
 public:
  explicit Pair(bool sockets) {
    if (sockets) {
      std::array<int, 2> ends{};
      opened_ = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0;
      ends_ = {ends[1], ends[0]};
    } else {
      opened_ = pipe2(ends_.data(), O_CLOEXEC) == 0;
    }
  }
  ~Pair() {
    if (!opened_) return;
    close(ends_[0]);
    close(ends_[1]);
  }
  Pair(const Pair&) = delete;
  Pair& operator=(const Pair&) = delete;

  [[nodiscard]] bool opened() const { return opened_; }
  [[nodiscard]] int input() const { return ends_[0]; }
  [[nodiscard]] int output() const { return ends_[1]; }

 private:
  std::array<int, 2> ends_{};
  bool opened_ = false;
};

std::string failure(const char* call, ssize_t result) {
  return std::string(call) + " returned " + std::to_string(result) + (result < 0 ? std::string(": ") + std::strerror(errno) : "");
}

/// Two parts, so that a vector has a boundary somewhere.
std::array<iovec, 2> halves(const std::byte* bytes, std::size_t length) {
  auto* start = const_cast<std::byte*>(bytes);  // iovec has one type for both directions
  const std::size_t first = length / 3;
  return {iovec{start, first}, iovec{start + first, length - first}};
}

ssize_t put(Channel channel, int descriptor, std::span<const std::byte> bytes) {
  auto parts = halves(bytes.data(), bytes.size());
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  switch (channel) {
    case Channel::pipe_vectors:
      return writev(descriptor, parts.data(), 2);
    case Channel::socket:
      return send(descriptor, bytes.data(), bytes.size(), 0);
    case Channel::socket_message:
      return sendmsg(descriptor, &message, 0);
    default:
      return write(descriptor, bytes.data(), bytes.size());
  }
}

ssize_t get(Channel channel, int descriptor, std::span<std::byte> bytes) {
  auto parts = halves(bytes.data(), bytes.size());
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  switch (channel) {
    case Channel::pipe_vectors:
      return readv(descriptor, parts.data(), 2);
    case Channel::socket:
      return recv(descriptor, bytes.data(), bytes.size(), 0);
    case Channel::socket_message:
      return recvmsg(descriptor, &message, 0);
    default:
      return read(descriptor, bytes.data(), bytes.size());
  }
}

std::string through_pair(Channel channel, std::span<const std::byte> from, std::span<std::byte> to, std::size_t chunk_bytes) {
  const Pair pair(channel == Channel::socket || channel == Channel::socket_message);
  if (!pair.opened()) return failure("pipe or socketpair", -1);
  std::size_t sent = 0;
  for (std::size_t arrived = 0; arrived < to.size();) {
    const std::size_t room = max_in_flight - (sent - arrived);
    if (const std::size_t chunk = std::min({chunk_bytes, room, from.size() - sent}); chunk > 0) {
      const ssize_t result = put(channel, pair.output(), from.subspan(sent, chunk));
      if (result <= 0) return failure("output", result);
      sent += static_cast<std::size_t>(result);
    }
    const ssize_t result = get(channel, pair.input(), to.subspan(arrived, sent - arrived));
    if (result <= 0) return failure("input", result);
    arrived += static_cast<std::size_t>(result);
  }
  return {};
}

/// Calls until everything is done or a call fails; `call(position)` returns how many bytes it moved.
template <typename Call>
std::string in_chunks(const char* name, std::size_t bytes, Call call) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t result = call(done);
    if (result <= 0) return failure(name, result);
    done += static_cast<std::size_t>(result);
  }
  return {};
}

std::string through_descriptor(Channel channel, int file, std::span<const std::byte> from, std::span<std::byte> to,
                               std::size_t chunk_bytes) {
  const auto chunk_at = [&](auto bytes, std::size_t at) { return bytes.subspan(at, std::min(chunk_bytes, bytes.size() - at)); };
  std::string failed = in_chunks("output to a file", from.size(), [&](std::size_t at) {
    const auto chunk = chunk_at(from, at);
    const auto parts = halves(chunk.data(), chunk.size());
    const auto offset = static_cast<off_t>(at);
    if (channel == Channel::file_at) return pwrite(file, chunk.data(), chunk.size(), offset);
    if (channel == Channel::file_vectors) return pwritev(file, parts.data(), 2, offset);
    return write(file, chunk.data(), chunk.size());
  });
  if (!failed.empty()) return failed;
  lseek(file, 0, SEEK_SET);
  return in_chunks("input from a file", to.size(), [&](std::size_t at) {
    const auto chunk = chunk_at(to, at);
    const auto parts = halves(chunk.data(), chunk.size());
    const auto offset = static_cast<off_t>(at);
    if (channel == Channel::file_at) return pread(file, chunk.data(), chunk.size(), offset);
    if (channel == Channel::file_vectors) return preadv(file, parts.data(), 2, offset);
    return read(file, chunk.data(), chunk.size());
  });
}

std::string through_stream(std::FILE* file, std::span<const std::byte> from, std::span<std::byte> to, std::size_t chunk_bytes) {
  std::string failed = in_chunks("fwrite", from.size(), [&](std::size_t at) {
    return static_cast<ssize_t>(std::fwrite(from.data() + at, 1, std::min(chunk_bytes, from.size() - at), file));
  });
  if (!failed.empty()) return failed;
  std::rewind(file);
  return in_chunks("fread", to.size(), [&](std::size_t at) {
    return static_cast<ssize_t>(std::fread(to.data() + at, 1, std::min(chunk_bytes, to.size() - at), file));
  });
}

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

std::string pass_through(Channel channel, std::span<const std::byte> from, std::span<std::byte> to, std::size_t chunk_bytes) {
  if (channel <= Channel::socket_message) return through_pair(channel, from, to, chunk_bytes);
  const std::unique_ptr<std::FILE, Closer> file(std::tmpfile());
  if (!file) return failure("tmpfile", -1);
  if (channel == Channel::stream) return through_stream(file.get(), from, to, chunk_bytes);
  return through_descriptor(channel, fileno(file.get()), from, to, chunk_bytes);
}

}  // namespace random_program
