// A network of transports inside one process, with knobs, so that protocols are tested without processes, hardware or MPI.
//
//   LoopbackNetwork network(2, {.delay_polls = 3});
//   Transport& t = network.transport(Peer{0});
//
// Each transport may belong to an engine in a thread of its own. All queues are behind one lock, which is never held while a sink
// is called or memory is copied. Peers share an address space, so a file offset in `write` is simply an address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/transport/transport.hpp"
#include "tests/unit/support/loopback_adapter.hpp"

namespace sluice {

class AliasArena;
class LoopbackTransport;

struct LoopbackKnobs {
  static constexpr std::size_t unlimited = ~std::size_t{0};

  std::size_t max_payload = 16384;
  /// A message is delivered by the poll that comes this many polls of its receiver after the first possible one.
  unsigned delay_polls = 0;
  /// Messages that may be under way from one peer to another before reserve fails.
  std::size_t room = unlimited;
  /// Messages delivered per sender in one poll.
  int messages_per_poll = 8;
  bool can_write = true;
  bool can_read = true;
  /// Bytes that each transport's writes (reads) move before the next one fails: a write all or nothing, a read in its middle.
  std::size_t write_budget = unlimited;
  std::size_t read_budget = unlimited;
  /// What a read stops at is a page under guard: the next one is tried again.
  bool stops_at_page = false;
  std::uint32_t progress_slots = 64;
  /// Whose memory file it is that blocks are read from; without, they are read at the application's addresses.
  const AliasArena* blocks = nullptr;
  LoopbackAdapterKnobs adapter = {};
};

class LoopbackNetwork {
 public:
  explicit LoopbackNetwork(std::size_t size, const LoopbackKnobs& knobs = {});
  ~LoopbackNetwork();
  LoopbackNetwork(const LoopbackNetwork&) = delete;
  LoopbackNetwork& operator=(const LoopbackNetwork&) = delete;

  Transport& transport(Peer peer);

  /// The peer is gone without leaving: what it sent before still arrives, nothing reaches it, everybody is told.
  void lose(Peer peer);

  /// Messages that are under way to `to`.
  [[nodiscard]] std::size_t under_way(Peer to);
  /// How often this peer has polled, looks (Channel::is_silent) not counted.
  [[nodiscard]] std::uint64_t polls(Peer of);
  /// How often `sleep` and `sleep_helper` of this peer were ended by a message (not by poke, wake_helper or time).
  [[nodiscard]] std::size_t wakes(Peer peer);
  /// Messages that this peer sent while its wake mask told their receivers to wake somebody for an answer.
  [[nodiscard]] std::size_t sent_while_away(Peer by);
  /// How often this peer waited for another to come into a call soon (NodeHints::is_attentive_soon). Others come, however long it
  /// takes, or do not.
  [[nodiscard]] std::size_t moments(Peer of);
  void have_others_come(bool they_do);
  /// What a line takes from now on that a peer has just written, and one of its messages.
  void have_lines_take(std::uint32_t ns, std::uint32_t of_messages_ns);
  /// Bytes that went through `write` and `read` of this peer.
  [[nodiscard]] std::size_t bytes_written(Peer by);
  [[nodiscard]] std::size_t bytes_read(Peer by);
  /// ... into targets of which this was said.
  [[nodiscard]] std::size_t bytes_written_into(Peer by, TargetLines lines);
  [[nodiscard]] std::size_t bytes_read_into(Peer by, TargetLines lines);
  /// Said of the target when this peer read a block last.
  [[nodiscard]] TargetLines lines_read_into(Peer by);
  /// What became of those of the sender's memory.
  [[nodiscard]] SourceLines lines_read_by(Peer by);
  /// Of this peer, once its engine has ended or stands still.
  [[nodiscard]] const LoopbackAdapter& adapter(Peer peer) const;
  /// Transfers that the adapters have under way, as the peers say.
  [[nodiscard]] std::size_t adapter_work();

 private:
  friend class LoopbackTransport;
  struct Shared;
  std::unique_ptr<Shared> shared_;
  std::vector<std::unique_ptr<LoopbackTransport>> transports_;
};

}  // namespace sluice
