// The nodes: what they send, how fast they take what comes, and what holds their sending back.
//
// ECN (RD section 4.1): a packet that comes with a forward mark has one of those back carry a backward mark. A counter rises by 8
// with each of these, falls by one with each packet without, falls with time, and stays within 0 and 20. A node sends at 1 -
// counter / 20 of its link. RDRP: a packet counts as outstanding until it is drained at its destination and word of that has come
// back. The paper lets regular packets carry that word. Then a pair stops for good once both have sent what they may before any
// of it arrives; so here the word takes the time of a head by the minimal way, and no room. The requests of the read window do
// the same.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "apps/bench/dragonfly/fabric.hpp"
#include "runtime/policy/read_window.hpp"

namespace sluice::dragonfly {

class Nodes final : public Fabric::Nodes {
 public:
  Nodes(const Settings& settings, const Topology& topology, Calendar& calendar, Packets& packets, Random& random, Fabric& fabric);

  /// Everybody has something to send from now on.
  void begin();
  /// Nobody sends anything new.
  void stop() { stopped_ = true; }

  void arrives(unsigned node, std::uint32_t packet) override;
  void has_place(unsigned node) override;

  // --- events
  void woken(unsigned node);
  void generate(unsigned node, Tick left);
  void drained(unsigned node);
  void returned(unsigned node);
  void granted(unsigned node, std::uint32_t what);

  // --- what became of it
  struct Totals {
    std::uint64_t injected = 0;
    std::uint64_t drained = 0;
    std::uint64_t latency_ticks = 0;  // sum over drained ones, from the start of a packet to its end
    std::uint64_t least_ticks = 0;    // the same sum, if each had met nobody on its minimal way
    std::uint64_t marked = 0;         // came with a forward mark
  };
  [[nodiscard]] const Totals& totals() const { return totals_; }
  [[nodiscard]] unsigned count() const { return static_cast<unsigned>(nodes_.size()); }
  [[nodiscard]] bool is_slow(unsigned node) const { return nodes_[node].slow; }
  [[nodiscard]] std::uint64_t drained_by(unsigned node) const { return nodes_[node].drained; }
  [[nodiscard]] unsigned partner(unsigned node) const { return nodes_[node].partner; }
  /// Of the read windows, in the mean, bytes.
  [[nodiscard]] double mean_window() const;
  /// All places are free, nothing is outstanding, and nothing is to be drained.
  [[nodiscard]] bool is_empty() const;

 private:
  struct Node {
    PacketQueue sink;
    Tick link_free = 0;
    unsigned partner = 0;
    unsigned places = 0;       // of the router's queue
    unsigned backlog = 0;      // packets that are generated and not sent, where load is below 1
    unsigned outstanding = 0;  // packets, or reads
    unsigned owed_marks = 0;   // to the partner
    unsigned counter = 0;      // of ECN
    unsigned allowance = 0;    // of ECN, in sixtieths of a flit
    Tick updated = 0;
    Tick decayed = 0;
    std::uint64_t drained = 0;
    bool slow = false;
    bool is_draining = false;
    bool wakes = false;  // an event `inject` comes
  };
  struct Read {
    Tick posted = 0;
    unsigned left = 0;  // packets
    std::size_t bytes = 0;
  };
  struct Grant {
    std::uint16_t read;
    std::uint16_t left;
  };
  struct Reader {
    explicit Reader(std::uint64_t allowed_delay_ns) : window(allowed_delay_ns) {}
    ReadWindow window;
    std::vector<Read> reads;
    std::vector<std::uint16_t> free;
    std::deque<Grant> grants;  // of the partner, to this node
  };

  void match_pairs();
  void choose_slow();
  void inject(unsigned node);
  void wake(unsigned node, Tick delay);
  [[nodiscard]] bool has_something(unsigned node) const;
  bool may_send(unsigned node);
  void send(unsigned node);
  [[nodiscard]] unsigned destination_of(unsigned node);
  void let_time_pass(Node& node) const;
  void note_marks(Node& node, const Packet& packet) const;
  void drain_next(unsigned node);
  void post_reads(unsigned node);
  void read_came(unsigned node, unsigned read);

  const Settings& settings_;
  const Topology& topology_;
  Calendar& calendar_;
  Packets& packets_;
  Random& random_;
  Fabric& fabric_;
  Tick decay_ticks_;
  bool stopped_ = false;
  Totals totals_;
  std::vector<Node> nodes_;
  std::vector<Reader> readers_;
};

}  // namespace sluice::dragonfly
