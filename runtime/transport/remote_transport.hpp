// A transport between processes that have no memory in common: everything of `Transport` that copies between their memories
// refuses. tcp, verbs and the tests' model of an adapter derive from it.
#pragma once

#include "runtime/transport/transport.hpp"

namespace sluice {

class RemoteTransport : public Transport {
 public:
  [[nodiscard]] bool can_write(Peer) const final { return false; }
  [[nodiscard]] bool can_read_blocks(Peer) const final { return false; }
  [[nodiscard]] bool can_read(Peer) const final { return false; }
  bool write(Peer, std::uint64_t, std::span<const std::byte>, TargetLines) final { return false; }
  bool read_block(Peer, std::uint64_t, std::span<std::byte>, TargetLines, SourceLines) final { return false; }
  std::size_t read(Peer, std::uint64_t, std::span<std::byte>) final { return 0; }
  std::uint32_t open_progress_slot() final { return no_slot; }
  void close_progress_slot(std::uint32_t) final {}
  [[nodiscard]] std::uint64_t progress(std::uint32_t) const final { return 0; }
  void report_progress(Peer, std::uint32_t, std::uint64_t) final {}
  std::atomic<std::uint64_t>& claims(std::uint32_t) final { return no_claims_; }
  std::atomic<std::uint64_t>* claims_at(Peer, std::uint32_t) final { return nullptr; }

 private:
  std::atomic<std::uint64_t> no_claims_{0};
};

}  // namespace sluice
