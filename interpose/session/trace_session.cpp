#include "interpose/session/trace_session.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>

#include "interpose/mpi/entry.hpp"
#include "interpose/session/summary.hpp"
#include "interpose/session/trace_clocks.hpp"
#include "runtime/alias/arena.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/trace/call_paths.hpp"
#include "runtime/trace/trace.hpp"

namespace sluice {
namespace {

/// This job has a trace: some rank wants one.
constinit bool wanted_somewhere = false;

std::int64_t largest_in(MPI_Comm comm, std::uint64_t own) {
  std::uint64_t largest = 0;
  host().Allreduce(&own, &largest, 1, predefined().uint64, predefined().max, comm);
  return static_cast<std::int64_t>(largest);
}

std::uint64_t agree_on_job_number(MPI_Comm comm) {
  std::uint64_t number = 0;
  if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number) number = now_ns();
  host().Bcast(&number, 1, predefined().uint64, 0, comm);
  return number;
}

bool was_spawned() {
  MPI_Comm parent = predefined().comm_null;
  host().Comm_get_parent(&parent);
  return parent != predefined().comm_null;
}

/// Why calls fell back, and why memory became no block.
void name_reasons() {
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(Fallback::count); ++i) {
    trace::add_word({"fallback", i, describe(static_cast<Fallback>(i))});
  }
  for (auto i = static_cast<std::uint32_t>(Ineligible::none); i <= static_cast<std::uint32_t>(Ineligible::huge); ++i) {
    trace::add_word({"eligibility", i, describe(static_cast<Ineligible>(i))});
  }
}

/// Empty when all is well, and where no paths are wanted.
std::string load_stack_walk(const Config& config) {
  return config.trace.empty() || config.trace_paths == 0 ? std::string() : trace::StackWalk::load();
}

/// Empty when all is well, and where no trace is wanted.
std::string open_file(const Config& config, int rank, int size, std::uint64_t job) {
  if (config.trace.empty()) return {};
  try {
    trace::open({.directory = config.trace,
                 .limit_bytes = config.trace_limit,
                 .keep = config.trace_keep == TraceKeep::oldest ? trace::Keep::oldest : trace::Keep::newest,
                 .path_depth = trace::StackWalk::is_loaded() ? config.trace_paths : 0,
                 .rank = rank,
                 .size = size,
                 .job = job,
                 .spawned = was_spawned()});
    name_reasons();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

/// Of the ranks that have such a trouble, the lowest one tells of it.
void tell(const char* variable, const std::string& trouble, const char* consequence, int rank, int size, MPI_Comm world) {
  const auto lowest = size - static_cast<int>(largest_in(world, trouble.empty() ? 0 : static_cast<std::uint64_t>(size - rank)));
  if (lowest != rank) return;
  std::fprintf(stderr, "sluice: warning: rank %d: %s: %s; this rank, and others with the same trouble, %s\n", rank, variable,
               trouble.c_str(), consequence);
}

}  // namespace

void begin_trace(const Config& config, MPI_Comm world) {
  wanted_somewhere = largest_in(world, config.trace.empty() ? 0 : 1) != 0;
  if (!wanted_somewhere) return;
  const int rank = rank_in(world);
  const int size = size_of(world);
  tell("SLUICE_TRACE_PATHS", load_stack_walk(config), "tell calls apart by their places alone", rank, size, world);
  tell("SLUICE_TRACE", open_file(config, rank, size, agree_on_job_number(world)), "write no trace", rank, size, world);
  compare_clocks(trace::Moment::start, world);
}

void describe_job_in_trace(const std::vector<trace::Transporter>& transporters) {
  if (!trace::on()) return;
  for (std::size_t first = 0; first < transporters.size(); first += trace::slot_payload_bytes) {
    const std::size_t count = std::min(trace::slot_payload_bytes, transporters.size() - first);
    trace::add_entry(trace::EntryType::peers, static_cast<std::uint32_t>(first),
                     {reinterpret_cast<const char*>(transporters.data()) + first, count});
  }
  Config config = session().config();
  if (!trace::StackWalk::is_loaded()) config.trace_paths = 0;  // whatever was asked for: readers go by it
  std::uint32_t position = 0;
  for (const ConfigVariable& variable : config_variables()) {
    trace::add_text(trace::EntryType::configuration, position++, std::string(variable.name) + '=' + variable.show(config));
  }
}

void conclude_trace(MPI_Comm world) {
  if (!wanted_somewhere) return;
  compare_clocks(trace::Moment::end, world);
  if (trace::on()) put_counters_into_trace();
}

}  // namespace sluice
