// Messages of a process to itself: a queue in private memory. Large messages are announced like any other and "read" with memcpy.
#pragma once

#include <deque>
#include <memory>

#include "runtime/transport/message_sink.hpp"

namespace sluice {

class SelfTransport {
 public:
  explicit SelfTransport(Peer self) : self_(self) {}

  std::byte* reserve(std::size_t payload_bytes);
  void commit(const WireHeader& header);
  int poll(MessageSink& sink);
  [[nodiscard]] bool pending() const { return !queue_.empty(); }

 private:
  struct Entry {
    WireHeader header;
    std::unique_ptr<std::byte[]> payload;
  };

  Peer self_;
  std::unique_ptr<std::byte[]> reserved_;
  std::deque<Entry> queue_;
};

}  // namespace sluice
