// Bytes that go through the kernel: out of one buffer by a call for output, into another by the matching call for input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace random_program {

enum class Channel : std::uint8_t {
  pipe,            // write, read
  pipe_vectors,    // writev, readv
  socket,          // send, recv
  socket_message,  // sendmsg, recvmsg
  file,            // write, lseek, read
  file_at,         // pwrite, pread
  file_vectors,    // pwritev, preadv
  stream,          // fwrite, rewind, fread
  count,
};

/// Copies `from` to `to` (of the same length), `chunk_bytes` a call at most. Empty, or which call failed and why.
std::string pass_through(Channel channel, std::span<const std::byte> from, std::span<std::byte> to, std::size_t chunk_bytes);

}  // namespace random_program
