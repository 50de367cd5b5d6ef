// A transport that notes what is asked of it, in order, and finds messages pending as often as a test says. No message comes.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/support/minimal_transport.hpp"

namespace sluice {

class RecordingDoorbell final : public MinimalTransport {
 public:
  mutable int pending_looks = 0;    // so many more find something
  std::function<void()> meanwhile;  // happens within the next sleep, once

  /// What was asked since the last time.
  std::vector<std::string> news() {
    const std::lock_guard lock(mutex_);
    return std::exchange(asked_, {});
  }
  [[nodiscard]] int wakes() const {
    const std::lock_guard lock(mutex_);
    return wakes_;
  }

  int poll(MessageSink&) override { return note("poll"), 0; }
  [[nodiscard]] bool pending() const override {
    note("look");
    return pending_looks != 0 && pending_looks-- != 0;
  }
  void flush_wakeups() override {}
  void tell_of_waiting() override { note("tell"); }
  void set_wake_mask(WakeMask level) override { note("wake_mask " + std::to_string(static_cast<unsigned>(level))); }
  void sleep(std::chrono::microseconds) override {
    note("sleep");
    if (const auto event = std::exchange(meanwhile, nullptr)) event();
  }
  void poke() override { note("poke"); }
  void sleep_helper() override {
    std::unique_lock lock(mutex_);
    woken_.wait(lock, [this] { return to_wake_ != 0; });
    --to_wake_;
  }
  void wake_helper() override {
    {
      const std::lock_guard lock(mutex_);
      ++to_wake_;
      ++wakes_;
    }
    woken_.notify_one();
  }

  static std::string set_to(WakeMask level) { return "wake_mask " + std::to_string(static_cast<unsigned>(level)); }

 private:
  void note(std::string what) const {
    const std::lock_guard lock(mutex_);
    asked_.push_back(std::move(what));
  }

  mutable std::mutex mutex_;
  std::condition_variable woken_;
  mutable std::vector<std::string> asked_;
  int to_wake_ = 0;
  int wakes_ = 0;
};

}  // namespace sluice
