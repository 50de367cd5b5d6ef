// Many senders behind one switch, and a receiver that reads from all of them: what a bound on each message, or one window over
// all, leaves in the network, and what that costs others. Section 3.2 of RD in the small; the knobs are those that a dragonfly
// has no names for.
//
//   sender: a queue for each destination, served in turns; its link stands still while its port of the switch is full
//   switch: a queue for each input port, first in, first out; whoever is behind a packet for a busy output waits
//   trunk: where there is one, all that the switch lets go shares a link to a second switch with one such queue
//   receiver: a link, a buffer, and what it takes of that (the sink)
//
// Packets are cut through in one piece. Units: bytes, ns. The same figures in each run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <vector>

#include "runtime/policy/read_window.hpp"

namespace sluice::one_switch {

struct Settings {
  unsigned senders = 64;
  double link_bytes_per_ns = 12.5;                  // of every node: 100 Gbit/s
  double sink_bytes_per_ns = 12.5;                  // what the receiver takes
  double trunk_bytes_per_ns = 0;                    // 0: no second switch
  double slow_sender_bytes_per_ns = 0;              // of the first one; 0: it is as the others
  std::size_t port_bytes = std::size_t{256} << 10;  // of a switch
  std::uint64_t wire_ns = 1000;                     // one way, without waiting
  bool has_partners = false;                        // each sender writes to a node of its own as well, as fast as it can
  bool reads = true;                                // false: only the partners are served
  bool has_window = false;                          // else each sender has four reads of 128 KB under way
  std::uint64_t allowed_delay_ns = ReadWindow::usual_delay_ns;
};

class Simulation {
 public:
  explicit Simulation(const Settings& settings);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// From an empty network; the last three quarters count.
  void run(std::uint64_t ns);

  /// Bytes per ns.
  [[nodiscard]] double rate() const { return rate_of(read_bytes_); }
  /// The least of any sender's but the first, over the mean of these: 1 where all get the same.
  [[nodiscard]] double evenness() const;
  /// Of the first sender's partner, to that of the slowest.
  [[nodiscard]] double partner_rate() const;
  [[nodiscard]] double mean_under_way() const { return counted_ns_ == 0 ? 0 : under_way_ns_ / static_cast<double>(counted_ns_); }
  [[nodiscard]] std::size_t most_under_way() const { return most_under_way_; }
  /// Of short messages to the receiver, beyond what they take where nobody waits.
  [[nodiscard]] std::uint64_t longest_wait_ns() const { return longest_wait_ns_; }

 private:
  struct Packet {
    unsigned source = 0;
    unsigned destination = 0;  // 0: the receiver; else a partner
    unsigned read = 0;
    std::size_t bytes = 0;
    std::uint64_t sent_ns = 0;  // not 0: a short message
  };
  struct Read {
    unsigned source = 0;
    std::size_t bytes = 0;
    std::size_t left = 0;
    std::uint64_t posted_ns = 0;
  };
  struct Event {
    std::uint64_t time = 0;
    std::uint64_t number = 0;
    std::function<void()> happens;
    bool operator<(const Event& other) const { return time != other.time ? time > other.time : number > other.number; }
  };
  struct Chunk {
    unsigned read = 0;
    std::size_t left = 0;
  };
  /// Of a node that sends.
  struct Sender {
    std::deque<Chunk> chunks;
    std::deque<std::uint64_t> short_ones;  // when they were sent
    unsigned turn = 0;
    bool is_sending = false;
    std::size_t on_the_way = 0;  // to its port, or in it
    std::size_t reads = 0;       // under way
    std::uint64_t taken = 0;     // bytes, by the receiver
  };
  struct Output {
    bool is_sending = false;
    bool is_draining = false;
    unsigned turn = 0;
    std::deque<Packet> sink;
    std::size_t on_the_way = 0;  // to the sink, or in it
    std::uint64_t taken = 0;
  };

  void after(std::uint64_t ns, std::function<void()> happens) { events_.push({now_ + ns, ++number_, std::move(happens)}); }
  void post_reads();
  bool may_read(Sender& sender, std::size_t bytes);
  void begin_read(unsigned source, std::size_t bytes);
  void note_under_way();
  void send(unsigned source);
  bool next_packet(unsigned source, Packet& packet);
  void forward(unsigned destination);
  std::deque<Packet>* port_for(Output& output, unsigned destination);
  void let_go(std::deque<Packet>& port, const Packet& packet);
  void fill_trunk();
  void drain(unsigned destination);
  void taken(const Packet& packet);
  void say_something(unsigned source);
  [[nodiscard]] double rate_of(std::uint64_t bytes) const {
    return counted_ns_ == 0 ? 0 : static_cast<double>(bytes) / static_cast<double>(counted_ns_);
  }
  [[nodiscard]] std::uint64_t time_of(std::size_t bytes, double rate) const;

  const Settings settings_;
  ReadWindow window_;
  std::priority_queue<Event> events_;
  std::uint64_t now_ = 0;
  std::uint64_t number_ = 0;
  std::vector<Sender> senders_;
  std::vector<std::deque<Packet>> ports_;  // of the senders
  std::deque<Packet> trunk_port_;
  bool trunk_is_sending_ = false;
  std::size_t trunk_bytes_ = 0;  // on the way to that port, or in it
  unsigned trunk_turn_ = 0;
  std::vector<Output> outputs_;
  std::vector<Read> reads_;
  std::vector<unsigned> free_reads_;
  unsigned next_peer_ = 0;
  std::size_t under_way_ = 0;

  bool counts_ = false;
  std::uint64_t counted_from_ = 0;
  std::uint64_t counted_ns_ = 0;
  std::uint64_t read_bytes_ = 0;
  double under_way_ns_ = 0;
  std::uint64_t under_way_since_ = 0;
  std::size_t most_under_way_ = 0;
  std::uint64_t longest_wait_ns_ = 0;
};

}  // namespace sluice::one_switch
