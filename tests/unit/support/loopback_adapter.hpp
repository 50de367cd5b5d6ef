// The adapter of a process of the loop-back network (loopback_transport.hpp): a model of what COOP-hca needs of one, with knobs.
// What it gets wrong about memory ends the test: reads outside of what is registered, on either side, at post or at completion.
#pragma once

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <span>

#include "runtime/transport/transport.hpp"

namespace sluice {

struct LoopbackAdapterKnobs {
  static constexpr std::size_t unlimited = ~std::size_t{0};

  bool present = false;
  /// A read is complete with the poll that comes this many polls after the first possible one.
  unsigned delay_polls = 0;
  /// Reads of each process that are completed; with the next one the adapter fails, and all that are under way with it.
  std::size_t reads = unlimited;
  /// Whether a connection is ever made.
  bool connects = true;
  /// Reads that its queue takes at a time.
  std::size_t room = unlimited;
  /// How many registrations each process may have.
  std::size_t registrations = unlimited;
  /// Transfers that others have under way.
  std::size_t foreign_work = 0;
};

/// What is registered with the adapters of all processes, by key.
struct LoopbackRegistrations {
  std::mutex mutex;
  std::map<std::uint32_t, ByteRange> by_key;
  std::uint32_t last_key = 0;

  void check(std::uint32_t key, std::uint64_t address, std::size_t bytes) {
    const std::lock_guard lock(mutex);
    const auto found = by_key.find(key);
    if (found != by_key.end() && address >= found->second.begin && address + bytes <= found->second.end) return;
    std::fprintf(stderr, "the adapter was told to use memory that is not registered\n");
    std::abort();
  }
};

class LoopbackAdapter final : public Rdma {
 public:
  LoopbackAdapter(const LoopbackAdapterKnobs& knobs, LoopbackRegistrations& registrations)
      : knobs_(knobs), registrations_(registrations) {}

  [[nodiscard]] bool usable() const { return knobs_.present && !failed_; }
  [[nodiscard]] std::size_t under_way() const { return reads_.size(); }
  [[nodiscard]] std::size_t max_under_way() const { return max_under_way_; }
  [[nodiscard]] std::size_t completed() const { return completed_; }

  bool register_memory(ByteRange bytes, Registration& registration) override {
    const std::lock_guard lock(registrations_.mutex);
    if (registered_ >= knobs_.registrations) {
      errno = ENOMEM;
      return false;
    }
    ++registered_;
    const std::uint32_t key = ++registrations_.last_key;
    registrations_.by_key[key] = bytes;
    registration = {.bytes = bytes, .local_key = key, .remote_key = key};
    return true;
  }
  void deregister(const Registration& registration) override {
    const std::lock_guard lock(registrations_.mutex);
    registrations_.by_key.erase(registration.local_key);
    --registered_;
  }

  bool write(Peer, std::span<const std::byte>, std::uint32_t, RemoteMemory, std::uint64_t) override { std::abort(); }
  bool read(Peer, std::span<std::byte> local, std::uint32_t local_key, RemoteMemory remote, std::uint64_t token) override {
    if (!may_read(Peer{})) return false;
    const Read read{local, local_key, remote, token, polls_ + knobs_.delay_polls};
    check(read);
    reads_.push_back(read);
    max_under_way_ = std::max(max_under_way_, reads_.size());
    return true;
  }
  [[nodiscard]] bool may_read(Peer) override { return usable() && knobs_.connects && reads_.size() < knobs_.room; }
  [[nodiscard]] bool places_in_order() const override { return true; }
  [[nodiscard]] std::size_t largest_transfer() const override { return std::size_t{1} << 30; }

  int poll(MessageSink& sink) {
    int done = 0;
    for (++polls_; !reads_.empty() && reads_.front().due < polls_; ++done) {
      const Read read = reads_.front();
      check(read);
      failed_ = failed_ || completed_ == knobs_.reads;
      if (failed_) {
        std::memset(read.local.data(), 0xee, read.local.size() / 2);  // some of it came
        reads_.pop_front();
        for (Read& other : reads_) other.due = 0;
        sink.on_transfer_failed(read.token);
        continue;
      }
      std::memcpy(read.local.data(), reinterpret_cast<const void*>(read.remote.address), read.local.size());
      reads_.pop_front();
      ++completed_;
      sink.on_transferred(read.token);
    }
    return done;
  }

 private:
  struct Read {
    std::span<std::byte> local;
    std::uint32_t local_key = 0;
    RemoteMemory remote;
    std::uint64_t token = 0;
    std::uint64_t due = 0;
  };

  void check(const Read& read) {
    registrations_.check(read.local_key, reinterpret_cast<std::uint64_t>(read.local.data()), read.local.size());
    registrations_.check(read.remote.key, read.remote.address, read.local.size());
  }

  const LoopbackAdapterKnobs knobs_;
  LoopbackRegistrations& registrations_;
  std::deque<Read> reads_;
  std::size_t registered_ = 0;
  std::size_t completed_ = 0;
  std::size_t max_under_way_ = 0;
  std::uint64_t polls_ = 0;
  bool failed_ = false;
};

}  // namespace sluice
