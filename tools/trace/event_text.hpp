// A record as a line for people or for programs. Members and words are those that the trace itself names, so that a trace of a
// later version with more kinds is printed whole.
#pragma once

#include <fmt/format.h>

#include "tools/trace/rank_stream.hpp"
#include "tools/trace/sites.hpp"

namespace sluice {

using Buffer = fmt::memory_buffer;

/// "    0.001500000  rank 0 thread 0  match         operation 3  peer 1  tag 7 ..." and a line end.
void append_text(Buffer& line, const Event& event, std::int64_t start_ns, const TraceTable& table, Sites& sites);
/// One JSON object and a line end. Times are nanoseconds since the start of the trace.
void append_json(Buffer& line, const Event& event, std::int64_t start_ns, const TraceTable& table, Sites& sites);

/// With quotes, escaped; bytes that are no UTF-8 replaced.
std::string json_string(const std::string& text);

}  // namespace sluice
