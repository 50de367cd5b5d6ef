#include "interpose/session/transports.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string_view>
#include <type_traits>

#include "interpose/host/host.hpp"
#include "interpose/session/mixed_transport.hpp"
#include "net/interfaces.hpp"
#include "runtime/alias/arena.hpp"
#include "tcp/transport.hpp"
#include "verbs/transport.hpp"

namespace sluice {
namespace {

constexpr std::chrono::seconds connect_limit{30};

bool lists(std::string_view list, std::string_view word) {
  for (;;) {
    const auto comma = list.find(',');
    if (list.substr(0, comma) == word) return true;
    if (comma == std::string_view::npos) return false;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace

std::string together(MPI_Comm comm, const std::function<void()>& step) {
  std::string failure;
  try {
    step();
  } catch (const std::exception& error) {
    failure = error.what();
    if (failure.empty()) failure = "unknown cause";
  }
  int size = 0;
  host().Comm_size(comm, &size);
  const int rank = rank_in(comm);
  // The lowest rank that failed is told of; before those that only know of another one's failure.
  const int precedence = failure.starts_with("rank ") ? 1 : 2;
  int mine = failure.empty() ? 0 : precedence * size - rank;
  int highest = 0;
  host().Allreduce(&mine, &highest, 1, predefined().integer, predefined().max, comm);
  if (highest == 0) return {};
  return highest == mine ? failure : "rank " + std::to_string((highest > size ? 2 : 1) * size - highest) + " failed";
}

namespace {

/// 128 random bits that the first process invents and nobody outside the communicator knows. Collective; fails on all or on none.
SipKey common_secret(MPI_Comm comm) {
  SipKey key{};
  const std::string failure = together(comm, [&] {
    if (rank_in(comm) == 0 && getrandom(key.data(), key.size(), 0) != static_cast<ssize_t>(key.size())) throw_errno("getrandom");
  });
  if (!failure.empty()) throw std::runtime_error(failure);
  host().Bcast(key.data(), static_cast<int>(key.size()), predefined().byte, 0, comm);
  return key;
}

}  // namespace

Transports::Transports() = default;
Transports::~Transports() = default;

void Transports::agree(Job job) {
  job_ = std::move(job);
  on_this_host_.resize(static_cast<std::size_t>(job_.size));
  for (const int rank : job_.node_ranks) on_this_host_[static_cast<std::size_t>(rank)] = true;
  const bool may_shmem = lists(job_.config->transports, "shmem");
  const bool one_node = job_.node_ranks.size() == on_this_host_.size();
  uses_shmem_ = may_shmem && job_.node_ranks.size() > 1;
  const bool has_network_peers = job_.size > 1 && !(one_node && may_shmem);
  const bool may_verbs = (has_network_peers || (may_shmem && wants_loopback())) && lists(job_.config->transports, "verbs");
  const bool may_tcp = has_network_peers && lists(job_.config->transports, "tcp");
  const bool can_meet = (may_verbs || may_tcp) && agree_on_sockets();
  uses_verbs_ = can_meet && may_verbs && agree_on_verbs();
  uses_tcp_ = can_meet && may_tcp && !uses_verbs_;
  if (wants_loopback() && !(can_meet && may_verbs && may_shmem) && job_.rank == 0) {
    const bool listed = may_shmem && lists(job_.config->transports, "verbs");
    std::fprintf(stderr, "sluice: warning: SLUICE_RNDV=coop-hca: %s; messages inside a node go by coop\n",
                 listed ? "no sockets, by which adapters are introduced" : "SLUICE_TRANSPORTS does not list shmem and verbs");
  }
  reachable_ = uses_verbs_ || uses_tcp_ ? std::vector<bool>(on_this_host_.size(), true)
                                        : (may_shmem ? on_this_host_ : std::vector<bool>(on_this_host_.size()));
  reachable_[static_cast<std::size_t>(job_.rank)] = true;
}

/// For large messages between processes that have shared memory.
bool Transports::wants_loopback() const { return job_.config->rendezvous == Rendezvous::coop_hca && job_.size > 1; }

/// Collective over the world: what each rank of it must know of each other one.
void Transports::meet() {
  struct Introduction {
    TcpEndpoint endpoint;
    std::uint32_t node = 0;
    CarryMode collectives{};
    CarryMode one_sided{};
  };
  static_assert(std::is_trivially_copyable_v<Introduction>);
  Introduction own;
  own.endpoint = listener_.endpoint();
  own.node = static_cast<std::uint32_t>(job_.node_ranks.front());
  own.collectives = job_.config->collectives;
  own.one_sided = job_.config->one_sided;
  std::vector<Introduction> all(on_this_host_.size());
  host().Allgather(&own, sizeof own, predefined().byte, all.data(), sizeof own, predefined().byte, job_.world);
  for (const Introduction& one : all) {
    endpoints_.push_back(one.endpoint);
    nodes_.push_back(one.node);
    own.collectives = std::min(own.collectives, one.collectives);
    own.one_sided = std::min(own.one_sided, one.one_sided);
  }
  collectives_ = own.collectives;
  one_sided_ = own.one_sided;
}

/// Either every rank can be reached by sockets, over which connections of either kind begin, or neither is used.
bool Transports::agree_on_sockets() {
  std::string failure = together(job_.world, [this] {
    if (const auto error = error_of_interfaces(job_.config->tcp_interfaces)) {
      throw std::runtime_error("SLUICE_TCP_INTERFACES=" + job_.config->tcp_interfaces + ": " + *error);
    }
    const auto interfaces = read_interfaces();
    const bool one_host = job_.node_ranks.size() == on_this_host_.size();
    const auto addresses = choose_addresses(interfaces, job_.config->tcp_interfaces, one_host);
    if (addresses.empty()) throw std::runtime_error(why_no_address(interfaces, job_.config->tcp_interfaces));
    listener_ = Listener(addresses);
  });
  try {
    if (failure.empty()) secret_ = common_secret(job_.world);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  if (!failure.empty()) {
    if (!failure.starts_with("rank ")) {
      std::fprintf(stderr, "sluice: warning: rank %d: no tcp: %s; what goes beyond a node is left to the host\n", job_.rank,
                   failure.c_str());
    }
    return false;
  }
  meet();
  return true;
}

/// Either every rank has an adapter on the same kind of network, or verbs is used by none. That there is none is worth a word
/// only to who asked for it, or if it could be had.
bool Transports::agree_on_verbs() {
  const Config& config = *job_.config;
  bool asked = config.transports != Config{}.transports || !config.verbs_device.empty() || wants_loopback();
  std::string failure;
  VerbsAddress::Wire own = VerbsAddress{}.encode();
  try {
    VerbsDevice device(VerbsLibrary::get(), config.verbs_device, gid_index(config.verbs_gid));
    asked = true;
    const std::size_t network_peers = on_this_host_.size() - (uses_shmem_ ? job_.node_ranks.size() : 1);
    const std::size_t node_peers = uses_shmem_ && wants_loopback() ? job_.node_ranks.size() - 1 : 0;
    verbs_queues_ = std::make_unique<VerbsQueues>(std::move(device), network_peers, node_peers);
    own = verbs_queues_->device().address().encode();
  } catch (const std::exception& error) {
    failure = error.what();
  }
  std::vector<VerbsAddress::Wire> gathered(on_this_host_.size());
  host().Allgather(own.data(), sizeof own, predefined().byte, gathered.data(), sizeof own, predefined().byte, job_.world);
  for (const VerbsAddress::Wire& wire : gathered) verbs_addresses_.push_back(VerbsAddress::decode(wire).value_or(VerbsAddress{}));
  const std::string why_not = why_not_together(verbs_addresses_);
  if (why_not.empty()) return true;
  verbs_queues_.reset();
  const auto has_none = [](const VerbsAddress& address) { return address.network == VerbsNetwork::none; };
  const auto first = std::find_if(verbs_addresses_.begin(), verbs_addresses_.end(), has_none) - verbs_addresses_.begin();
  const bool is_mine = first == job_.rank || (first == job_.size && job_.rank == 0);
  if (asked && is_mine) {
    std::fprintf(stderr, "sluice: warning: rank %d: no verbs: %s%s\n", job_.rank, (failure.empty() ? why_not : failure).c_str(),
                 wants_loopback() ? "; SLUICE_RNDV=coop-hca is coop without an adapter" : "");
  }
  return false;
}

/// Nothing that fails may keep others waiting: what is thrown before the gathering is thrown on after it.
void Transports::make_shmem(const AliasArena& arena) {
  ShmemBootstrap::Options options;
  options.self = Peer{job_.rank};
  for (const int rank : job_.node_ranks) options.local.push_back(Peer{rank});
  options.alias_file = arena.usable() ? arena.descriptor() : -1;
  options.deadline = std::chrono::steady_clock::now() + connect_limit;

  std::unique_ptr<ShmemBootstrap> introduction;
  std::exception_ptr failure;
  try {
    introduction = std::make_unique<ShmemBootstrap>(std::move(options));
  } catch (const std::exception&) {
    failure = std::current_exception();
  }
  std::vector<ShmemAddress> addresses(job_.node_ranks.size());
  const ShmemAddress own = introduction ? introduction->address() : ShmemAddress{};
  host().Allgather(&own, sizeof own, predefined().byte, addresses.data(), sizeof own, predefined().byte, job_.node);
  if (failure) std::rethrow_exception(failure);
  introduction->connect(addresses);
  shmem_ = std::make_unique<ShmemTransport>(std::move(*introduction), copy_mode(job_.config->shmem_copy), job_.oversubscribed);
}

void Transports::make_network() {
  const auto timeout_seconds = static_cast<unsigned>(job_.config->tcp_timeout);
  if (uses_verbs_) {
    const VerbsTransport::Options options{.self = Peer{job_.rank},
                                          .secret = secret_,
                                          .handshake_seconds = timeout_seconds,
                                          .retry_seconds = static_cast<unsigned>(job_.config->verbs_timeout),
                                          .places_in_order = job_.config->verbs_ordered,
                                          .rings = job_.config->verbs_rings,
                                          .hears_for_sleepers = uses_shmem_};
    VerbsTransport::Job job{std::move(verbs_addresses_), std::move(endpoints_), on_this_host_};
    if (uses_shmem_ && wants_loopback()) job.shares_memory = on_this_host_;
    verbs_ = std::make_unique<VerbsTransport>(options, std::move(verbs_queues_), std::move(listener_), std::move(job));
    network_ = verbs_.get();
  } else if (uses_tcp_) {
    const TcpTransport::Options options{.self = Peer{job_.rank},
                                        .secret = secret_,
                                        .timeout_seconds = timeout_seconds,
                                        .eager_limit = job_.config->tcp_eager_limit,
                                        .staging_bytes = job_.config->tcp_buffer,
                                        .hears_for_sleepers = uses_shmem_};
    tcp_ = std::make_unique<TcpTransport>(options, std::move(listener_), std::move(endpoints_), on_this_host_);
    network_ = tcp_.get();
  }
}

void Transports::make(const AliasArena& arena) {
  if (uses_shmem_) make_shmem(arena);
  make_network();
  if (shmem_ && network_) mixed_ = std::make_unique<MixedTransport>(*shmem_, *network_, on_this_host_);
  transport_ = mixed_ ? static_cast<Transport*>(mixed_.get()) : (network_ ? static_cast<Transport*>(network_) : shmem_.get());
}

std::vector<trace::Transporter> Transports::by_rank() const {
  using trace::Transporter;
  const Transporter network = verbs_ ? Transporter::verbs : Transporter::tcp;
  std::vector<Transporter> carried_by(reachable_.size());
  for (std::size_t rank = 0; rank < reachable_.size(); ++rank) {
    if (!reachable_[rank]) continue;
    carried_by[rank] = static_cast<int>(rank) == job_.rank  ? Transporter::self
                       : uses_shmem_ && on_this_host_[rank] ? Transporter::shmem
                                                            : network;
  }
  return carried_by;
}

bool Transports::all_reachable() const {
  return std::all_of(reachable_.begin(), reachable_.end(), [](bool reached) { return reached; });
}

void Transports::leave() {
  if (shmem_) shmem_->leave();
  if (network_) network_->leave();
}

}  // namespace sluice
