// libFuzzer target: a stream of frames as a connection reads it, header by header. Whatever the bytes are, a header is either
// refused with an explanation, or says something possible that encodes to the same bytes again.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "net/frame.hpp"

namespace {

using namespace sluice;

constexpr std::size_t max_payload = 65536;

void require(bool condition) {
  if (!condition) std::abort();
}

void check_good(const frame::Decoded& decoded, std::span<const std::byte, frame::header_bytes> bytes) {
  const bool data = decoded.control == frame::Control::none && decoded.header.kind == MessageKind::data;
  require(decoded.header.payload_bytes <= (data ? frame::max_data_bytes : max_payload));
  require(static_cast<std::int32_t>(decoded.header.source) >= 0 && static_cast<std::int32_t>(decoded.header.tag) >= 0);
  require(decoded.control == frame::Control::none || decoded.header.payload_bytes == 0);
  frame::Header again;
  if (decoded.control == frame::Control::none) {
    frame::encode(decoded.header, again);
  } else {
    frame::encode(decoded.control, decoded.header.subject, again);
  }
  require(std::equal(again.begin(), again.end(), bytes.begin()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::span<const std::byte> stream(reinterpret_cast<const std::byte*>(data), size);
  while (stream.size() >= frame::header_bytes) {
    const auto bytes = stream.first<frame::header_bytes>();
    const frame::Decoded decoded = frame::decode(bytes, max_payload);
    require(decoded.good() == frame::explain(bytes, max_payload).empty());
    if (!decoded.good()) return 0;
    check_good(decoded, bytes);
    stream = stream.subspan(frame::header_bytes);
    stream = stream.subspan(std::min<std::size_t>(decoded.header.payload_bytes, stream.size()));
  }
  return 0;
}
