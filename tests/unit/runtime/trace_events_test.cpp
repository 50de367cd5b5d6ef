// What two engines write into a trace over the model of an adapter, driven by hand: every record of a message, in order, beside
// what the protocol exchanges.
#include "runtime/trace_events.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "runtime/registration_cache.hpp"
#include "runtime/trace.hpp"
#include "tests/unit/runtime/rdma_pair.hpp"
#include "tests/unit/support/trace_reading.hpp"

namespace sluice {
namespace {

using trace::Kind;
using trace::Record;
using Lines = std::vector<std::string>;

/// The word for a value of a list; what a set of bits consists of, for a sum of several.
std::string word_of(std::string_view list, std::uint32_t value) {
  std::string bits;
  for (const trace::Word& word : trace::words) {
    if (word.list != list) continue;
    if (word.value == value) return std::string(word.word);
    if ((word.value & value) != 0) bits += (bits.empty() ? "" : "+") + std::string(word.word);
  }
  return bits;
}

/// "match rendezvous 20000": kind, its word if it has one, its bytes.
std::string line_of(const Record& record) {
  for (const trace::KindText& kind : trace::kinds) {
    if (static_cast<std::uint16_t>(kind.kind) != record.kind) continue;
    std::string line(kind.name);
    if (const auto detail = kind.members.find("detail:"); detail != std::string_view::npos) {
      const auto begin = kind.members.find_first_of("=|", detail) + 1;
      const std::string word = word_of(kind.members.substr(begin, kind.members.find(' ', begin) - begin), record.detail);
      if (!word.empty()) line += " " + word;
    }
    return kind.members.find("bytes:") == std::string_view::npos ? line : line + " " + std::to_string(record.bytes);
  }
  return "unknown kind";
}

/// A trace for as long as this is there. Two engines of one process write to it: those of rank 0 are about peer 1.
class Traced {
 public:
  Traced() : directory_(std::filesystem::temp_directory_path() / ("sluice-events-" + std::to_string(getpid()))) {
    trace::open({.directory = directory_, .limit_bytes = std::size_t{1} << 20, .rank = 0, .size = 2});
  }
  ~Traced() {
    trace::close();
    std::filesystem::remove_all(directory_);
  }
  Traced(const Traced&) = delete;
  Traced& operator=(const Traced&) = delete;

  [[nodiscard]] std::vector<Record> records() const { return trace::read_trace(directory_ / "rank-000000.trace").records[0]; }
  /// Those of one side, but for how much was in place when.
  [[nodiscard]] Lines of(Peer side) const {
    Lines lines;
    for (const Record& record : records()) {
      const bool is_progress = record.kind == static_cast<std::uint16_t>(Kind::progress);
      if (record.peer == 1 - static_cast<std::int32_t>(side) && !is_progress) lines.push_back(line_of(record));
    }
    return lines;
  }
  [[nodiscard]] Lines of(Kind kind) const {
    Lines lines;
    for (const Record& record : records()) {
      if (record.kind == static_cast<std::uint16_t>(kind)) lines.push_back(line_of(record));
    }
    return lines;
  }

 private:
  std::filesystem::path directory_;
};

constexpr Peer sender_side{0};
constexpr Peer receiver_side{1};
constexpr std::size_t bytes = 20'000;

/// The byte at its end is one that the receiver's buffer does not begin with, so that put needs no second message.
struct Buffers {
  std::vector<std::byte> sent = pattern(bytes, 3);
  std::vector<std::byte> got = std::vector<std::byte>(bytes);
};

Config patient(Rendezvous protocol) {
  Config config = RdmaPair::forced(protocol);
  config.rtr_wait = 3'600'000'000;
  return config;
}

TEST(trace_events, message_of_every_protocol_is_told_from_beginning_to_end) {
  const std::map<Rendezvous, std::pair<Lines, Lines>> expected = {};
  for (const auto& [protocol, sides] : expected) {
    const Traced traced;
    RdmaPair pair({}, patient(protocol));
    Buffers buffers;
    pair.exchange(RdmaPair::contiguous(buffers.sent), RdmaPair::contiguous(buffers.got));
    pair.run_out();
    EXPECT_EQ(traced.of(sender_side), sides.first) << name_of(protocol);
    EXPECT_EQ(traced.of(receiver_side), sides.second) << name_of(protocol);
  }
}

TEST(trace_events, memory_that_cannot_be_registered_is_told_and_so_is_what_the_message_did_instead) {
  const Traced traced;
  RdmaPair pair({.refused_processes = {1}}, RdmaPair::forced(Rendezvous::get));
  Buffers buffers;
  pair.exchange(RdmaPair::contiguous(buffers.sent), RdmaPair::contiguous(buffers.got));
  pair.run_out();
  EXPECT_EQ(traced.of(Kind::registration), Lines{});
  EXPECT_EQ(traced.of(Kind::fallback), Lines{});
  EXPECT_EQ(traced.of(Kind::protocol), Lines{});
}

TEST(trace_events, messages_sent_and_received_carry_the_same_numbers) {
  const Traced traced;
  RdmaPair pair({}, RdmaPair::forced(Rendezvous::getcqe));
  for (int i = 0; i < 3; ++i) {
    Buffers buffers;
    pair.exchange(RdmaPair::contiguous(buffers.sent), RdmaPair::contiguous(buffers.got));
  }
  std::vector<std::uint64_t> left;
  std::vector<std::uint64_t> matched;
  for (const Record& record : traced.records()) {
    if (record.kind == static_cast<std::uint16_t>(Kind::match)) matched.push_back(record.value);
    const bool is_rts = record.detail == static_cast<std::uint16_t>(MessageKind::rts);
    if (record.kind == static_cast<std::uint16_t>(Kind::message_out) && is_rts) left.push_back(record.value);
  }
  EXPECT_EQ(left, (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(matched, left);
}

}  // namespace
}  // namespace sluice
