// The configuration table: every SLUICE_ variable with its type, default, and meaning. It is the one source for parsing,
// `sluice info`, the manual page and docs/configuration.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Which receives are released; `automatic`: early, and matched on communicators whose errors return.
enum class ReleaseMode { automatic, off, matched, early };
/// Whether memory becomes alias blocks; `automatic`: unless nothing is released.
enum class BlockMode { automatic, on, off };
/// Which of the collective or one-sided calls are carried; members agree on the least. `automatic`: those that gain by it.
enum class CarryMode : std::uint8_t { off, automatic, all };
/// Who moves a large message; the names are the protocols' (design section 7). Inside a node there are rput, rget, coop, the
/// rules that choose between these (coop-coll, coop-load), and coop with an adapter beside (coop-hca); over RDMA rput, getcqe
/// (which is rget there), get, rdrp, putnr and put. Where the one that was asked for does not exist, `automatic` holds.
enum class Rendezvous { automatic, rput, rget, coop, coop_coll, coop_load, coop_hca, getcqe, get, rdrp, putnr, put };
inline constexpr std::size_t rendezvous_kinds = 12;
/// The receiver speaks first.
[[nodiscard]] constexpr bool receiver_initiated(Rendezvous wanted) {
  return wanted == Rendezvous::putnr || wanted == Rendezvous::put;
}
[[nodiscard]] constexpr Rendezvous over_rdma(Rendezvous wanted) {
  if (wanted == Rendezvous::rget) return Rendezvous::getcqe;
  return wanted >= Rendezvous::coop && wanted <= Rendezvous::coop_hca ? Rendezvous::automatic : wanted;
}
/// As in SLUICE_RNDV.
[[nodiscard]] std::string name_of(Rendezvous rendezvous);
/// Of the protocols inside a node; nothing for any other text. coop-hca needs what is set up at the start, so it is not one here.
[[nodiscard]] std::optional<Rendezvous> rendezvous_inside_a_node(std::string_view name);
inline constexpr std::string_view expected_inside_a_node = "auto, rput, rget, coop, coop-coll or coop-load";
/// As in SLUICE_COLLECTIVES; nothing for any other text.
[[nodiscard]] std::optional<CarryMode> collective_mode(std::string_view name);
inline constexpr std::string_view expected_collective_modes = "off, auto or all";
[[nodiscard]] constexpr Rendezvous inside_a_node(Rendezvous wanted) {
  return wanted > Rendezvous::coop_hca ? Rendezvous::automatic : wanted;
}
/// Small messages of which buffers that are used often leave without a copy (FB).
enum class FrequentChoice { off, nonblocking, automatic, all };
enum class TraceKeep { oldest, newest };
enum class GuardEngine { automatic, mprotect, userfaultfd };

