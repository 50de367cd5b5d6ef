// A transport that counts how often it is called, and brings back to its engine what that sends to its one peer: the smallest
// thing with which an engine can send a message and receive one, without a peer and without another thread.
#pragma once

#include <array>
#include <condition_variable>
#include <mutex>

#include "runtime/transport/transport.hpp"

namespace sluice {

class CountingTransport final : public Transport {
 public:
  static constexpr std::size_t room_bytes = 16384;

  /// Of messages, in either direction; what the helper thread calls does not count.
  [[nodiscard]] std::size_t calls() const { return calls_; }
  /// Messages that have been sent and not come back.
  [[nodiscard]] std::size_t under_way() const { return full_ ? 1 : 0; }

  [[nodiscard]] std::size_t max_payload(Peer) const override { return ++calls_, room_bytes; }
  std::byte* reserve(Peer, std::size_t) override { return ++calls_, full_ ? nullptr : room_.data(); }
  void commit(Peer, const WireHeader& header) override {
    ++calls_;
    header_ = header;
    header_.source = Rank{1};  // of whom it comes back
    full_ = true;
  }
  int poll(MessageSink& sink) override {
    ++calls_;
    if (!full_) return 0;
    full_ = false;
    sink.on_message(Peer{1}, header_, {room_.data(), header_.payload_bytes});
    return 1;
  }
  [[nodiscard]] bool streams_directly(Peer) const override { return ++calls_, false; }
  bool send(Peer, const WireHeader&, std::span<const std::byte>, std::span<const std::byte>) override { return ++calls_, false; }
  [[nodiscard]] std::size_t eager_limit(Peer) const override { return ++calls_, 0; }
  [[nodiscard]] bool pending() const override { return ++calls_, false; }
  [[nodiscard]] bool can_write(Peer) const override { return ++calls_, false; }
  [[nodiscard]] bool can_read_blocks(Peer) const override { return ++calls_, false; }
  [[nodiscard]] bool can_read(Peer) const override { return ++calls_, false; }
  bool write(Peer, std::uint64_t, std::span<const std::byte>, TargetLines) override { return ++calls_, false; }
  bool read_block(Peer, std::uint64_t, std::span<std::byte>, TargetLines, SourceLines) override { return ++calls_, false; }
  std::size_t read(Peer, std::uint64_t, std::span<std::byte>) override { return ++calls_, 0; }
  std::uint32_t open_progress_slot() override { return ++calls_, no_slot; }
  void close_progress_slot(std::uint32_t) override { ++calls_; }
  [[nodiscard]] std::uint64_t progress(std::uint32_t) const override { return ++calls_, 0; }
  void report_progress(Peer, std::uint32_t, std::uint64_t) override { ++calls_; }
  std::atomic<std::uint64_t>& claims(std::uint32_t) override { return ++calls_, claims_; }
  std::atomic<std::uint64_t>* claims_at(Peer, std::uint32_t) override { return ++calls_, nullptr; }
  void tell_of_waiting() override { ++calls_; }
  void flush_wakeups() override {}
  void leave_wakeups() override { ++calls_; }
  void set_wake_mask(WakeMask) override { ++calls_; }
  void sleep(std::chrono::microseconds) override { ++calls_; }
  void poke() override { ++calls_; }
  [[nodiscard]] Peer vanished() const override { return Peer{-1}; }

  void sleep_helper() override {
    std::unique_lock lock(mutex_);
    wakes_.wait(lock, [this] { return woken_; });
    woken_ = false;
  }
  void wake_helper() override {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    wakes_.notify_one();
  }

 private:
  mutable std::size_t calls_ = 0;
  std::array<std::byte, room_bytes> room_{};
  WireHeader header_;
  bool full_ = false;
  std::atomic<std::uint64_t> claims_{0};
  std::mutex mutex_;
  std::condition_variable wakes_;
  bool woken_ = false;
};

}  // namespace sluice
