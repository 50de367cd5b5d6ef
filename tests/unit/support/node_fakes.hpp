// A node of two processes in one, for tests of the ways inside a node: memory that both share, with knobs, and a host that notes
// what it is asked for.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/rendezvous/node_host.hpp"
#include "runtime/transport/node_hints.hpp"
#include "runtime/transport/node_memory.hpp"

namespace sluice {

/// An offset in a peer's memory file is simply an address.
class FakeNodeMemory final : public NodeMemory, public NodeHints {
 public:
  static constexpr std::size_t unlimited = ~std::size_t{0};

  bool writable = true;
  bool blocks_readable = true;
  bool readable = true;
  std::size_t write_budget = unlimited;  // bytes until one fails
  std::size_t read_budget = unlimited;
  std::uint32_t free_slots = 4;
  std::function<void()> meanwhile;  // happens within the next copy, once
  std::size_t copied_bytes = 0;
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

class FakeNodeHost final : public NodeHost, public CopierChoice, public ChunkReader {
 public:
  CopyChoice choice{Copier::both, trace::Reason::asked_for};
  bool buffers_are_blocks = true;
  bool adapter_joins = false;
  std::function<void(Request&)> adapter_claims;
  std::vector<std::string> asked;  // in order
  ClearToSend clear;               // the last one
  std::uint8_t clear_flags = 0;
  Refusal refusal;
  Copier expected{};

  /// What was asked since the last time.
  std::vector<std::string> news() { return std::exchange(asked, {}); }

  void answer(const Request&, MessageKind kind, std::span<const std::byte> payload, std::uint8_t flags) override {
    if (kind == MessageKind::cts) {
      std::memcpy(&clear, payload.data(), sizeof clear);
      clear_flags = flags;
      asked.emplace_back("cts");
    } else if (kind == MessageKind::refuse) {
      std::memcpy(&refusal, payload.data(), sizeof refusal);
      asked.push_back("refuse " + std::to_string(refusal.offset));
    } else {
      asked.emplace_back("fin");
    }
  }
  void send_fin_of_chunks(const Request&, std::uint8_t) override { asked.emplace_back("fin of chunks"); }
  void finish(Request& request, std::uint64_t) override {
    request.complete = true;
    asked.emplace_back("finish");
  }
  void begin_again(Request& receive) override {
    asked.push_back("again " + std::to_string(receive.offset) + " to " + std::to_string(receive.stop) +
                    (receive.way == Request::Way::stream ? " by stream" : ""));
  }
  void fall_back(const Request&, Fallback reason) override {
    asked.push_back("fall back " + std::to_string(static_cast<int>(reason)));
  }
  bool is_block(const Request&) override { return buffers_are_blocks; }
  void deliver(Request& receive, std::span<const std::byte> payload) override {
    std::memcpy(receive.data + receive.offset, payload.data(), payload.size());
    receive.offset += payload.size();
  }
  [[nodiscard]] bool kernel_waits_for_pages() const override { return false; }
  void tell_choice(const Request&, trace::Protocol protocol, trace::Reason, std::uint64_t) override { chosen = protocol; }
  CopyChoice choose(const Request&) override { return choice; }
  void expect(Request&, Copier copier) override { expected = copier; }
  void end_expected(Request&) override {}
  [[nodiscard]] bool may_stay_in_outer_cache(const Request&) const override { return false; }
  [[nodiscard]] bool joins(Request&) override { return adapter_joins; }
  void claim(Request& receive) override {
    if (adapter_claims) adapter_claims(receive);
  }

  trace::Protocol chosen{};
};

}  // namespace sluice
