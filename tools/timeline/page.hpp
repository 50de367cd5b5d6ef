// Writes the page: one HTML file that needs nothing else, neither a network nor a server. Its parts page.html, page.css and the
// scripts are in this directory and were put together when the command was built (embed.py); here the trace's part goes in.
//
// Whatever a trace may contain, it cannot become part of the page's own code: names are in JSON whose "<" are escaped and are
// shown as text, numbers are in base64.
#pragma once

#include <string>
#include <vector>

#include "tools/export/output_file.hpp"
#include "tools/timeline/density.hpp"
#include "tools/timeline/pieces.hpp"

namespace sluice::timeline {

/// Of slices or of messages.
struct Counts {
  std::uint64_t left_out = 0;
  std::uint64_t longest_left_out_ns = 0;
};

struct Content {
  const Trace* trace = nullptr;
  std::vector<const TraceFile*> files;  // that are shown
  const Lanes* lanes = nullptr;
  std::vector<Slice> slices;
  std::vector<Arrow> arrows;
  Counts slice_counts;
  Counts arrow_counts;
  std::uint64_t one_ended = 0;  // messages of which one end was told only
  const Density* density = nullptr;
  std::int64_t from_ns = 0;  // what the page shows, since the start of the trace
  std::int64_t to_ns = 0;
  std::string name;  // of the trace
};

/// Sorts slices and messages on its way. Throws as OutputFile does.
void write_page(OutputFile& file, Content& content);

}  // namespace sluice::timeline
