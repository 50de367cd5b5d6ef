#include "interpose/session/session.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <type_traits>
#include <vector>

#include "interpose/host/host_turns.hpp"
#include "interpose/libc/memory_ends.hpp"
#include "interpose/libc/process.hpp"
#include "interpose/libc/signal.hpp"
#include "interpose/mpi/communicators.hpp"
#include "interpose/mpi/datatypes.hpp"
#include "interpose/mpi/entry.hpp"
#include "interpose/mpi/handles.hpp"
#include "interpose/mpi/reductions.hpp"
#include "interpose/session/finalize_callback.hpp"
#include "interpose/session/fork.hpp"
#include "interpose/session/job_check.hpp"
#include "interpose/session/node_calibration.hpp"
#include "interpose/session/remaining_memory.hpp"
#include "interpose/session/session_use.hpp"
#include "interpose/session/summary.hpp"
#include "interpose/session/trace_session.hpp"
#include "runtime/alias/arena.hpp"
#include "runtime/alias/forked_blocks.hpp"
#include "runtime/alias/watched_memory.hpp"
#include "runtime/copy/shared_copy.hpp"
#include "runtime/engine/lock.hpp"
#include "runtime/process/cancellation.hpp"
#include "runtime/process/descriptor_room.hpp"
#include "runtime/process/mapping_budget.hpp"
#include "runtime/trace/trace.hpp"
#include "shmem/transport.hpp"
#include "verbs/transport.hpp"

