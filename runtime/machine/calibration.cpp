#include "runtime/machine/calibration.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>

namespace sluice {
namespace {

constexpr std::string_view title = "sluice calibration 10";
constexpr std::string_view never_word = "never";

constexpr std::size_t least_streaming_bytes = std::size_t{4} << 10;
constexpr std::size_t least_chunk_bytes = std::size_t{64} << 10;
constexpr std::size_t most_chunk_bytes = std::size_t{256} << 10;
constexpr std::uint32_t most_round_trip_ns = 1'000'000;

/// Names and members in the order of the file.
template <class Values, class Each>
void for_each_value(Values& values, Each&& each) {
  each("round_trip_ns", values.round_trip_ns);
  each("one_core", values.one_core);
  each("pieces", values.copies.pieces);
  each("streaming_bytes", values.copies.streaming_bytes);
  each("streaming_read_bytes", values.copies.streaming_read_bytes);
  each("streaming_shared_bytes", values.copies.streaming_shared_bytes);
  each("handing_back_bytes", values.copies.handing_back_bytes);
  each("far_ns", values.far_ns);
  each("gathered_bytes", values.gathered_bytes);
  each("single_copy_bytes", values.single_copy_bytes);
  each("coop_bytes", values.coop_bytes);
  each("coop_own_bytes", values.coop_own_bytes);
  each("coop_turns_bytes", values.coop_turns_bytes);
  each("chunk_bytes", values.chunk_bytes);
}

std::string in_hex(std::uint64_t number) {
  std::array<char, 16> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number, 16).ptr;
  return {text.data(), end};
}

/// The next line, without its end; the rest stays in `text`.
std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

bool parse(std::string_view text, std::uint32_t& number) {
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && stopped == text.data() + text.size();
}

bool parse(std::string_view text, std::size_t& bytes) {
  if (text == never_word) {
    bytes = shared_copy::never;
    return true;
  }
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  return error == std::errc() && stopped == text.data() + text.size();
}

bool parse(std::string_view text, Stores& stores) {
  for (const Stores known : {Stores::library, Stores::string, Stores::vector}) {
    if (text != name_of(known)) continue;
    stores = known;
    return true;
  }
  return false;
}

std::string show(std::uint32_t number) { return std::to_string(number); }
std::string show(std::size_t bytes) { return bytes == shared_copy::never ? std::string(never_word) : std::to_string(bytes); }
std::string show(Stores stores) { return std::string(name_of(stores)); }

std::string model_of_processor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("model name")) continue;
    const auto value = line.find_first_not_of(": \t", line.find(':'));
    return value == std::string::npos ? std::string() : line.substr(value);
  }
  return "unknown processor";
}

}  // namespace

Calibration clamped(Calibration calibration) {
  auto& copies = calibration.copies;
  calibration.round_trip_ns = std::min(calibration.round_trip_ns, most_round_trip_ns);
  calibration.one_core = std::min(calibration.one_core, 1U);
  copies.streaming_bytes = std::max(copies.streaming_bytes, least_streaming_bytes);
  copies.streaming_read_bytes = std::max(copies.streaming_read_bytes, least_streaming_bytes);
  copies.streaming_shared_bytes = std::max(copies.streaming_shared_bytes, least_streaming_bytes);
  calibration.far_ns = std::min(calibration.far_ns, most_round_trip_ns);
  copies.handing_back_bytes = std::max(copies.handing_back_bytes, least_streaming_bytes);
  calibration.gathered_bytes = std::max(calibration.gathered_bytes, Calibration::least_coop_bytes);
  calibration.single_copy_bytes = std::max(calibration.single_copy_bytes, Calibration::least_single_copy_bytes);
  calibration.coop_bytes = std::clamp(calibration.coop_bytes, Calibration::least_coop_bytes, Calibration::most_coop_bytes);
  calibration.coop_own_bytes = std::clamp(calibration.coop_own_bytes, calibration.coop_bytes, Calibration::most_coop_own_bytes);
  calibration.coop_turns_bytes = std::max(calibration.coop_turns_bytes, Calibration::least_coop_turns_bytes);
  calibration.chunk_bytes = std::clamp(calibration.chunk_bytes, least_chunk_bytes, most_chunk_bytes);
  return calibration;
}

/// FNV-1a.
std::uint64_t calibration_hash(std::string_view text) {
  std::uint64_t sum = 0xcbf29ce484222325;
  for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return sum;
}

std::string calibration_key() {
  return model_of_processor() + ", " + std::to_string(sysconf(_SC_NPROCESSORS_CONF)) + " processors, sluice " SLUICE_VERSION;
}

std::string to_text(const Calibration& calibration, std::string_view key) {
  std::string text(title);
  text.append("\nkey ").append(key).append("\n");
  for_each_value(calibration, [&](std::string_view name, const auto& value) {
    text.append(name).append(" ").append(show(value)).append("\n");
  });
  return text + "sum " + in_hex(calibration_hash(text)) + "\n";
}

ReadCalibration from_text(std::string_view text, std::string_view key) {
  std::string_view rest = text;
  if (take_line(rest) != title) return {{}, "is no calibration file of this version"};
  const auto sum = text.rfind("\nsum ");
  if (sum == std::string_view::npos) return {{}, "is cut off"};
  std::string expected = "sum ";
  expected.append(in_hex(calibration_hash(text.substr(0, sum + 1)))).append("\n");
  if (text.substr(sum + 1) != expected) return {{}, "is damaged"};
  const std::string_view found = take_line(rest);
  if (!found.starts_with("key ") || found.substr(4) != key) return {{}, "is of another machine or version"};
  Calibration read;
  bool whole = true;
  for_each_value(read, [&](std::string_view name, auto& value) {
    const std::string_view line = take_line(rest);
    whole = whole && line.starts_with(name) && line.size() > name.size() && parse(line.substr(name.size() + 1), value);
  });
  if (!whole || rest.data() != text.data() + sum + 1) return {{}, "has not the expected values"};
  read.source = Calibration::Source::file;
  return {clamped(read), {}};
}

}  // namespace sluice
