#include "tools/timeline/collector.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "tools/progress.hpp"

namespace sluice::timeline {

namespace {

/// About all ranks together: some 300 bytes each.
constexpr std::size_t max_operations = std::size_t{1} << 17;
constexpr std::size_t fewest_operations_of_a_rank = 1024;

}  // namespace

Collector::Collector(std::vector<const TraceFile*> files, std::size_t max_kept, Window window)
    : files_(std::move(files)),
      window_(window),
      lanes_(files_),
      slices_(max_kept),
      arrows_(max_kept),
      density_(lanes_.all().size()) {}

void Collector::read(const Trace& trace, const std::string& name) {
  std::map<const TraceFile*, std::unique_ptr<RankLanes>> ranks;
  std::size_t chunks = 0;
  const std::size_t operations = std::max(max_operations / files_.size(), fewest_operations_of_a_rank);
  for (std::size_t number = 0; number < files_.size(); ++number) {
    const TraceFile& file = *files_[number];
    ranks[&file] = std::make_unique<RankLanes>(file, number, lanes_, trace.start_ns(), operations, *this);
    chunks += file.chunks().size();
  }
  Progress progress(name, chunks * trace::records_per_chunk);
  TraceStream stream(files_);
  for (Event event; stream.next(event);) {
    progress.advance();
    last_ns_ = std::max(last_ns_, event.end_ns - trace.start_ns());
    ranks.at(event.file)->add(event);
  }
  for (const auto& [file, rank] : ranks) rank->finish(last_ns_);
}

void Collector::add(const Slice& slice) {
  if (!window_.has(slice.begin_ns, slice.begin_ns + static_cast<std::int64_t>(slice.duration_ns))) return;
  slices_.add(slice, [this](const Slice& short_one) { density_.add(short_one); });
}

/// The receiver's end, with what the sender knows.
void Collector::add(const std::optional<MessagePairs<Arrow>::Pair>& ends) {
  if (!ends) return;
  Arrow arrow = ends->received;
  arrow.sent_ns = ends->sent.sent_ns;
  arrow.from_lane = ends->sent.from_lane;
  arrow.from_site = ends->sent.from_site;
  arrow.send = ends->sent.send;
  if (!window_.has(arrow.sent_ns, std::max(arrow.sent_ns, arrow.complete_ns))) return;
  arrows_.add(arrow, [](const Arrow&) {});
}

Content Collector::content(const Trace& trace) {
  Content content;
  content.trace = &trace;
  content.files = files_;
  content.lanes = &lanes_;
  content.slices = std::move(slices_.finish([this](const Slice& short_one) { density_.add(short_one); }));
  content.arrows = std::move(arrows_.finish([](const Arrow&) {}));
  content.slice_counts = {slices_.left_out(), slices_.longest_left_out_ns()};
  content.arrow_counts = {arrows_.left_out(), arrows_.longest_left_out_ns()};
  content.one_ended = pairs_.unpaired();
  content.density = &density_;
  content.from_ns = std::max<std::int64_t>(window_.from_ns, 0);
  content.to_ns = std::max(std::min(window_.to_ns, last_ns_), content.from_ns + 1);
  return content;
}

}  // namespace sluice::timeline
