#include "tools/trace/table.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <sstream>

namespace sluice {

namespace {

/// Up to the first zero, or all.
template <class Characters>
std::string text_in(const Characters& characters) {
  return {characters.begin(), std::find(characters.begin(), characters.end(), '\0')};
}

/// A structure at the front of `content`; false when that is too short.
template <class Payload>
bool take(std::span<const char> content, Payload& payload) {
  if (content.size() < sizeof payload) return false;
  std::memcpy(&payload, content.data(), sizeof payload);
  return true;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

/// "detail:how|post", "value:address@", "duration".
TracedMember member_of(std::string text) {
  TracedMember member;
  if (const auto mark = text.find_first_of("=|@"); mark != std::string::npos) {
    using Form = TracedMember::Form;
    member.form = text[mark] == '=' ? Form::word : (text[mark] == '|' ? Form::bits : Form::address);
    member.list = text.substr(mark + 1);
    text.erase(mark);
  }
  const auto colon = text.find(':');
  member.field = text.substr(0, colon);
  member.name = colon == std::string::npos ? text : text.substr(colon + 1);
  if (member.field == "duration") member.name = "duration_ns";
  return member;
}

TracedKind kind_of(std::string name, const std::string& members, std::string meaning) {
  TracedKind kind{std::move(name), {}, std::move(meaning)};
  for (const std::string& member : split(members, ' ')) kind.members.push_back(member_of(member));
  return kind;
}

constexpr std::uint32_t peers_in_an_entry = trace::slot_payload_bytes;

}  // namespace

TraceTable::TraceTable() {
  for (const trace::KindText& text : trace::kinds) {
    kinds_[static_cast<std::uint32_t>(text.kind)] =
        kind_of(std::string(text.name), std::string(text.members), std::string(text.meaning));
  }
  for (const trace::Word& word : trace::words) words_[{std::string(word.list), word.value}] = word.word;
}

bool TraceTable::add(trace::EntryType type, std::uint32_t id, std::span<const char> content) {
  switch (type) {
    case trace::EntryType::kind:
      return add_kind(id, text_in(content));
    case trace::EntryType::word:
      return add_word(text_in(content));
    case trace::EntryType::configuration:
      configuration_[id] = text_in(content);
      return true;
    case trace::EntryType::counter:
      return add_counter(id, content);
    case trace::EntryType::thread:
      return add_thread(id, content);
    case trace::EntryType::module:
      return add_module(id, content);
    case trace::EntryType::site:
      return add_site(id, content);
    case trace::EntryType::peers:
      for (const char value : content) peers_[id].push_back(static_cast<std::uint8_t>(value));
      return true;
    case trace::EntryType::none:
      break;
  }
  return false;
}

bool TraceTable::add_kind(std::uint32_t id, const std::string& text) {
  const auto parts = split(text, '\t');
  if (parts.size() != 3) return false;
  kinds_[id] = kind_of(parts[0], parts[1], parts[2]);
  return true;
}

bool TraceTable::add_word(const std::string& text) {
  const auto parts = split(text, '\t');
  std::uint32_t value = 0;
  if (parts.size() != 3) return false;
  if (std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), value).ec != std::errc()) return false;
  words_[{parts[0], value}] = parts[2];
  return true;
}

bool TraceTable::add_counter(std::uint32_t id, std::span<const char> content) {
  trace::CounterPayload payload;
  if (!take(content, payload)) return false;
  counters_[id] = {text_in(payload.name), payload.value, payload.unit};
  return true;
}

bool TraceTable::add_thread(std::uint32_t id, std::span<const char> content) {
  trace::ThreadPayload payload;
  if (!take(content, payload)) return false;
  threads_[id] = {payload.system_id, payload.role, text_in(payload.name)};
  return true;
}

bool TraceTable::add_module(std::uint32_t id, std::span<const char> content) {
  trace::ModulePayload payload;
  if (!take(content, payload) || payload.build_id_bytes > payload.build_id.size()) return false;
  const auto build_id = std::span(payload.build_id).first(payload.build_id_bytes);
  modules_[id] = {text_in(content.subspan(sizeof payload)), {build_id.begin(), build_id.end()}};
  return true;
}

bool TraceTable::add_site(std::uint32_t id, std::span<const char> content) {
  trace::SitePayload payload;
  // Frames that are not there are not written.
  const std::size_t bytes = std::min(content.size(), sizeof payload);
  if (bytes < offsetof(trace::SitePayload, frame)) return false;
  std::memcpy(&payload, content.data(), bytes);
  if (payload.frames > (bytes - offsetof(trace::SitePayload, frame)) / sizeof(trace::Frame)) return false;
  const auto frames = std::span(payload.frame).first(payload.frames);
  sites_[id] = {text_in(payload.function), {frames.begin(), frames.end()}, payload.first_is_exact != 0};
  return true;
}

const TracedKind* TraceTable::kind(std::uint16_t kind) const {
  const auto found = kinds_.find(kind);
  return found == kinds_.end() ? nullptr : &found->second;
}

std::string TraceTable::kind_name(std::uint16_t number) const {
  const TracedKind* const known = kind(number);
  return known ? known->name : "kind " + std::to_string(number);
}

std::string TraceTable::word(const std::string& list, std::uint32_t value) const {
  const auto found = words_.find({list, value});
  return found != words_.end() ? found->second : std::to_string(value);
}

std::string TraceTable::words_of_bits(const std::string& list, std::uint32_t bits) const {
  std::string text;
  for (unsigned bit = 0; bit < 32; ++bit) {
    if ((bits >> bit & 1U) == 0) continue;
    if (!text.empty()) text += '+';
    text += word(list, 1U << bit);
  }
  return text;
}

std::string TraceTable::transporter(std::int32_t peer) const {
  if (peer < 0) return "";
  const auto wanted = static_cast<std::uint32_t>(peer);
  const auto entry = peers_.find(wanted / peers_in_an_entry * peers_in_an_entry);
  if (entry == peers_.end() || wanted - entry->first >= entry->second.size()) return "";
  const std::uint8_t value = entry->second[wanted - entry->first];
  return value == 0 ? "" : word("transporter", value);
}

}  // namespace sluice
