#include "net/siphash.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace sluice {
namespace {

SipKey counting_key() {
  SipKey key;
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(i);
  return key;
}

std::vector<std::byte> counting_message(std::size_t bytes) {
  std::vector<std::byte> message(bytes);
  for (std::size_t i = 0; i < bytes; ++i) message[i] = static_cast<std::byte>(i);
  return message;
}

/// vectors_sip64 of the authors' reference implementation: messages 00 01 02 ... of 0, 1, 2 ... bytes under the key 00 01 ... 0f.
constexpr std::array<std::uint64_t, 48> reference{
    0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a, 0x85676696d7fb7e2d, 0xcf2794e0277187b7, 0x18765564cd99a68d,
    0xcbc9466e58fee3ce, 0xab0200f58b01d137, 0x93f5f5799a932462, 0x9e0082df0ba9e4b0, 0x7a5dbbc594ddb9f3, 0xf4b32f46226bada7,
    0x751e8fbc860ee5fb, 0x14ea5627c0843d90, 0xf723ca908e7af2ee, 0xa129ca6149be45e5, 0x3f2acc7f57c29bdb, 0x699ae9f52cbe4794,
    0x4bc1b3f0968dd39c, 0xbb6dc91da77961bd, 0xbed65cf21aa2ee98, 0xd0f2cbb02e3b67c7, 0x93536795e3a33e88, 0xa80c038ccd5ccec8,
    0xb8ad50c6f649af94, 0xbce192de8a85b8ea, 0x17d835b85bbb15f3, 0x2f2e6163076bcfad, 0xde4daaaca71dc9a5, 0xa6a2506687956571,
    0xad87a3535c49ef28, 0x32d892fad841c342, 0x7127512f72f27cce, 0xa7f32346f95978e3, 0x12e0b01abb051238, 0x15e034d40fa197ae,
    0x314dffbe0815a3b4, 0x027990f029623981, 0xcadcd4e59ef40c4d, 0x9abfd8766a33735c, 0x0e3ea96b5304a7d0, 0xad0c42d6fc585992,
    0x187306c89bc215a9, 0xd4a60abcf3792b95, 0xf935451de4f21df2, 0xa9538f0419755787, 0xdb9acddff56ca510, 0xd06c98cd5c0975eb};

TEST(SipHash, gives_the_reference_implementations_results) {
  for (std::size_t bytes = 0; bytes < reference.size(); ++bytes) {
    EXPECT_EQ(siphash(counting_key(), counting_message(bytes)), reference[bytes]) << bytes << " bytes";
  }
}

TEST(SipHash, every_bit_of_the_key_counts) {
  const auto message = counting_message(88);
  const std::uint64_t whole = siphash(counting_key(), message);
  for (std::size_t bit = 0; bit < 128; ++bit) {
    SipKey key = counting_key();
    key[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    EXPECT_NE(siphash(key, message), whole) << bit;
  }
}

}  // namespace
}  // namespace sluice
