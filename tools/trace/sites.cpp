#include "tools/trace/sites.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace sluice {

namespace {

bool lies_in(const CodePlace& place, const char* library) {
  return std::filesystem::path(place.module).filename().string().starts_with(library);
}

/// libmpi.so.40, libmpi_mpifh.so.40, libmpi_usempif08.so.40; and Sluice itself.
bool is_of_a_library(const CodePlace& place) { return lies_in(place, "libmpi") || lies_in(place, "libsluice"); }

bool keeps_paths(const TraceTable& table) {
  constexpr std::string_view name = "SLUICE_TRACE_PATHS=";
  const auto& settings = table.configuration();
  return std::any_of(settings.begin(), settings.end(), [name](const auto& setting) {
    return setting.second.starts_with(name) && setting.second != std::string(name) + "0";
  });
}

}  // namespace

std::string Site::place() const {
  if (frames.empty()) return "unknown place";
  const std::string caller = frames[program_frame].text();
  return own_frame == program_frame ? caller : frames[own_frame].text() + " through " + caller;
}

std::string Site::text() const { return call.empty() ? place() : call + " at " + place(); }

Sites::Sites(const TraceFile& file, Symbols& symbols)
    : file_(&file), symbols_(&symbols), have_paths_(keeps_paths(file.table())) {}

const Site& Sites::at(std::uint32_t id) {
  if (const auto known = known_.find(id); known != known_.end()) return known->second;
  Site& site = known_[id];
  const auto& traced = file_->table().sites();
  const auto found = traced.find(id);
  if (found == traced.end()) return site;
  site.call = found->second.function;
  const auto& modules = file_->table().modules();
  for (const trace::Frame frame : found->second.frames) {
    const bool is_exact = site.frames.empty() && found->second.first_is_exact;
    const std::uint64_t address = trace::frame_address(frame) - (is_exact ? 0 : 1);
    const auto module = modules.find(static_cast<std::uint32_t>(trace::frame_module(frame)));
    if (module == modules.end()) {
      site.frames.emplace_back().address = address;
    } else {
      site.frames.push_back(symbols_->find(module->second, address));
    }
  }
  const auto outside = std::find_if_not(site.frames.begin(), site.frames.end(), is_of_a_library);
  // A function of the C library that Sluice stands in front of: what the program called.
  if (site.call.empty() && outside != site.frames.begin() && lies_in(*std::prev(outside), "libsluice"))
    site.call = std::prev(outside)->symbol;
  if (outside != site.frames.end()) site.program_frame = static_cast<std::size_t>(outside - site.frames.begin());
  site.own_frame = site.program_frame;
  if (have_paths_) {
    const std::string_view program = file_->header().program.data();
    const auto own =
        std::find_if(outside, site.frames.end(), [program](const CodePlace& place) { return place.module == program; });
    if (own != site.frames.end()) site.own_frame = static_cast<std::size_t>(own - site.frames.begin());
  }
  return site;
}

}  // namespace sluice
