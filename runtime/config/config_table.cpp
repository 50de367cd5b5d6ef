// The table of variables: the name of each, what it expects and means, its default, its parser and its printer.

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "runtime/config/config.hpp"
#include "runtime/config/config_value.hpp"

namespace sluice {

namespace {

constexpr std::array<Choice<bool>, 2> switches{{{"0", false}, {"1", true}}};
constexpr std::array<Choice<int>, 4> levels{{{"0", 0}, {"1", 1}, {"2", 2}, {"3", 3}}};
constexpr std::array<Choice<ReleaseMode>, 4> release_modes{{{"auto", ReleaseMode::automatic},
                                                            {"off", ReleaseMode::off},
                                                            {"matched", ReleaseMode::matched},
                                                            {"early", ReleaseMode::early}}};
constexpr std::array<Choice<BlockMode>, 3> block_modes{
    {{"auto", BlockMode::automatic}, {"on", BlockMode::on}, {"off", BlockMode::off}}};
constexpr std::array<Choice<bool>, 2> huge_page_modes{{{"keep", true}, {"replace", false}}};
constexpr std::array<Choice<CarryMode>, 3> carry_modes{
    {{"auto", CarryMode::automatic}, {"all", CarryMode::all}, {"off", CarryMode::off}}};
constexpr std::array<Choice<GuardEngine>, 3> guard_engines{
    {{"auto", GuardEngine::automatic}, {"mprotect", GuardEngine::mprotect}, {"userfaultfd", GuardEngine::userfaultfd}}};
constexpr std::array<Choice<std::string_view>, 4> shmem_copies{
    {{"auto", "auto"}, {"alias", "alias"}, {"cma", "cma"}, {"stream", "stream"}}};
constexpr std::array<Choice<TraceKeep>, 2> trace_keeps{{{"oldest", TraceKeep::oldest}, {"newest", TraceKeep::newest}}};
constexpr std::array<Choice<Rendezvous>, rendezvous_kinds> protocols{{{"auto", Rendezvous::automatic},
                                                                      {"rput", Rendezvous::rput},
                                                                      {"rget", Rendezvous::rget},
                                                                      {"coop", Rendezvous::coop},
                                                                      {"coop-coll", Rendezvous::coop_coll},
                                                                      {"coop-load", Rendezvous::coop_load},
                                                                      {"coop-hca", Rendezvous::coop_hca},
                                                                      {"getcqe", Rendezvous::getcqe},
                                                                      {"get", Rendezvous::get},
                                                                      {"rdrp", Rendezvous::rdrp},
                                                                      {"putnr", Rendezvous::putnr},
                                                                      {"put", Rendezvous::put}}};
constexpr std::array<Choice<FrequentChoice>, 4> frequent_choices{{{"off", FrequentChoice::off},
                                                                  {"nonblocking", FrequentChoice::nonblocking},
                                                                  {"auto", FrequentChoice::automatic},
                                                                  {"all", FrequentChoice::all}}};
constexpr std::array<std::string_view, 3> known_transports{"shmem", "verbs", "tcp"};

/// A message of this size or more never pays for being copied twice; it also keeps the limit below any ring's capacity.
constexpr std::size_t largest_eager_limit = std::size_t{1} << 20;
constexpr std::size_t largest_tcp_eager_limit = std::size_t{64} << 10;
constexpr std::size_t smallest_tcp_buffer = std::size_t{512} << 10;
constexpr std::size_t largest_tcp_buffer = std::size_t{64} << 20;
constexpr std::size_t min_reg_bytes = std::size_t{64} << 10;
constexpr std::size_t max_reg_bytes = std::size_t{1024} << 30;
constexpr std::size_t max_reg_entries = std::size_t{1} << 20;
constexpr std::size_t longest_tcp_timeout = 86400;
constexpr std::size_t smallest_rdrp_chunk = std::size_t{4} << 10;
constexpr std::size_t largest_rdrp_chunk = std::size_t{64} << 20;
constexpr std::size_t min_single_copy = std::size_t{16} << 10;
constexpr std::size_t smallest_copy_chunk = std::size_t{4} << 10;
constexpr std::size_t largest_copy_chunk = std::size_t{64} << 20;
constexpr std::size_t max_rdrp_outstanding = 64;
constexpr std::size_t smallest_read_window = std::size_t{32} << 10;
constexpr std::size_t largest_read_window = std::size_t{1} << 30;
constexpr std::size_t min_hca_bytes = std::size_t{64} << 10;
constexpr std::size_t max_hca_bytes = std::size_t{1} << 40;
constexpr std::size_t max_hca_outstanding = 64;
constexpr std::size_t max_hca_load = 65536;
constexpr std::size_t max_rtr_wait = 1'000'000;
constexpr std::size_t longest_verbs_timeout = 60;
constexpr std::size_t max_verbs_rings = 256;
constexpr std::size_t max_trace_paths = 24;
constexpr std::size_t largest_gid_index = 255;
constexpr std::size_t max_percent = 100;
constexpr std::size_t min_trace_limit = std::size_t{1} << 20;
constexpr std::size_t max_trace_limit = std::size_t{64} << 30;

struct Described {
  std::string_view name;
  std::string_view expected;
  std::string_view default_value;
  std::string_view meaning;
};

/// A variable whose value is one of a few words.
template <class Member, class Choices>
ConfigVariable one_of(Member Config::*member, const Choices& choices, const Described& text) {
  return {text.name,
          text.expected,
          text.meaning,
          text.default_value,
          [member, &choices](Config& config, std::string_view value) { return assign_choice(config.*member, value, choices); },
          [member, &choices](const Config& config) { return show_choice(config.*member, choices); }};
}

struct Limits {
  std::size_t min;
  std::size_t max;
};

ConfigVariable byte_count(std::size_t Config::*member, Limits limits, const Described& text) {
  const auto assign = [member, limits](Config& config, std::string_view value) {
    const auto bytes = parse_bytes(value);
    if (!bytes || *bytes < limits.min || *bytes > limits.max) return false;
    config.*member = *bytes;
    return true;
  };
  return {text.name,          text.expected, text.meaning,
          text.default_value, assign,        [member](const Config& config) { return show_bytes(config.*member); }};
}

ConfigVariable number(std::size_t Config::*member, Limits limits, const Described& text) {
  const auto assign = [member, limits](Config& config, std::string_view value) {
    std::size_t parsed = 0;
    const auto [stopped, error] = std::from_chars(value.data(), value.data() + value.size(), parsed);
    if (error != std::errc() || stopped != value.data() + value.size() || parsed < limits.min || parsed > limits.max)
      return false;
    config.*member = parsed;
    return true;
  };
  return {text.name,          text.expected, text.meaning,
          text.default_value, assign,        [member](const Config& config) { return std::to_string(config.*member); }};
}

/// Zero stands for `auto`.
ConfigVariable byte_count_or_auto(std::size_t Config::*member, Limits limits, const Described& text) {
  const auto assign = [member, limits](Config& config, std::string_view value) {
    const auto bytes = value == "auto" ? std::optional<std::size_t>(0) : parse_bytes(value);
    if (!bytes || (value != "auto" && (*bytes < limits.min || *bytes > limits.max))) return false;
    config.*member = *bytes;
    return true;
  };
  const auto show = [member](const Config& config) { return config.*member == 0 ? "auto" : show_bytes(config.*member); };
  return {text.name, text.expected, text.meaning, text.default_value, assign, show};
}

ConfigVariable read_window(const Described& text) {
  const auto assign = [](Config& config, std::string_view value) {
    const auto bytes = value == "auto"  ? std::optional(Config::automatic_read_window)
                       : value == "off" ? std::optional(Config::no_read_window)
                                        : parse_bytes(value);
    const bool is_word = value == "auto" || value == "off";
    if (!bytes || (!is_word && (*bytes < smallest_read_window || *bytes > largest_read_window))) return false;
    config.read_window = *bytes;
    return true;
  };
  const auto show = [](const Config& config) -> std::string {
    if (config.read_window == Config::no_read_window) return "off";
    return config.read_window == Config::automatic_read_window ? "auto" : show_bytes(config.read_window);
  };
  return {text.name, text.expected, text.meaning, text.default_value, assign, show};
}

/// Text whose meaning only its user can judge.
ConfigVariable free_text(std::string Config::*member, const Described& text) {
  const auto assign = [member](Config& config, std::string_view value) {
    config.*member = value;
    return true;
  };
  return {text.name,          text.expected, text.meaning,
          text.default_value, assign,        [member](const Config& config) { return config.*member; }};
}

ConfigVariable gid_index(const Described& text) {
  const auto assign = [](Config& config, std::string_view value) {
    unsigned index = 0;
    const auto [stopped, error] = std::from_chars(value.data(), value.data() + value.size(), index);
    const bool is_index = error == std::errc() && stopped == value.data() + value.size() && index <= largest_gid_index;
    if (value != "auto" && !is_index) return false;
    config.verbs_gid = value;
    return true;
  };
  return {text.name,          text.expected, text.meaning,
          text.default_value, assign,        [](const Config& config) { return config.verbs_gid; }};
}

template <class Known>
ConfigVariable list_of(std::string Config::*member, const Known& known, const Described& text) {
  const auto assign = [member, &known](Config& config, std::string_view value) {
    if (!is_list_of(value, known)) return false;
    config.*member = value;
    return true;
  };
  return {text.name,          text.expected, text.meaning,
          text.default_value, assign,        [member](const Config& config) { return config.*member; }};
}

std::vector<ConfigVariable> make_table() {
  return {
      one_of(&Config::enable, switches,
             {"SLUICE_ENABLE", "0 or 1", "1",
              "Whether Sluice does anything. 0: Sluice steps aside, and every MPI call goes to the host unchanged."}),
      one_of(&Config::release, release_modes,
             {"SLUICE_RELEASE", "auto, off, matched or early", "auto",
              "Which blocking receives may return before their data is there. off: none. matched: those whose "
              "message has been matched. early: those that still wait for their message as well. auto: early, but "
              "matched on communicators whose error handler is not MPI_ERRORS_ARE_FATAL. An error that is found "
              "after a release cannot be returned."}),
      one_of(&Config::blocks, block_modes,
             {"SLUICE_BLOCKS", "auto, on or off", "auto",
              "Whether buffers may become alias blocks. Early release and direct copies need that: the pages of a "
              "block are replaced by pages of a memory file. off: no page is ever replaced, and nothing is released "
              "early. That is for memory that a device or driver holds unseen. auto: on, unless SLUICE_RELEASE=off."}),
      one_of(&Config::keeps_huge_pages, huge_page_modes,
             {"SLUICE_HUGE_PAGES", "keep or replace", "keep",
              "Whether buffers in transparent huge pages stay there. keep: such buffers do not become alias blocks, "
              "so nothing is released early into them. replace: they do, and computing on them costs what it costs "
              "in pages of 4 KB."}),
      one_of(&Config::collectives, carry_modes,
             {"SLUICE_COLLECTIVES", "off, auto or all", "auto",
              "Which collective calls Sluice carries. auto: those of which all members know how long they are, and inside a node "
              "blocking ones with counts by rank or between neighbours. all: the other ones of these as well, which take longer "
              "than the host's when they are short. The least that a rank has holds for all of its node, and for all that goes "
              "between nodes."}),
      one_of(
          &Config::one_sided, carry_modes,
          {"SLUICE_ONESIDED", "off, auto or all", "auto",
           "Whether Sluice carries one-sided communication. auto: that of windows which MPI_Win_allocate makes, where all "
           "members are on one node. all: that of memory that the program brings to a window as well, and that of windows whose "
           "members are on several nodes. In memory that is brought, a fetch-and-op takes longer than the host's while its "
           "target "
           "is in MPI. The least that a rank has holds for all of its node, and for all that goes between nodes."}),
      one_of(&Config::send_release, switches,
             {"SLUICE_SEND_RELEASE", "0 or 1", "0",
              "Whether a blocking standard-mode send of a large message may return before its receiver has come. "
              "The buffer can be read meanwhile. A thread that writes to it waits for the receiver. Not with "
              "MPI_THREAD_MULTIPLE, nor with SLUICE_RELEASE=off."}),
      one_of(&Config::guard, guard_engines,
             {"SLUICE_GUARD", "auto, mprotect or userfaultfd", "auto",
              "How pages of released receives are kept from being read too soon. mprotect: PROT_NONE and a SIGSEGV "
              "handler. userfaultfd: minor faults of the memory file, answered by threads of Sluice's. Where that "
              "is not permitted, it is mprotect. auto: the cheaper one of those that the machine permits, which is "
              "mprotect."}),
      byte_count(&Config::eager_limit, {0, largest_eager_limit},
                 {"SLUICE_EAGER_LIMIT", "a number of bytes up to 1M, such as 16384 or 16K", "32K",
                  "The largest message that is sent without asking the receiver first. A message that would not fit "
                  "into half a ring of the transport (64K inside a node) always asks. Between nodes "
                  "SLUICE_TCP_EAGER_LIMIT holds instead."}),
      byte_count_or_auto(&Config::single_copy, {min_single_copy, largest_eager_limit},
                         {"SLUICE_SINGLE_COPY", "auto or a number of bytes from 16K to 1M", "auto",
                          "The shortest message within SLUICE_EAGER_LIMIT that asks its receiver first, and is copied once. It "
                          "holds inside a node, for buffers that have often been sent from and are sent again as they were. "
                          "auto: 16K or none, by SLUICE_CALIBRATION; none where processes share processors."}),
      list_of(&Config::transports, known_transports,
              {"SLUICE_TRANSPORTS", "a comma-separated list of shmem, verbs and tcp", "shmem,verbs,tcp",
               "Transports that may be used. shmem: inside a node. verbs: between nodes, where every rank has an "
               "RDMA adapter. tcp: between nodes otherwise. Without shmem, verbs or tcp inside the nodes as well. A "
               "communicator whose members they cannot all reach is left to the host."}),
      one_of(&Config::shmem_copy, shmem_copies,
             {"SLUICE_SHMEM_COPY", "auto, alias, cma or stream", "auto",
              "How large messages move inside a node. alias: the sender writes into the receiver's memory file. "
              "cma: cross-memory attach. stream: copy-in/copy-out. auto: the first of these that works for the pair "
              "and the buffer. A way that cannot be had is replaced by stream."}),
      one_of(&Config::rendezvous, protocols,
             {"SLUICE_RNDV", "auto, rput, rget, coop, coop-coll, coop-load, coop-hca, getcqe, get, rdrp, putnr or put", "auto",
              "Which side moves a large message. Inside a node: rput: the sender. rget: the receiver. coop: both at "
              "once, each from its end. coop-coll: sender, receiver or both, by the kinds of their calls. "
              "coop-load: the side with less to copy. coop-hca: both, and the node's RDMA adapter beside them, "
              "where every rank has one. Over RDMA: getcqe: the receiver by one RDMA read, whose end its completion "
              "tells. get: the same, told by the last byte. rdrp: the receiver in chunks. putnr: the sender, to a "
              "receive that was announced to it, with the end told by a change of the last byte. put: the same, "
              "with a random byte there before. auto: inside a node both for long messages where each has a "
              "processor, otherwise the receiver if it waits. Over RDMA rdrp for messages of more than two chunks; of "
              "others getcqe, get where calls at that place wait, and put where their receives are posted ahead. A protocol that "
              "a pair or a buffer does not permit is replaced by one that it does."}),
      byte_count_or_auto(&Config::copy_chunk, {smallest_copy_chunk, largest_copy_chunk},
                         {"SLUICE_COPY_CHUNK", "auto or a number of bytes from 4K to 64M", "auto",
                          "The length of the pieces into which long copies inside a node are cut. Messages of others are served "
                          "between two pieces. auto: what a processor copies in 10 microseconds, by SLUICE_CALIBRATION."}),
      free_text(&Config::calibration,
                {"SLUICE_CALIBRATION", "auto, off, or the path of a file", "auto",
                 "Where the measured thresholds of copies inside a node are kept. Thresholds are measured once on each "
                 "kind of machine. auto: $XDG_CACHE_HOME/sluice or ~/.cache/sluice. off: nothing is measured, and what "
                 "is usual on such a processor holds. `sluice info` shows the thresholds, `sluice info --calibrate` "
                 "measures them anew."}),
      byte_count(&Config::hca_bytes, {min_hca_bytes, max_hca_bytes},
                 {"SLUICE_HCA_BYTES", "a number of bytes from 64K to 1024G", "256K",
                  "The shortest message of which coop-hca gives the adapter a part."}),
      number(&Config::hca_outstanding, {1, max_hca_outstanding},
             {"SLUICE_HCA_OUTSTANDING", "a number from 1 to 64", "2",
              "How many chunks of one message coop-hca has the adapter read at a time, at most."}),
      number(&Config::hca_load, {1, max_hca_load},
             {"SLUICE_HCA_LOAD", "a number up to 65536", "8",
              "With so many transfers of large messages under way in the adapter, coop-hca leaves it alone. "
              "Transfers of all processes of the node count, to whomever they go."}),
      byte_count(&Config::rdrp_chunk, {smallest_rdrp_chunk, largest_rdrp_chunk},
                 {"SLUICE_RDRP_CHUNK", "a number of bytes from 4K to 64M", "128K", "How much one read of rdrp fetches."}),
      number(
          &Config::rdrp_outstanding, {1, max_rdrp_outstanding},
          {"SLUICE_RDRP_OUTSTANDING", "a number from 1 to 64", "4", "How many reads of one message rdrp has under way at most."}),
      read_window({"SLUICE_READ_WINDOW", "off, auto or a number of bytes from 32K to 1G", "off",
                   "How much a process has under way at most that it reads from all others over RDMA. auto: learned, so that "
                   "no read waits for more than 40 microseconds behind others. Chunks of rdrp follow it."}),
      number(&Config::rtr_wait, {0, max_rtr_wait},
             {"SLUICE_RTR_WAIT", "a number of microseconds up to 1000000", "200",
              "How long a sender with putnr or put waits for the receiver to announce its receive. After that it "
              "announces the message itself. After a wait in vain, that peer's receives are not waited for until "
              "one is announced."}),
      free_text(&Config::tcp_interfaces,
                {"SLUICE_TCP_INTERFACES",
                 "a comma-separated list of interfaces, networks and addresses, such as eth0 or 10.0.0.0/8", "",
                 "Where this process may be reached by tcp: addresses that match one item, or, behind a ^, none. "
                 "Empty: all interfaces that are up, without loopback and the bridges of containers unless there is "
                 "nothing else."}),
      number(&Config::tcp_timeout, {1, longest_tcp_timeout},
             {"SLUICE_TCP_TIMEOUT", "a number of seconds from 1 to 86400", "30",
              "A peer that cannot be reached, or acknowledges nothing, for so long is given up, with an error."}),
      byte_count(&Config::tcp_eager_limit, {0, largest_tcp_eager_limit},
                 {"SLUICE_TCP_EAGER_LIMIT", "a number of bytes up to 64K, such as 16384 or 16K", "64K",
                  "The largest message that is sent over tcp without asking the receiver first."}),
      byte_count(&Config::tcp_buffer, {smallest_tcp_buffer, largest_tcp_buffer},
                 {"SLUICE_TCP_BUFFER", "a number of bytes from 512K to 64M", "512K",
                  "What may wait in this process for each peer that does not take it, besides what the system's socket "
                  "holds."}),
      byte_count(&Config::reg_bytes, {min_reg_bytes, max_reg_bytes},
                 {"SLUICE_REG_BYTES", "a number of bytes from 64K to 1024G", "1G",
                  "How much memory may be registered with an RDMA adapter at a time. Memory that is not in use is "
                  "deregistered to stay within it, the least recently used first. Messages for which that is not enough "
                  "are copied."}),
      number(&Config::reg_entries, {1, max_reg_entries},
             {"SLUICE_REG_ENTRIES", "a number from 1 to 1048576", "1024",
              "How many registrations there may be at a time, as for SLUICE_REG_BYTES."}),
      free_text(&Config::verbs_device,
                {"SLUICE_VERBS_DEVICE", "an adapter, or adapter:port, such as mlx5_0:1", "",
                 "Which RDMA adapter and port carries verbs. Empty: the first active port with an address."}),
      gid_index({"SLUICE_VERBS_GID", "auto or a number up to 255", "auto",
                 "Which address of the port is used, by its index in the GID table. auto: RoCE v2 before v1, IPv4 "
                 "before IPv6, link-local last."}),
      number(&Config::verbs_timeout, {1, longest_verbs_timeout},
             {"SLUICE_VERBS_TIMEOUT", "a number of seconds from 1 to 60", "4",
              "How long an adapter goes on sending again what a peer does not acknowledge. After that the peer is "
              "given up, with an error. Adapters know only some such times: the next longer one is taken."}),
      one_of(&Config::verbs_ordered, switches,
             {"SLUICE_VERBS_ORDERED", "0 or 1", "1",
              "Whether the adapter places the bytes of a transfer in the order of their addresses. 1: the last one "
              "may be polled. 0: only its completion entry says that a transfer is complete."}),
      number(&Config::verbs_rings, {0, max_verbs_rings},
             {"SLUICE_VERBS_RINGS", "a number up to 256", "8",
              "The most peers that get a ring here, into which they write their small messages by RDMA. Peers that "
              "send most get one. A ring is 258K of locked memory. All of them take no more than an eighth of what "
              "the process may lock. With 0 or with SLUICE_VERBS_ORDERED=0 small messages are sent."}),
      one_of(&Config::frequent_sends, frequent_choices,
             {"SLUICE_FREQUENT_SENDS", "off, nonblocking, auto or all", "auto",
              "Which small messages over verbs leave straight from the program's memory, once their buffer is used "
              "often. off: none; all are copied. nonblocking: those of nonblocking sends. all: those of MPI_Send as "
              "well, which returns only when the adapter has read the buffer. auto: those of MPI_Send where that is "
              "found to take less time than the copy."}),
      number(&Config::frequent_share, {0, max_percent},
             {"SLUICE_FREQUENT_SHARE", "a number of percent up to 100", "25",
              "A small send buffer is registered after this share of the uses that would pay for its registration. "
              "0: with its second use, whether that pays or not."}),
      free_text(&Config::trace, {"SLUICE_TRACE", "a directory, made if it is missing", "",
                                 "Where every rank writes a trace of its messages and waits, for `sluice report` and the like. "
                                 "docs/trace-format.md describes the files. Empty: no trace."}),
      byte_count(&Config::trace_limit, {min_trace_limit, max_trace_limit},
                 {"SLUICE_TRACE_LIMIT", "a number of bytes from 1M to 64G", "16M",
                  "How large the trace of a rank becomes at most; 64 bytes for each record."}),
      one_of(&Config::trace_keep, trace_keeps,
             {"SLUICE_TRACE_KEEP", "oldest or newest", "newest",
              "What a trace keeps that would become larger than its limit: the oldest records, or the newest."}),
      number(&Config::trace_paths, {0, max_trace_paths},
             {"SLUICE_TRACE_PATHS", "a number of callers up to 24", "0",
              "By how many of their callers the calls in a trace are told apart. With enough of them, a wait inside a "
              "library is shown under the line of the program that called it. 0: by the place of the call alone."}),
      one_of(&Config::verbose, levels,
             {"SLUICE_VERBOSE", "0, 1, 2 or 3", "0",
              "How much is said on standard error. 0: errors and warnings. 1 or more: also what was found at the "
              "start."}),
      one_of(&Config::summary, switches,
             {"SLUICE_SUMMARY", "0 or 1", "0",
              "Whether a table of messages, releases and waiting times is printed at MPI_Finalize."}),
  };
}

}  // namespace

std::string name_of(Rendezvous rendezvous) { return show_choice(rendezvous, protocols); }

std::optional<Rendezvous> rendezvous_inside_a_node(std::string_view name) {
  Rendezvous rendezvous{};
  if (!assign_choice(rendezvous, name, protocols) || rendezvous >= Rendezvous::coop_hca) return std::nullopt;
  return rendezvous;
}

std::optional<CarryMode> collective_mode(std::string_view name) {
  CarryMode mode{};
  return assign_choice(mode, name, carry_modes) ? std::optional(mode) : std::nullopt;
}

const std::vector<ConfigVariable>& config_variables() {
  static const auto& table = *new std::vector<ConfigVariable>(make_table());
  return table;
}

}  // namespace sluice
