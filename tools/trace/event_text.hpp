// A record as a line for people or for programs. Members and words are those that the trace itself names, so that a trace of a
// later version with more kinds is printed whole.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>

#include "tools/trace/rank_stream.hpp"
#include "tools/trace/sites.hpp"

namespace sluice {

using Buffer = fmt::memory_buffer;

/// "    0.001500000  rank 0 thread 0  match         operation 3  peer 1  tag 7 ..." and a line end.
void append_text(Buffer& line, const Event& event, std::int64_t start_ns, const TraceTable& table, Sites& sites);
/// One JSON object and a line end. Times are nanoseconds since the start of the trace.
void append_json(Buffer& line, const Event& event, std::int64_t start_ns, const TraceTable& table, Sites& sites);
/// The members that the record's kind uses, as in append_json: `,"peer":1,"tag":7`.
void append_json_members(Buffer& line, const trace::Record& record, const TraceTable& table, Sites& sites);

/// Calls visit(name, value) for each member that the record's kind uses, and with "at" and its site. Values are those of
/// append_json, without quotes.
using MemberVisitor = std::function<void(const std::string& name, std::string_view value)>;
void visit_members(const trace::Record& record, const TraceTable& table, Sites& sites, const MemberVisitor& visit);
/// How the members are called of which append_json tells for a kind that a trace does not describe.
[[nodiscard]] const TracedKind& undescribed_kind();

/// With quotes, escaped; bytes that are no UTF-8 replaced.
std::string json_string(const std::string& text);

}  // namespace sluice
