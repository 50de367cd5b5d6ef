#include "tools/timeline/timeline.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "tools/export/output_file.hpp"
#include "tools/interruption.hpp"
#include "tools/timeline/collector.hpp"
#include "tools/timeline/page.hpp"

namespace sluice {

namespace {

std::int64_t nanoseconds(double seconds) {
  constexpr double ns_in_a_second = 1e9;
  constexpr double max_ns = 9e18;
  return static_cast<std::int64_t>(std::clamp(seconds * ns_in_a_second, -max_ns, max_ns));
}

}  // namespace

TimelineCommand::TimelineCommand(CLI::App& parent)
    : TraceCommand(parent, "timeline",
                   "Write an HTML page with the lanes of all threads, their waits, and messages between them") {
  command().add_option("-o,--output", output_, "The page; timeline.html otherwise")->type_name("FILE");
  command()
      .add_option("--most", max_,
                  "How many slices, and how many messages, the page shows one by one: the longest; 100000 otherwise")
      ->type_name("NUMBER")
      ->check(CLI::PositiveNumber);
  command().add_option("--rank", ranks_, "Only these ranks")->delimiter(',')->type_name("LIST");
  command()
      .add_option("--from", from_s_, "Only what reaches beyond this time, in seconds from the start of the trace")
      ->type_name("SECONDS");
  command().add_option("--to", to_s_, "Only what begins before this time")->type_name("SECONDS");
}

std::vector<const TraceFile*> TimelineCommand::wanted_files(const Trace& trace) const {
  std::vector<const TraceFile*> files;
  for (const auto& file : trace.files()) {
    if (ranks_.empty() || std::find(ranks_.begin(), ranks_.end(), file->rank()) != ranks_.end()) files.push_back(file.get());
  }
  if (files.empty()) throw std::runtime_error(path() + ": --rank: the trace has none of these ranks");
  return files;
}

int TimelineCommand::execute() {
  const auto trace = open();
  if (!(from_s_ < to_s_)) throw std::runtime_error(fmt::format("--to {}: it must be later than --from", to_s_));
  const Interruptible interruptible;
  OutputFile page(output_);  // before what takes long: it may fail
  timeline::Collector collector(wanted_files(*trace), max_, {nanoseconds(from_s_), nanoseconds(to_s_)});
  collector.read(*trace, "sluice timeline");
  timeline::Content content = collector.content(*trace);
  content.name = std::filesystem::path(path()).lexically_normal().string();
  timeline::write_page(page, content);
  page.finish();
  fmt::print("{}: {} lanes, {} slices, {} messages", output_, content.lanes->all().size(), content.slices.size(),
             content.arrows.size());
  if (content.slice_counts.left_out + content.arrow_counts.left_out > 0)
    fmt::print("; {} shorter slices and {} shorter messages are not shown one by one (--most, --from, --to)",
               content.slice_counts.left_out, content.arrow_counts.left_out);
  fmt::print("\n");
  return tell_damage(*trace);
}

}  // namespace sluice
