// Windows whose members are on several nodes: those that are open, and who carries on what is asked of them.
//
// Belongs to the engine lock, which `advance` may give up for a moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "runtime/engine/lock.hpp"
#include "runtime/far_origin.hpp"
#include "runtime/far_target.hpp"

namespace sluice {

using Lock = std::unique_lock<EngineLock>;

/// One of them: this rank as an origin and as a target, and what it has heard of others besides.
class FarWindow final : FarTarget::Host {
 public:
  FarWindow(const FarMessenger::Parts& parts, ScratchPool& memory, Context& context, FarTarget::Unexposed unexposed)
      : messenger_(parts, context), origin_(messenger_), target_(messenger_, memory, unexposed, *this), posts_(context.size()) {}

  [[nodiscard]] FarMessenger& messenger() { return messenger_; }
  [[nodiscard]] FarOrigin& origin() { return origin_; }
  [[nodiscard]] FarTarget& target() { return target_; }
  /// How often the member has posted to this rank.
  [[nodiscard]] std::uint64_t posts(std::size_t member) const { return posts_[member]; }

  // As FarWindows.
  bool advance() {
    const bool moved = origin_.advance();
    return target_.advance() || moved;
  }
  [[nodiscard]] bool has_work() const { return origin_.has_work() || target_.has_work(); }

 private:
  void take_at_once(std::size_t from, const FarMessage& message) override;

  FarMessenger messenger_;
  FarOrigin origin_;
  FarTarget target_;
  std::vector<std::uint64_t> posts_;
};

class FarWindows {
 public:
  explicit FarWindows(const FarMessenger::Parts& parts) : parts_(parts) {}
  FarWindows(const FarWindows&) = delete;
  FarWindows& operator=(const FarWindows&) = delete;

  /// No message of it has been sent before by this rank. What others have sent is kept for it.
  FarWindow& open(ContextId id, std::vector<Peer> group, Rank self, FarTarget::Unexposed unexposed);
  /// All members have come to its end.
  void close(FarWindow& window);

  /// Does what can be done now; true when something moved.
  bool advance(Lock& lock);
  /// ... and something is.
  [[nodiscard]] bool has_work() const;

 private:
  const FarMessenger::Parts parts_;
  ScratchPool memory_;
  std::vector<std::unique_ptr<FarWindow>> open_;
};

}  // namespace sluice