struct Config {
  bool enable = true;                            // SLUICE_ENABLE=0|1
  ReleaseMode release = ReleaseMode::automatic;  // SLUICE_RELEASE=auto|off|matched|early
  BlockMode blocks = BlockMode::automatic;       // SLUICE_BLOCKS=auto|on|off
  bool keeps_huge_pages = true;                  // SLUICE_HUGE_PAGES=keep|replace
  bool send_release = false;                     // SLUICE_SEND_RELEASE=0|1
  CarryMode collectives = CarryMode::automatic;  // SLUICE_COLLECTIVES=off|auto|all
  CarryMode one_sided = CarryMode::automatic;    // SLUICE_ONESIDED=off|auto|all
  GuardEngine guard = GuardEngine::automatic;    // SLUICE_GUARD=auto|mprotect|userfaultfd
  std::size_t eager_limit = 32768;               // SLUICE_EAGER_LIMIT=<bytes, with K or M>
  std::string transports = "shmem,verbs,tcp";    // SLUICE_TRANSPORTS=comma list; what can be listed is fixed by the table
  std::string shmem_copy = "auto";  // SLUICE_SHMEM_COPY=auto|alias|cma|stream : which copies inside a node are allowed
  Rendezvous rendezvous = Rendezvous::automatic;   // SLUICE_RNDV: a name of the enumeration above
  std::size_t single_copy = 0;                     // SLUICE_SINGLE_COPY=auto|<bytes, with K or M>; 0: auto
  std::size_t copy_chunk = 0;                      // SLUICE_COPY_CHUNK=auto|<bytes, with K or M>; 0: auto
  std::string calibration = "auto";                // SLUICE_CALIBRATION=auto|off|<file>
  std::size_t hca_bytes = std::size_t{256} << 10;  // SLUICE_HCA_BYTES=<bytes, with K or M>
  std::size_t hca_outstanding = 2;                 // SLUICE_HCA_OUTSTANDING=<number of reads>
  std::size_t hca_load = 8;                        // SLUICE_HCA_LOAD=<number of transfers>
  std::size_t rdrp_chunk = 131072;                 // SLUICE_RDRP_CHUNK=<bytes, with K or M>
  std::size_t rdrp_outstanding = 4;                // SLUICE_RDRP_OUTSTANDING=<number of reads>
  static constexpr std::size_t no_read_window = 0;
  static constexpr std::size_t automatic_read_window = ~std::size_t{0};
  std::size_t read_window = no_read_window;      // SLUICE_READ_WINDOW=off|auto|<bytes, with K or M>
  std::size_t rtr_wait = 200;                    // SLUICE_RTR_WAIT=<microseconds>
  std::string tcp_interfaces;                    // SLUICE_TCP_INTERFACES=comma list of names, networks, addresses; empty: chosen
  std::size_t tcp_timeout = 30;                  // SLUICE_TCP_TIMEOUT=<seconds>
  std::size_t tcp_eager_limit = 65536;           // SLUICE_TCP_EAGER_LIMIT=<bytes, with K>
  std::size_t tcp_buffer = 524288;               // SLUICE_TCP_BUFFER=<bytes, with K or M>
  std::size_t reg_bytes = std::size_t{1} << 30;  // SLUICE_REG_BYTES=<bytes, with K, M or G>
  std::size_t reg_entries = 1024;                // SLUICE_REG_ENTRIES=<number>
  std::string verbs_device;                      // SLUICE_VERBS_DEVICE=<adapter, or adapter:port>; empty: chosen
  std::string verbs_gid = "auto";                // SLUICE_VERBS_GID=auto|<index>
  std::size_t verbs_timeout = 4;                 // SLUICE_VERBS_TIMEOUT=<seconds>
  bool verbs_ordered = true;                     // SLUICE_VERBS_ORDERED=0|1
  std::size_t verbs_rings = 8;                   // SLUICE_VERBS_RINGS=<number of peers>
  FrequentChoice frequent_sends = FrequentChoice::automatic;  // SLUICE_FREQUENT_SENDS=off|nonblocking|auto|all
  std::size_t frequent_share = 25;                            // SLUICE_FREQUENT_SHARE=<percent>
  std::string trace;                                          // SLUICE_TRACE=<directory>; empty: no trace is written
  std::size_t trace_limit = std::size_t{16} << 20;            // SLUICE_TRACE_LIMIT=<bytes, with K, M or G>
  TraceKeep trace_keep = TraceKeep::newest;                   // SLUICE_TRACE_KEEP=oldest|newest
  std::size_t trace_paths = 0;                                // SLUICE_TRACE_PATHS=<number of callers>; 0: none
  int verbose = 0;                                            // SLUICE_VERBOSE=0..3
  bool summary = false;                                       // SLUICE_SUMMARY=0|1

  /// No page of the application is ever replaced.
  [[nodiscard]] bool keeps_pages() const {
    return blocks == BlockMode::off || (blocks == BlockMode::automatic && release == ReleaseMode::off);
  }
  /// Which setting says so.
  [[nodiscard]] const char* why_pages_are_kept() const {
    return blocks == BlockMode::off ? "SLUICE_BLOCKS=off" : "SLUICE_RELEASE=off";
  }
};

struct ConfigVariable {
  std::string_view name;      // "SLUICE_RELEASE"
  std::string_view expected;  // "auto, off, matched or early"
  std::string_view meaning;
  std::string_view default_value;
  std::function<bool(Config&, std::string_view)> assign;  // false: the value is not understood
  std::function<std::string(const Config&)> show;
};

const std::vector<ConfigVariable>& config_variables();

/// Looks a variable up; nullptr-terminated getenv semantics: nullptr when it is not set.
using Environment = const char* const*;  // as `environ`

struct ParsedConfig {
  Config config;
  std::vector<std::string> errors;    // "SLUICE_RELEASE=sometimes: expected auto, off, matched or early"
  std::vector<std::string> warnings;  // "SLUICE_RELAESE is not known; did you mean SLUICE_RELEASE?"
};

ParsedConfig parse_config(Environment environment);

}  // namespace sluice