namespace sluice {
namespace detail {

constinit std::atomic<bool> engaged{false};
constinit Engine* engine = nullptr;

}  // namespace detail

namespace {

constinit Session* the_session = nullptr;

constexpr std::array call_names = {
#include "call_names.inc"
};
static_assert(call_names.size() <= 256, "CallSite has a byte for them");

/// Prints every error; the job ends.
void abort_job(const std::vector<std::string>& errors) {
  for (const auto& error : errors) std::fprintf(stderr, "sluice: %s\n", error.c_str());
  host().Abort(predefined().comm_world, 1);
}

int tag_limit_of_host() {
  int* limit = nullptr;
  int found = 0;
  host().Comm_get_attr(predefined().comm_world, MPI_TAG_UB, &limit, &found);
  constexpr int guaranteed = 32767;
  return found ? *limit : guaranteed;
}

/// Blocks and protections may use a part of the mappings that the kernel grants a process; the rest is the application's (rule
/// 13).
std::size_t map_budget() { return MappingBudget::share_of(MappingBudget::granted_to_a_process(), 0); }

/// What each process tells the others of its node.
struct Neighbour {
  int world_rank;
  CarryMode collectives;
  CarryMode one_sided;
  ProcessorSet processors;
};
static_assert(std::is_trivially_copyable_v<Neighbour>);

/// Collective over the ranks of a node, in its order.
std::vector<Neighbour> gather_neighbours(MPI_Comm node, int world_rank, const Config& config) {
  const Neighbour own{world_rank, config.collectives, config.one_sided, allowed_processors()};
  std::vector<Neighbour> all(static_cast<std::size_t>(size_of(node)));
  host().Allgather(&own, sizeof own, predefined().byte, all.data(), sizeof own, predefined().byte, node);
  return all;
}

CarryMode least(const std::vector<Neighbour>& neighbours, CarryMode Neighbour::*what) {
  CarryMode found = CarryMode::all;
  for (const Neighbour& neighbour : neighbours) found = std::min(found, neighbour.*what);
  return found;
}

ProcessorShare count_processors(const std::vector<Neighbour>& neighbours, const ProcessorSet& own) {
  ProcessorSet all{};
  for (const Neighbour& neighbour : neighbours) {
    for (std::size_t word = 0; word < all.size(); ++word) all[word] |= neighbour.processors[word];
  }
  return {neighbours.size(), count(all), count(own)};
}

}  // namespace

Session& session() { return *the_session; }

Session::Session(const Config& config)
    : config_(config),
      world_rank_(rank_in(predefined().comm_world)),
      world_size_(size_of(predefined().comm_world)),
      tag_limit_(tag_limit_of_host()),
      world_comm_(predefined().comm_null),
      node_comm_(predefined().comm_null),
      quiet_comm_(predefined().comm_null) {}

Session::~Session() = default;

bool Session::prepare() {
  const Config config = parse_config(environ).config;
  if (!config.enable) return false;
  DescriptorRoom::prepare_process();
  EngineLock::prepare_process();
  // Of Open MPI 4.1: creating a distributed graph with it hangs now and then, the more so with a message in between, as new
  // communicators bring it (docs/limits.md).
  ::setenv("OMPI_MCA_topo", "^treematch", 0);
  if (config.release == ReleaseMode::off || config.keeps_pages()) return false;
  prepare_signals();
  fault_signal::translate_masks();
  return true;
}

void Session::open() {
  const ParsedConfig parsed = parse_config(environ);
  if (!parsed.errors.empty()) return abort_job(parsed.errors);
  if (!parsed.config.enable) return;
  check_job(parsed.config);

  auto* made = new Session(parsed.config);
  the_session = made;
  if (made->world_rank_ == 0) {
    for (const auto& warning : parsed.warnings) std::fprintf(stderr, "sluice: warning: %s\n", warning.c_str());
  }
  std::string why_not;
  if (!made->start(why_not)) {
    // The lowest rank that failed knows the cause; the others only know which rank that is.
    if (!why_not.starts_with("rank ")) {
      std::fprintf(stderr, "sluice: warning: rank %d: %s; the host MPI carries everything\n", made->world_rank_, why_not.c_str());
    }
    made->free_communicators();
    the_session = nullptr;
    delete made;
    return;
  }
  made->describe();
}

bool Session::start(std::string& why_not) {
  if (static_cast<std::size_t>(world_size_) > max_ranks) {
    why_not = world_rank_ == 0 ? "the job has more than " + std::to_string(max_ranks) + " ranks" : "rank 0 says why";
    return false;
  }
  find_neighbours();
  if (transports_.uses_shmem()) calibration_ = agree_on_calibration(config_.calibration, node_comm_);
  shared_copy::use(calibration_.copies);
  begin_trace(config_, world_comm_);
  why_not = together(world_comm_, [this] {
    constexpr std::size_t own_descriptors = 64;
    const DescriptorRoom room(own_descriptors + ShmemTransport::descriptors_of_a_peer * node_ranks_.size());
    hear_of_watches();
    watched_memory::set_usable(sees_ends_of_memory());
    arena_ = std::make_unique<AliasArena>(map_budget(), config_.keeps_pages() ? config_.why_pages_are_kept() : "",
                                          config_.keeps_huge_pages);
    transports_.make(*arena_);
  });
  if (why_not.empty()) {
    why_not = together(world_comm_, [this] {
      make_engine();
      close_session_after_callbacks();
    });
  }
  if (!why_not.empty()) {
    trace::close();
    return false;
  }
  describe_job_in_trace(transports_.by_rank());
  open_datatypes();
  open_reductions();
  install_fork_handlers();
  detail::engine = engine_.get();
  detail::engaged.store(true, std::memory_order_release);
  std::atexit(settle_before_the_end);
  std::at_quick_exit(settle_before_the_end);
  adopt_predefined();
  return true;
}

void Session::find_neighbours() {
  const Predefined& objects = predefined();
  host().Comm_dup(objects.comm_world, &world_comm_);
  host().Comm_dup(objects.comm_self, &quiet_comm_);
  host().Comm_split_type(world_comm_, MPI_COMM_TYPE_SHARED, world_rank_, objects.info_null, &node_comm_);
  const std::vector<Neighbour> neighbours = gather_neighbours(node_comm_, world_rank_, config_);
  for (const Neighbour& neighbour : neighbours) node_ranks_.push_back(neighbour.world_rank);
  collectives_ = least(neighbours, &Neighbour::collectives);
  one_sided_ = least(neighbours, &Neighbour::one_sided);
  processors_ = count_processors(neighbours, neighbours[static_cast<std::size_t>(rank_in(node_comm_))].processors);
  transports_.agree({.config = &config_,
                     .world = world_comm_,
                     .node = node_comm_,
                     .rank = world_rank_,
                     .size = world_size_,
                     .oversubscribed = processors_.oversubscribed(),
                     .node_ranks = node_ranks_});
}

void Session::make_engine() {
  CallSite::name_calls(call_names);
  cancellation::prepare_unwinding();
  Engine::Parts parts;
  parts.self = Peer{world_rank_};
  parts.job_size = static_cast<std::size_t>(world_size_);
  parts.processors = processors_;
  int level = MPI_THREAD_MULTIPLE;
  host().Query_thread(&level);
  parts.concurrent_calls = level == MPI_THREAD_MULTIPLE;
  expect_concurrent_calls(parts.concurrent_calls);
  expect_thread_level(level);
  parts.transport = transports_.get();
  parts.arena = arena_.get();
  parts.arena_is_its_own = true;
  parts.host = {.progress =
                    [] {
                      const bool may = may_progress_host();
                      if (may) progress_host();
                      return may;
                    },
                .outstanding = [] { return host_activity().outstanding(); },
                .shares_memory = [] { return host_activity().shares_memory(); },
                .may_reach_memory = [] { return host_activity().may_reach_memory(); }};
  parts.config = config_;
  parts.calibration = calibration_;
  engine_ = std::make_unique<Engine>(parts);
}

void Session::describe() const {
  if (config_.verbose < 1 || world_rank_ != 0) return;
  std::string beyond = transports_.all_reachable() ? "" : ", without those of other nodes";
  if (transports_.tcp()) beyond = ", by tcp";
  if (const VerbsTransport* verbs = transports_.verbs()) beyond = ", by verbs (" + verbs->description() + ")";
  const std::string sharing =
      processors_.oversubscribed() ? " with " + std::to_string(processors_.processors) + " of its processors" : "";
  std::fprintf(stderr, "sluice: carries %d ranks, %zu on this node%s%s%s%s\n", world_size_, node_ranks_.size(), sharing.c_str(),
               beyond.c_str(), arena_->usable() ? "" : "; no early release: ", arena_->refusal().c_str());
}

void Session::free_communicators() {
  for (MPI_Comm* comm : {&node_comm_, &quiet_comm_, &world_comm_}) {
    if (*comm != predefined().comm_null) host().Comm_free(comm);
  }
}

void Session::announce_abort() {
  if (!engaged()) return;
  session().transports_.leave();
  engine().announce_end();
  // What the host says to its launcher now must not wait for a message that may never come.
  detail::engaged.store(false, std::memory_order_release);
}

void Session::close() {
  if (!engaged()) return;
  engine().drain();
  conclude_trace(session().world_comm());
  if (session().config_.summary) print_summary();
  // Nobody leaves while a peer may still want to hear of it, or to reach into its memory.
  host().Barrier(session().world_comm_);
  const SessionEnd ending;
  forget_all_communicators();
  close_datatypes();
  detail::engine = nullptr;
  Session* closing = the_session;
  closing->transports_.leave();
  closing->engine_.reset();
  trace::close();
  remaining_memory::keep(std::move(closing->arena_));
  closing->free_communicators();
  the_session = nullptr;
  delete closing;
}

void Session::abandon() {
  detail::engaged.store(false, std::memory_order_relaxed);
  trace::abandon();
  arena_->forks().after_in_child();
  engine_->abandon();
}

}  // namespace sluice
