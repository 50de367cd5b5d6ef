#include "net/siphash.hpp"

#include <bit>

namespace sluice {
namespace {

constexpr std::size_t word_bytes = sizeof(std::uint64_t);

std::uint64_t word_at(std::span<const std::byte> bytes, std::size_t count) {
  std::uint64_t word = 0;
  for (std::size_t i = count; i-- > 0;) word = word << 8 | static_cast<std::uint64_t>(bytes[i]);
  return word;
}

/// The paper's v0 to v3.
class Lanes {
 public:
  explicit Lanes(const SipKey& key) {
    const std::span<const std::byte> bytes(key);
    const std::uint64_t k0 = word_at(bytes, word_bytes);
    const std::uint64_t k1 = word_at(bytes.subspan(word_bytes), word_bytes);
    v0_ = k0 ^ 0x736f6d6570736575;
    v1_ = k1 ^ 0x646f72616e646f6d;
    v2_ = k0 ^ 0x6c7967656e657261;
    v3_ = k1 ^ 0x7465646279746573;
  }

  void compress(std::uint64_t word) {
    v3_ ^= word;
    rounds(2);
    v0_ ^= word;
  }

  std::uint64_t finish() {
    v2_ ^= 0xff;
    rounds(4);
    return v0_ ^ v1_ ^ v2_ ^ v3_;
  }

 private:
  void rounds(int count) {
    for (; count > 0; --count) {
      v0_ += v1_;
      v1_ = std::rotl(v1_, 13) ^ v0_;
      v0_ = std::rotl(v0_, 32);
      v2_ += v3_;
      v3_ = std::rotl(v3_, 16) ^ v2_;
      v0_ += v3_;
      v3_ = std::rotl(v3_, 21) ^ v0_;
      v2_ += v1_;
      v1_ = std::rotl(v1_, 17) ^ v2_;
      v2_ = std::rotl(v2_, 32);
    }
  }

  std::uint64_t v0_, v1_, v2_, v3_;
};

}  // namespace

std::uint64_t siphash(const SipKey& key, std::span<const std::byte> message) {
  Lanes lanes(key);
  const std::uint64_t length = message.size();
  for (; message.size() >= word_bytes; message = message.subspan(word_bytes)) lanes.compress(word_at(message, word_bytes));
  lanes.compress(word_at(message, message.size()) | length << 56);
  return lanes.finish();
}

}  // namespace sluice
