#include "runtime/rendezvous/bounded_reads.hpp"

#include "runtime/config/config.hpp"

namespace sluice {

BoundedReads::BoundedReads(std::size_t setting)
    : on_(setting != Config::no_read_window),
      window_(setting == Config::no_read_window || setting == Config::automatic_read_window ? ReadWindow()
                                                                                            : ReadWindow::fixed(setting)) {}

bool BoundedReads::take(const Rdma& adapter, Peer peer, std::size_t bytes, std::uint64_t now_ns) {
  std::size_t& reads = reads_of_[peer];
  const std::size_t peers = peers_ + (reads == 0 ? 1 : 0);
  if (!window_.take({.bytes = bytes, .reads_of_peer = reads, .peers = peers}, now_ns)) return false;
  ++reads;
  clock_ = &adapter;
  peers_ = peers;
  return true;
}

void BoundedReads::withdraw(Peer peer, std::size_t bytes) {
  window_.withdraw(bytes);
  forget(peer);
}

void BoundedReads::give_back(Peer peer, std::size_t bytes, std::uint64_t posted_ns) {
  const std::uint64_t now_ns = clock_->time_ns();
  window_.give_back(bytes, posted_ns, now_ns, now_ns - looked_ns_ <= most_since_look_ns);
  forget(peer);
}

void BoundedReads::forget(Peer peer) {
  if (--reads_of_[peer] == 0) --peers_;
}

}  // namespace sluice
