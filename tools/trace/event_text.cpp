#include "tools/trace/event_text.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace sluice {

namespace {

constexpr double ns_in_a_second = 1e9;

/// Signed, as peer and tag may be -1. Nothing for a member that this version does not have.
std::optional<std::int64_t> value_of(const trace::Record& record, const std::string& field) {
  if (field == "operation") return record.operation;
  if (field == "site") return record.site;
  if (field == "peer") return record.peer;
  if (field == "tag") return record.tag;
  if (field == "context") return record.context;
  if (field == "duration") return static_cast<std::int64_t>(record.duration_ns);
  if (field == "detail") return record.detail;
  if (field == "bytes") return static_cast<std::int64_t>(record.bytes);
  if (field == "value") return static_cast<std::int64_t>(record.value);
  if (field == "extra") return record.extra;
  return std::nullopt;
}

/// Calls visit(member, value) for each that the kind uses; for those of an unknown kind with all there are.
template <class Visit>
void for_each_member(const trace::Record& record, const TraceTable& table, Visit&& visit) {
  const TracedKind* const kind = table.kind(record.kind);
  for (const TracedMember& member : (kind ? *kind : undescribed_kind()).members) {
    if (const auto value = value_of(record, member.field)) visit(member, *value);
  }
}

std::string words_of(const TracedMember& member, std::int64_t value, const TraceTable& table) {
  const auto number = static_cast<std::uint32_t>(value);
  return member.form == TracedMember::Form::word ? table.word(member.list, number) : table.words_of_bits(member.list, number);
}

bool is_words(const TracedMember& member) {
  return member.form == TracedMember::Form::word || member.form == TracedMember::Form::bits;
}

}  // namespace

std::string json_string(const std::string& text) {
  // Nearly always, and a tenth of the time.
  const auto is_plain = [](char letter) { return letter >= ' ' && letter <= '~' && letter != '"' && letter != '\\'; };
  if (std::all_of(text.begin(), text.end(), is_plain)) return '"' + text + '"';
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

const TracedKind& undescribed_kind() {
  static const TracedKind kind = [] {
    TracedKind made;
    for (const char* field : {"operation", "site", "peer", "tag", "context", "duration", "detail", "bytes", "value", "extra"})
      made.members.push_back({field, field, TracedMember::Form::number, ""});
    return made;
  }();
  return kind;
}

void append_text(Buffer& line, const Event& event, std::int64_t start_ns, const TraceTable& table, Sites& sites) {
  const auto out = fmt::appender(line);
  fmt::format_to(out, "{:14.9f}  rank {} thread {}  {:<13}", static_cast<double>(event.end_ns - start_ns) / ns_in_a_second,
                 event.rank, static_cast<std::int32_t>(event.thread), table.kind_name(event.record.kind));
  for_each_member(event.record, table, [&](const TracedMember& member, std::int64_t value) {
    if (member.field == "site") {
      if (value != 0) fmt::format_to(out, "  {}", sites.at(static_cast<std::uint32_t>(value)).text());
    } else if (is_words(member)) {
      const std::string words = words_of(member, value, table);
      if (!words.empty()) fmt::format_to(out, "  {} {}", member.name, words);
    } else if (member.form == TracedMember::Form::address) {
      fmt::format_to(out, "  {} {:#x}", member.name, static_cast<std::uint64_t>(value));
    } else {
      fmt::format_to(out, "  {} {}", member.name, value);
    }
  });
  line.push_back('\n');
}

void append_json_members(Buffer& line, const trace::Record& record, const TraceTable& table, Sites& sites) {
  const auto out = fmt::appender(line);
  for_each_member(record, table, [&](const TracedMember& member, std::int64_t value) {
    const std::string name = json_string(member.name);
    if (is_words(member)) {
      fmt::format_to(out, ",{}:{}", name, json_string(words_of(member, value, table)));
    } else if (member.form == TracedMember::Form::address) {
      fmt::format_to(out, ",{}:\"{:#x}\"", name, static_cast<std::uint64_t>(value));
    } else {
      fmt::format_to(out, ",{}:{}", name, value);
    }
    if (member.field == "site" && value != 0)
      fmt::format_to(out, ",\"at\":{}", json_string(sites.at(static_cast<std::uint32_t>(value)).text()));
  });
}

void append_json(Buffer& line, const Event& event, std::int64_t start_ns, const TraceTable& table, Sites& sites) {
  const auto out = fmt::appender(line);
  fmt::format_to(out, "{{\"time_ns\":{},\"rank\":{},\"thread\":{},\"event\":{}", event.end_ns - start_ns, event.rank,
                 static_cast<std::int32_t>(event.thread), json_string(table.kind_name(event.record.kind)));
  append_json_members(line, event.record, table, sites);
  fmt::format_to(out, "}}\n");
}

void visit_members(const trace::Record& record, const TraceTable& table, Sites& sites, const MemberVisitor& visit) {
  for_each_member(record, table, [&](const TracedMember& member, std::int64_t value) {
    if (is_words(member)) {
      visit(member.name, words_of(member, value, table));
    } else if (member.form == TracedMember::Form::address) {
      visit(member.name, fmt::format("{:#x}", static_cast<std::uint64_t>(value)));
    } else {
      visit(member.name, fmt::format_int(value).c_str());
    }
    if (member.field == "site" && value != 0) visit("at", sites.at(static_cast<std::uint32_t>(value)).text());
  });
}

}  // namespace sluice
