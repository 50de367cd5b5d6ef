// What one member does in a call through lanes, for each kind of call. The same whether its thread waits (team_call.hpp) or the
// call is a nonblocking one (lane_calls.hpp):
//
//   put       its part into the payload, and for whom that is. From then on what it sends may be written again
//   go_on     once that is published: what it does meanwhile, and what the team is to wait for
//   take      once that is there: results
//
// Results go around what is under guard, and through the layouts of derived types. `description` is alike on all members.
//
// Threading: belongs to the engine lock, but for `description`.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "runtime/collective/description.hpp"
#include "runtime/collective/reduction.hpp"
#include "runtime/collective/team.hpp"
#include "runtime/datatype/layout.hpp"

namespace sluice {

class LaneStep {
 public:
  struct Publication {
    Team::Readers readers = Team::Readers::all;
    Rank reader{};  // of one
  };

  virtual ~LaneStep() = default;
  [[nodiscard]] virtual Description description(const Team& team) const = 0;
  virtual Publication put(Team& team) const = 0;
  virtual void go_on(Team& team) const { team.await_all(); }
  virtual void take(Team& team) const = 0;

 protected:
  LaneStep() = default;
  LaneStep(const LaneStep&) = default;
  LaneStep(LaneStep&&) = default;
  LaneStep& operator=(const LaneStep&) = delete;
  LaneStep& operator=(LaneStep&&) = delete;
};

class BarrierStep final : public LaneStep {
 public:
  [[nodiscard]] Description description(const Team& /*team*/) const override { return {.kind = Description::Kind::barrier}; }
  Publication put(Team& /*team*/) const override { return {}; }
  void take(Team& /*team*/) const override {}
};

class BcastStep final : public LaneStep {
 public:
  BcastStep(Rank root, UserBuffer buffer) : root_(root), buffer_(std::move(buffer)) {}
  [[nodiscard]] Description description(const Team& team) const override;
  Publication put(Team& team) const override;
  void go_on(Team& team) const override;
  void take(Team& team) const override;

 private:
  Rank root_;
  UserBuffer buffer_;
};

/// Packed, gapless operands.
struct LaneOperands {
  std::size_t count = 0;
  const std::byte* own = nullptr;
  std::byte* result = nullptr;  // where this rank has one
};

/// No `root`: all have the result. The reduction outlives the call.
class ReduceStep final : public LaneStep {
 public:
  ReduceStep(const Reduction& reduction, const LaneOperands& operands, std::optional<Rank> root)
      : reduction_(reduction), operands_(operands), root_(root) {}
  [[nodiscard]] Description description(const Team& team) const override;
  Publication put(Team& team) const override;
  void go_on(Team& team) const override;
  void take(Team& team) const override;

 private:
  [[nodiscard]] bool is_for_root(const Team& team) const { return root_ && *root_ != team.self(); }

  const Reduction& reduction_;
  LaneOperands operands_;
  std::optional<Rank> root_;
};

/// `kind`: scan or exscan.
class ScanStep final : public LaneStep {
 public:
  ScanStep(Description::Kind kind, const Reduction& reduction, const LaneOperands& operands)
      : kind_(kind), reduction_(reduction), operands_(operands) {}
  [[nodiscard]] Description description(const Team& team) const override;
  Publication put(Team& team) const override;
  void go_on(Team& team) const override { team.await_lower(); }
  void take(Team& team) const override;

 private:
  Description::Kind kind_;
  const Reduction& reduction_;
  LaneOperands operands_;
};

/// This rank has the result of `elements` of the operands, from `first` on.
class ReduceScatterStep final : public LaneStep {
 public:
  struct Strip {
    std::size_t first = 0;
    std::size_t elements = 0;
  };
  ReduceScatterStep(const Reduction& reduction, const LaneOperands& operands, const Strip& own)
      : reduction_(reduction), operands_(operands), own_(own) {}
  [[nodiscard]] Description description(const Team& team) const override;
  Publication put(Team& team) const override;
  void take(Team& team) const override;

 private:
  const Reduction& reduction_;
  LaneOperands operands_;
  Strip own_;
};

// `all`: a block of so many packed bytes for each member, where it is significant. No `own`: in place. Where all members receive,
// one without `all` takes part, and receives nothing.

class GatherStep final : public LaneStep {
 public:
  GatherStep(Rank root, std::optional<UserBuffer> own, std::optional<UserBuffer> all, std::size_t block_bytes)
      : root_(root), own_(std::move(own)), all_(std::move(all)), block_bytes_(block_bytes) {}
  [[nodiscard]] Description description(const Team& team) const override;
  Publication put(Team& team) const override;
  void go_on(Team& team) const override;
  void take(Team& team) const override;

 private:
  Rank root_;
  std::optional<UserBuffer> own_;
  std::optional<UserBuffer> all_;
  std::size_t block_bytes_;
};

class ScatterStep final : public LaneStep {
 public:
  ScatterStep(Rank root, std::optional<UserBuffer> all, std::optional<UserBuffer> own, std::size_t block_bytes)
      : root_(root), all_(std::move(all)), own_(std::move(own)), block_bytes_(block_bytes) {}
  [[nodiscard]] Description description(const Team& team) const override;
  Publication put(Team& team) const override;
  void go_on(Team& team) const override;
  void take(Team& team) const override;

 private:
  Rank root_;
  std::optional<UserBuffer> all_;
  std::optional<UserBuffer> own_;
  std::size_t block_bytes_;
};

class AllgatherStep final : public LaneStep {
 public:
  AllgatherStep(std::optional<UserBuffer> own, std::optional<UserBuffer> all, std::size_t block_bytes)
      : own_(std::move(own)), all_(std::move(all)), block_bytes_(block_bytes) {}
  [[nodiscard]] Description description(const Team& team) const override;
  Publication put(Team& team) const override;
  void go_on(Team& team) const override;
  void take(Team& team) const override;

 private:
  std::optional<UserBuffer> own_;
  std::optional<UserBuffer> all_;
  std::size_t block_bytes_;
};

/// `all`: by rank, each of its own length. `most_bytes`: of the longest one, alike on all.
class AllgathervStep final : public LaneStep {
 public:
  AllgathervStep(std::optional<UserBuffer> own, std::vector<UserBuffer> all, std::size_t most_bytes)
      : own_(std::move(own)), all_(std::move(all)), most_bytes_(most_bytes) {}
  [[nodiscard]] Description description(const Team& team) const override;
  Publication put(Team& team) const override;
  void go_on(Team& team) const override;
  void take(Team& team) const override;

 private:
  std::optional<UserBuffer> own_;
  std::vector<UserBuffer> all_;
  std::size_t most_bytes_;
};

class AlltoallStep final : public LaneStep {
 public:
  AlltoallStep(UserBuffer sent, std::optional<UserBuffer> all, std::size_t block_bytes)
      : sent_(std::move(sent)), all_(std::move(all)), block_bytes_(block_bytes) {}
  [[nodiscard]] Description description(const Team& team) const override;
  Publication put(Team& team) const override;
  void go_on(Team& team) const override;
  void take(Team& team) const override;

 private:
  UserBuffer sent_;
  std::optional<UserBuffer> all_;
  std::size_t block_bytes_;
};

}  // namespace sluice
