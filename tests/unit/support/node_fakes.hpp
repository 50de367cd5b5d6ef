// A node of two processes in one, for tests of the ways inside a node: memory that both share, with knobs, and an adapter.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <utility>

#include "runtime/rendezvous/node_parts.hpp"
#include "tests/unit/support/minimal_transport.hpp"

namespace sluice {

/// An offset in a peer's memory file is simply an address.
class FakeNodeMemory : public MinimalTransport {
 public:
  static constexpr std::size_t unlimited = ~std::size_t{0};

  bool writable = true;
  bool blocks_readable = true;
  bool readable = true;
  bool writable_at = false;
  std::size_t write_budget = unlimited;  // bytes until one fails
  std::size_t read_budget = unlimited;
  std::uint32_t free_slots = 4;
  std::function<void()> meanwhile;  // happens within the next copy, once
  std::size_t copied_bytes = 0;
  std::size_t written_at = 0;  // by address
  std::size_t work_of_adapters = 0;

  [[nodiscard]] bool can_write(Peer) const override { return writable; }
  [[nodiscard]] bool can_read_blocks(Peer) const override { return blocks_readable; }
  [[nodiscard]] bool can_read(Peer) const override { return readable; }
  bool write(Peer, std::uint64_t offset, std::span<const std::byte> source, TargetLines) override {
    happen();
    writable = writable && spend(write_budget, source.size()) == source.size();
    if (writable) std::memcpy(reinterpret_cast<std::byte*>(offset), source.data(), source.size());
    return writable;
  }
  bool read_block(Peer, std::uint64_t offset, std::span<std::byte> target, TargetLines, SourceLines) override {
    happen();
    blocks_readable = blocks_readable && spend(read_budget, target.size()) == target.size();
    if (blocks_readable) std::memcpy(target.data(), reinterpret_cast<const std::byte*>(offset), target.size());
    return blocks_readable;
  }
  std::size_t read(Peer, std::uint64_t address, std::span<std::byte> target) override {
    happen();
    const std::size_t bytes = spend(read_budget, target.size());
    std::memcpy(target.data(), reinterpret_cast<const std::byte*>(address), bytes);
    return bytes;
  }
  [[nodiscard]] bool can_write_at(Peer) const override { return writable_at; }
  std::size_t write_at(Peer, std::uint64_t address, std::span<const std::byte> source) override {
    happen();
    const std::size_t bytes = spend(write_budget, source.size());
    std::memcpy(reinterpret_cast<std::byte*>(address), source.data(), bytes);
    written_at += bytes;
    return bytes;
  }
  std::uint32_t open_progress_slot() override { return free_slots == 0 ? no_slot : --free_slots; }
  void close_progress_slot(std::uint32_t slot) override { progress_.at(slot) = 0; }
  [[nodiscard]] std::uint64_t progress(std::uint32_t slot) const override { return progress_.at(slot); }
  void report_progress(Peer, std::uint32_t slot, std::uint64_t bytes) override { progress_.at(slot) = bytes; }
  std::atomic<std::uint64_t>& claims(std::uint32_t slot) override { return claims_.at(slot); }
  std::atomic<std::uint64_t>* claims_at(Peer, std::uint32_t slot) override { return &claims_.at(slot); }
  [[nodiscard]] std::size_t adapter_work() const override { return work_of_adapters; }
  void copied(std::size_t bytes) override { copied_bytes += bytes; }

 private:
  void happen() {
    if (const auto event = std::exchange(meanwhile, nullptr)) event();
  }
  static std::size_t spend(std::size_t& budget, std::size_t bytes) {
    const std::size_t spent = std::min(budget, bytes);
    if (budget != unlimited) budget -= spent;
    return spent;
  }

  std::array<std::uint64_t, 4> progress_{};
  std::array<std::atomic<std::uint64_t>, 4> claims_{};
};

/// An adapter that takes part or not, and does what the test says.
class FakeChunkReader final : public ChunkReader {
 public:
  bool takes_part = false;
  std::function<void(Request&)> claims;

  [[nodiscard]] bool joins(Request&) override { return takes_part; }
  void claim(Request& receive) override {
    if (claims) claims(receive);
  }
};

}  // namespace sluice
