// Reads a trace once and keeps what its page shows.
//
// Threading: one thread for each object.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/timeline/density.hpp"
#include "tools/timeline/longest.hpp"
#include "tools/timeline/page.hpp"
#include "tools/timeline/rank_lanes.hpp"

namespace sluice::timeline {

/// Nanoseconds since the start of the trace.
struct Window {
  std::int64_t from_ns = 0;
  std::int64_t to_ns = 0;

  [[nodiscard]] bool has(std::int64_t begin_ns, std::int64_t end_ns) const { return begin_ns < to_ns && end_ns >= from_ns; }
};

class Collector : public Sink {
 public:
  /// `most`: of slices, and of messages. `window`: what does not reach into it is passed over.
  Collector(std::vector<const TraceFile*> files, std::size_t max_kept, Window window);

  /// All records. `name` stands before the progress.
  void read(const Trace& trace, const std::string& name);
  /// Once, behind read(). This must outlive what it returns.
  Content content(const Trace& trace);

  void add(const Slice& slice) override;
  void sent(const MessageName& name, const Arrow& end) override { add(pairs_.add(name, true, end)); }
  void received(const MessageName& name, const Arrow& end) override { add(pairs_.add(name, false, end)); }

 private:
  void add(const std::optional<MessagePairs<Arrow>::Pair>& ends);

  std::vector<const TraceFile*> files_;
  Window window_;
  Lanes lanes_;
  Longest<Slice> slices_;
  Longest<Arrow> arrows_;
  Density density_;
  MessagePairs<Arrow> pairs_;
  std::int64_t last_ns_ = 0;
};

}  // namespace sluice::timeline
