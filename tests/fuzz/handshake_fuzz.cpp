// libFuzzer target: two processes that know the secret, and somebody between them who delivers, cuts, changes, repeats and
// invents bytes as the input says. Neither side may take the other for proven unless all that reached it was what the other had
// said.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "net/handshake.hpp"

namespace {

using namespace sluice;
using State = Handshake::State;

void require(bool condition) {
  if (!condition) std::abort();
}

/// The input, byte by byte; zeros when it is used up.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}
  [[nodiscard]] bool empty() const { return rest_.empty(); }
  std::uint8_t next() {
    if (rest_.empty()) return 0;
    const std::uint8_t value = rest_.front();
    rest_ = rest_.subspan(1);
    return value;
  }

 private:
  std::span<const std::uint8_t> rest_;
};

struct Side {
  Handshake handshake;
  std::vector<std::byte> said{};   // all of it
  std::vector<std::byte> heard{};  // all of it
  std::size_t delivered = 0;       // of what the other side said

  void speak() {
    const auto output = handshake.output();
    require(output.size() <= Handshake::hello_bytes);
    said.insert(said.end(), output.begin(), output.end());
    handshake.sent(output.size());
  }
  void hear(std::span<const std::byte> bytes) {
    require(handshake.wanted() <= Handshake::hello_bytes);
    bytes = bytes.first(std::min(bytes.size(), handshake.wanted()));
    heard.insert(heard.end(), bytes.begin(), bytes.end());
    const State state = handshake.feed(bytes);
    require((state == State::refused) == !handshake.why().empty());
    speak();
  }
};

void step(Side& to, Side& from, Input& input) {
  constexpr std::uint8_t actions = 4;
  const std::uint8_t action = input.next();
  const std::size_t count = input.next() % Handshake::hello_bytes + 1;
  const std::span<const std::byte> pending = std::span(from.said).subspan(to.delivered);
  const auto genuine = pending.first(std::min({count, pending.size(), to.handshake.wanted()}));
  std::vector<std::byte> bytes(genuine.begin(), genuine.end());
  switch (action % actions) {
    case 0:  // as it was said
      break;
    case 1:  // changed
      if (!bytes.empty()) bytes[input.next() % bytes.size()] ^= static_cast<std::byte>(1U << input.next() % 8);
      break;
    case 2:  // invented
      bytes.resize(count);
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(input.next());
      break;
    default:  // its own words, or what the other said before
      bytes = (action & actions) != 0 ? to.said : from.said;
      bytes.resize(std::min(bytes.size(), count));
  }
  to.delivered += genuine.size();
  to.hear(bytes);
}

/// Other nonces for every input, as every connection has others. The fuzzer sees what is compared, the right proof as well: what
/// it learned there must be worth nothing in the next run.
Nonce fresh_nonce(const std::uint8_t* data, std::size_t size, const char* whose) {
  const std::size_t number = std::hash<std::string>{}(whose + std::string(data, data + size));
  Nonce nonce{};
  std::memcpy(nonce.data(), &number, sizeof number);
  return nonce;
}

bool heard_only_what_was_said(const Side& side, const Side& other) {
  return side.heard.size() <= other.said.size() && std::equal(side.heard.begin(), side.heard.end(), other.said.begin());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const JobSecret secret{std::byte{1}, std::byte{2}, std::byte{3}};
  Input input(data, size);
  Side calling{Handshake::initiate(secret, Peer{0}, Peer{1}, fresh_nonce(data, size, "calling"))};
  Side called{Handshake::accept(secret, Peer{1}, 2, fresh_nonce(data, size, "called"))};
  bool decided = false;
  calling.speak();
  while (!input.empty()) {
    step(called, calling, input);
    if (!decided && called.handshake.state() == State::proven) {
      decided = true;
      called.handshake.decide((input.next() & 1) != 0);
      called.speak();
    }
    step(calling, called, input);
  }
  require(!decided || heard_only_what_was_said(called, calling));
  const State ending = calling.handshake.state();
  if (ending == State::proven || ending == State::declined) {
    require(heard_only_what_was_said(calling, called) && called.handshake.state() == ending);
  }
  return 0;
}
