// Two ranks whose records a test chooses, for tests of what is made of whole traces.
#pragma once

#include "tests/unit/tools/trace_maker.hpp"

namespace sluice {

class TwoRanks {
 public:
  static constexpr std::uint16_t message_eager = 1;
  static constexpr std::uint16_t message_rts = 2;
  static constexpr std::uint32_t helper = 1;  // thread

  void write() {
    first.write(directory.file(0));
    second.write(directory.file(1));
  }

  /// Rank 0 announces a message at 100 us; rank 1 matches it at 150 and has it at 300.
  void large_message() {
    using trace::Kind;
    first.add(Kind::message_out, 100, {.detail = message_rts, .value = 1, .operation = 5, .peer = 1, .tag = 7});
    first.add(Kind::post_send, 101, {.bytes = 1 << 20, .operation = 5, .site = 1, .peer = 1, .tag = 7});
    second.add(Kind::post_receive, 50, {.bytes = 1 << 20, .operation = 8, .site = 2, .peer = 0, .tag = 7});
    second.add(Kind::match, 150,
               {.detail = trace::match_rendezvous, .bytes = 1 << 20, .value = 1, .operation = 8, .peer = 0, .tag = 7});
    second.add(Kind::protocol, 151, {.detail = 2, .operation = 8, .peer = 0, .extra = 9});
    second.add(Kind::complete, 300, {.bytes = 1 << 20, .operation = 8, .peer = 0, .tag = 7}, helper);
  }

  TraceDirectory directory;
  TraceMaker first{0, 2};
  TraceMaker second{1, 2};
};

}  // namespace sluice
