#include "tools/info.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "runtime/config/config_value.hpp"
#include "runtime/guard/choice.hpp"
#include "runtime/machine/calibration_file.hpp"
#include "tools/config_text.hpp"
#include "tools/exit_status.hpp"
#include "tools/frequent_uses.hpp"
#include "tools/host_mpi.hpp"
#include "tools/preload.hpp"
#include "verbs/device.hpp"

namespace sluice {

namespace {

struct Choice {
  std::string chosen;
  std::string reason;
};

/// Early release needs memory files; without them receives wait for their data.
Choice chosen_guard(const Config& config) {
  if (config.release == ReleaseMode::off) return {"none", "SLUICE_RELEASE=off"};
  if (config.keeps_pages()) return {"none", config.why_pages_are_kept()};
  const int file = ::memfd_create("sluice-info", MFD_CLOEXEC);
  if (file < 0) return {"none", fmt::format("memory files are refused: {}", std::strerror(errno))};
  ::close(file);
  const GuardChoice choice = choose_guard(config.guard);
  return {name_of(choice.engine), choice.reason};
}

struct Adapter {
  Choice choice;
  FrequentUses small_sends;
};

/// What an adapter has to be for the transport to take it is asked as at MPI_Init, but for the memory that a job would lock.
Adapter chosen_adapter(const Config& config) {
  try {
    const VerbsDevice device(VerbsLibrary::get(), config.verbs_device, gid_index(config.verbs_gid));
    return {{device.description(), {}}, measured_uses(config, device)};
  } catch (const std::exception& error) {
    return {{"none", error.what()}, unmeasured_uses(config, "there is no adapter")};
  }
}

struct Report {
  std::string library;
  HostMpi host;
  Choice guard;
  std::string transports;
  Adapter adapter;
  CalibrationInForce copies;
  std::vector<SettingInForce> settings;
  ParsedConfig parsed;
};

/// What a job would find; what the first job will measure is not known before.
std::string source_of(const CalibrationInForce& found) {
  std::string source;
  switch (found.calibration.source) {
    case Calibration::Source::assumed:
      source =
          found.is_off ? "assumed, SLUICE_CALIBRATION=off" : "assumed; the first job with ranks that share memory measures them";
      break;
    case Calibration::Source::measured:
      source = "measured now";
      break;
    case Calibration::Source::file:
      source = found.path;
      break;
  }
  for (const std::string& remark : {found.warning, found.note}) source += remark.empty() ? "" : "; " + remark;
  return source;
}

nlohmann::json bytes_or_null(std::size_t bytes) { return bytes == shared_copy::never ? nlohmann::json() : nlohmann::json(bytes); }

nlohmann::json as_json(const CalibrationInForce& found) {
  const Calibration& values = found.calibration;
  return {{"source", source_of(found)},
          {"round_trip_ns", values.round_trip_ns},
          {"one_core", values.one_core != 0},
          {"pieces", name_of(values.copies.pieces)},
          {"string_bytes", bytes_or_null(values.copies.string_bytes)},
          {"streaming_bytes", bytes_or_null(values.copies.streaming_bytes)},
          {"streaming_read_bytes", bytes_or_null(values.copies.streaming_read_bytes)},
          {"streaming_shared_bytes", bytes_or_null(values.copies.streaming_shared_bytes)},
          {"handing_back_bytes", bytes_or_null(values.copies.handing_back_bytes)},
          {"far_ns", values.far_ns},
          {"gathered_bytes", bytes_or_null(values.gathered_bytes)},
          {"single_copy_bytes", bytes_or_null(values.single_copy_bytes)},
          {"coop_bytes", values.coop_bytes},
          {"coop_own_bytes", values.coop_own_bytes},
          {"coop_turns_bytes", bytes_or_null(values.coop_turns_bytes)},
          {"chunk_bytes", values.chunk_bytes}};
}

std::string from(std::size_t bytes) { return bytes == shared_copy::never ? "never" : "from " + show_bytes(bytes); }

std::string left_to_sender(std::uint32_t far_ns) {
  if (far_ns == 0) return {};
  return far_ns == any_distance_ns ? "; left to it" : fmt::format("; left to it where a line takes longer than {} ns", far_ns);
}

std::string as_text(const CalibrationInForce& found) {
  const Calibration& values = found.calibration;
  std::string text = fmt::format("copies:     {}\n", source_of(found));
  if (values.round_trip_ns != 0)
    text += fmt::format("            a cache line to the next processor and back: {} ns{}\n", values.round_trip_ns,
                        values.one_core == 0 ? "" : " (a thread of the same core: measured anew once it is not)");
  text += fmt::format("            by {} stores ({}); streaming stores into a peer {}, out of a peer {}\n",
                      name_of(values.copies.pieces), copy_variant(values.copies.pieces).name, from(values.copies.streaming_bytes),
                      from(values.copies.streaming_read_bytes));
  text += fmt::format("            ... and into memory that the peer has read {}\n", from(values.copies.streaming_shared_bytes));
  text += fmt::format("            lines that a peer writes anew handed back {}", from(values.copies.handing_back_bytes));
  text += left_to_sender(values.far_ns) + "\n";
  text += fmt::format("            several at once, on processors that many share, left to blocked senders {}\n",
                      from(values.gathered_bytes));
  text += fmt::format("            what is sent again as it was copied once, not through a ring, {}\n",
                      from(values.single_copy_bytes));
  text += fmt::format("            by both sides {}, into memory that only the receiver uses {}; in chunks of up to {}\n",
                      from(values.coop_bytes), from(values.coop_own_bytes), show_bytes(values.chunk_bytes));
  text += fmt::format("            ... on processors that many share {}\n", from(values.coop_turns_bytes));
  return text;
}

Report make_report(bool calibrate) {
  const auto library = find_library();
  ParsedConfig parsed = parse_config(environ);
  return {library ? library->string() : std::string(),
          find_host_mpi(),
          chosen_guard(parsed.config),
          parsed.config.transports,
          chosen_adapter(parsed.config),
          calibrate ? find_calibration(parsed.config.calibration, true) : stored_calibration(parsed.config.calibration),
          settings_in_force(environ),
          std::move(parsed)};
}

std::string describe(const HostMpi& host) {
  if (!host.found) return "not found: " + host.problem;
  const std::string& told = host.problem.empty() ? host.remark : host.problem;
  return told.empty() ? host.version : fmt::format("{} ({})", host.version, told);
}

void print_text(const Report& report) {
  fmt::print("sluice {}\n", SLUICE_VERSION);
  fmt::print("library:    {}\n", report.library.empty() ? "not found" : report.library);
  fmt::print("host MPI:   {}\n", describe(report.host));
  fmt::print("page guard: {} ({})\n", report.guard.chosen, report.guard.reason);
  fmt::print("transports: {}\n", report.transports);
  const Choice& adapter = report.adapter.choice;
  const std::string why = adapter.reason.empty() ? "" : fmt::format(" ({})", adapter.reason);
  fmt::print("verbs:      {}{}\n{}", adapter.chosen, why, as_text(report.adapter.small_sends));
  fmt::print("{}\n{}", as_text(report.copies), as_text(report.settings));
}

void print_json(const Report& report) {
  const nlohmann::json json = {
      {"version", SLUICE_VERSION},
      {"library", report.library.empty() ? nlohmann::json() : nlohmann::json(report.library)},
      {"host_mpi",
       {{"found", report.host.found},
        {"version", report.host.version},
        {"problem", report.host.problem},
        {"remark", report.host.remark}}},
      {"guard", {{"chosen", report.guard.chosen}, {"reason", report.guard.reason}}},
      {"transports", report.transports},
      {"verbs", {{"adapter", report.adapter.choice.chosen}, {"reason", report.adapter.choice.reason}}},
      {"small_sends", as_json(report.adapter.small_sends)},
      {"copies", as_json(report.copies)},
      {"config", as_json(report.settings)},
      {"errors", report.parsed.errors},
      {"warnings", report.parsed.warnings},
  };
  fmt::print("{}\n", json.dump(2));
}

void print_config(const std::string& format) {
  if (format == "json") {
    fmt::print("{}\n", as_json(settings_in_force(environ)).dump(2));
  } else if (format == "markdown") {
    fmt::print("{}", table_as_markdown());
  } else if (format == "man") {
    fmt::print("{}", table_as_man_page());
  } else {
    fmt::print("{}", as_text(settings_in_force(environ)));
  }
}

}  // namespace

InfoCommand::InfoCommand(CLI::App& parent)
    : Subcommand(parent, "info", "Tell version, host MPI, page guard, transports, thresholds of copies and configuration") {
  command().add_flag("--config", config_only_, "Print the configuration table alone");
  command()
      .add_flag("--calibrate", calibrate_, "Measure copies inside a node anew, and store the thresholds that follow")
      ->excludes("--config");
  auto* const format = command()
                           .add_option("--format", format_, "text or json; for --config also markdown or man")
                           ->check(CLI::IsMember({"text", "json", "markdown", "man"}))
                           ->type_name("text|json|markdown|man");
  command()
      .add_flag_callback(
          "--json", [this] { format_ = "json"; }, "The same as --format json")
      ->excludes(format);
}

int InfoCommand::execute() {
  const ParsedConfig parsed = parse_config(environ);
  for (const std::string& warning : parsed.warnings) fmt::print(stderr, "sluice info: warning: {}\n", warning);
  for (const std::string& error : parsed.errors) fmt::print(stderr, "sluice info: {}\n", error);

  if (config_only_) {
    print_config(format_);
  } else if (format_ == "json") {
    print_json(make_report(calibrate_));
  } else if (format_ == "text") {
    print_text(make_report(calibrate_));
  } else {
    fmt::print(stderr, "sluice info: --format {} needs --config\n", format_);
    return exit_usage;
  }
  return parsed.errors.empty() ? exit_success : exit_usage;
}

}  // namespace sluice
