#include "runtime/transport/self_transport.hpp"

namespace sluice {

std::byte* SelfTransport::reserve(std::size_t payload_bytes) {
  reserved_ = std::make_unique_for_overwrite<std::byte[]>(payload_bytes);
  return reserved_.get();
}

void SelfTransport::commit(const WireHeader& header) { queue_.push_back({header, std::move(reserved_)}); }

int SelfTransport::poll(MessageSink& sink) {
  // Only what is there now: handlers may queue more.
  int delivered = 0;
  for (std::size_t left = queue_.size(); left > 0; --left, ++delivered) {
    const Entry entry = std::move(queue_.front());
    queue_.pop_front();
    sink.on_message(self_, entry.header, {entry.payload.get(), entry.header.payload_bytes});
  }
  return delivered;
}

}  // namespace sluice
