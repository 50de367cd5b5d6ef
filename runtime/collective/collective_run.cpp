#include "runtime/collective/collective_run.hpp"

#include <algorithm>
#include <utility>

#include "runtime/guard/user_memory.hpp"

namespace sluice {
namespace {

const std::shared_ptr<const Layout>& bytes_layout() {
  static const auto& layout = *new std::shared_ptr<const Layout>(Layout::contiguous(1));
  return layout;
}

/// Of each operand: about so many bytes of all are worked on at once, but whole elements.
std::size_t share_of(std::size_t bytes, std::size_t operands, std::size_t element_bytes) {
  return std::max(bytes / operands / element_bytes, std::size_t{1}) * element_bytes;
}

}  // namespace

/// Of one step of a reduction: its operands where they can be used. What is partly under guard is copied aside.
class CollectiveRun::Piece {
 public:
  Piece(std::size_t sources, std::size_t bytes) : bytes_(bytes), sources_(sources) {}

  void read(std::size_t index, std::byte* place) {
    sources_[index] = unguarded_address(place, bytes_);
    if (sources_[index]) return;
    sources_[index] = aside();
    copy_from_user(sources_[index], place, bytes_);
  }
  void fold(const Reduction& reduction, std::byte* place) {
    std::byte* const target = unguarded_address(place, bytes_);
    std::byte* const used = target ? target : aside();
    const Reduction::Sources from(sources_.data(), sources_.size());
    reduction.fold(from, {&used, 1}, bytes_ / reduction.element_bytes());
    if (!target) copy_to_user(place, used, bytes_);
  }

 private:
  std::byte* aside() { return aside_.emplace_back(std::make_unique_for_overwrite<std::byte[]>(bytes_)).get(); }

  std::size_t bytes_;
  std::vector<std::byte*> sources_;
  std::vector<std::unique_ptr<std::byte[]>> aside_;
};

CollectiveRun::CollectiveRun(Schedule schedule, Buffers buffers, const Reduction* reduction, Tags tags, Messages& messages,
                             ScratchPool& memory, std::unique_ptr<OwnOperation> own_operation)
    : schedule_(std::move(schedule)),
      memory_(memory),
      reduction_(reduction),
      own_operation_(std::move(own_operation)),
      tags_(tags),
      messages_(messages) {
  for (UserBuffer& buffer : buffers.operand) operand_.push_back({std::move(buffer), nullptr});
  for (UserBuffer& buffer : buffers.result) result_.push_back({std::move(buffer), nullptr});
  if (schedule_.scratch_bytes != 0) scratch_ = memory_.take(schedule_.scratch_bytes);
  pack_what_is_cut();
}

CollectiveRun::Block& CollectiveRun::block_of(const Region& region) {
  return (region.area == Region::Area::operand ? operand_ : result_)[region.block];
}

void CollectiveRun::note_use(const Region& region, bool is_moved, bool is_written) {
  if (region.area == Region::Area::scratch || region.bytes == 0) return;
  Block& block = block_of(region);
  block.is_written |= is_written;
  const bool is_whole = region.begin == 0 && region.bytes == block.user.bytes();
  if (block.packed || block.user.is_contiguous() || (is_moved && is_whole)) return;
  block.packed = memory_.take(block.user.bytes());
  packed_.push_back(&block);
}

void CollectiveRun::pack_what_is_cut() {
  for (const Round& round : schedule_.rounds) {
    for (const Round::Message& message : round.receives) {
      note_use(message.region, true, true);
      uses_parts_ |= message.part != 0;
      ends_in_scratch_ |=
          &round == &schedule_.rounds.back() && message.region.area == Region::Area::scratch && message.region.bytes != 0;
    }
    for (const Round::Message& message : round.sends) note_use(message.region, true, false);
    for (const Round::Local& local : round.local) {
      const bool is_copy = local.sources.size() == 1;
      for (const Region& source : local.sources) note_use(source, is_copy, false);
      note_use(local.target, is_copy, true);
    }
  }
}

/// nullptr: it has gaps.
std::byte* CollectiveRun::place(const Region& region) {
  if (region.area == Region::Area::scratch) return scratch_.get() + region.begin;
  const Block& block = block_of(region);
  if (block.packed) return block.packed.get() + region.begin;
  return block.user.is_contiguous() ? block.user.data() + region.begin : nullptr;
}

UserBuffer CollectiveRun::buffer_of(const Region& region) {
  if (std::byte* const start = region.bytes != 0 ? place(region) : nullptr) return {start, region.bytes, bytes_layout()};
  return region.bytes != 0 ? block_of(region).user : UserBuffer{nullptr, 0, bytes_layout()};
}

void CollectiveRun::begin_round() {
  step_ = offset_ = first_open_ = 0;
  open_.clear();
  if (round_ == schedule_.rounds.size()) {
    phase_ = Phase::unpacking;
    return;
  }
  phase_ = Phase::local;
  const Round& round = schedule_.rounds[round_];
  for (const Round::Message& message : round.receives)
    open_.push_back(messages_.receive({message.peer, tags_.of(message.part), buffer_of(message.region)}));
  for (const Round::Message& message : round.sends)
    open_.push_back(messages_.send({message.peer, tags_.of(message.part), buffer_of(message.region)}));
}

void CollectiveRun::take(std::size_t index) {
  const auto bytes = messages_.take(std::exchange(open_[index], nullptr));
  const auto& receives = schedule_.rounds[round_].receives;
  if (bytes && index < receives.size() && *bytes != receives[index].region.bytes) odd_one_ = receives[index].peer;
}

/// True when all are.
bool CollectiveRun::take_over() {
  while (first_open_ != open_.size()) {
    Request* const next = open_[first_open_];
    if (next && !messages_.is_over(*next)) return false;
    if (next) take(first_open_);
    ++first_open_;
  }
  return true;
}

void CollectiveRun::finish() {
  for (; first_open_ != open_.size(); ++first_open_) {
    if (open_[first_open_]) take(first_open_);
  }
  phase_ = Phase::done;
}

std::size_t CollectiveRun::steps() const {
  switch (phase_) {
    case Phase::packing:
    case Phase::unpacking:
      return packed_.size();
    case Phase::local:
      return schedule_.rounds[round_].local.size();
    case Phase::messages:
    case Phase::done:
      break;
  }
  return 0;
}

bool CollectiveRun::has_work() const { return step_ < steps() && !awaits_program(); }

bool CollectiveRun::can_advance() const {
  if (is_done() || has_work() || awaits_program()) return false;
  const auto is_over = [this](const Request* request) { return !request || messages_.is_over(*request); };
  return phase_ != Phase::messages || std::all_of(open_.begin(), open_.end(), is_over);
}

bool CollectiveRun::advance() {
  bool moved = false;
  while (!has_work() && !awaits_program()) {
    switch (phase_) {
      case Phase::packing:
        begin_round();
        break;
      case Phase::local:
        phase_ = Phase::messages;
        step_ = 0;
        continue;
      case Phase::messages:
        if (!take_over()) return moved;
        ++round_;
        begin_round();
        break;
      case Phase::unpacking:
        phase_ = Phase::done;
        break;
      case Phase::done:
        return moved;
    }
    moved = true;
  }
  return moved;
}

void CollectiveRun::work(std::size_t bytes) {
  const bool moves = phase_ != Phase::local;
  const std::size_t done = moves ? move(*packed_[step_], bytes) : combine(schedule_.rounds[round_].local[step_], bytes);
  const std::size_t whole = moves ? packed_[step_]->user.bytes() : schedule_.rounds[round_].local[step_].target.bytes;
  offset_ += done;
  if (offset_ < whole) return;
  offset_ = 0;
  ++step_;
}

/// Between a block and its packed copy. What nobody has written is not brought back.
std::size_t CollectiveRun::move(const Block& block, std::size_t bytes) {
  const std::size_t whole = block.user.bytes();
  if (phase_ == Phase::unpacking && !block.is_written) return whole;
  LayoutCursor cursor(block.user);
  cursor.seek(offset_);
  const std::span<std::byte> piece(block.packed.get() + offset_, std::min(bytes, whole - offset_));
  return phase_ == Phase::packing ? cursor.pack(piece) : cursor.unpack(piece);
}

std::size_t CollectiveRun::combine(const Round::Local& step, std::size_t bytes) {
  const std::size_t left = step.target.bytes - offset_;
  if (step.sources.size() == 1) {
    const std::size_t piece = std::min(bytes, left);
    copy(step.sources.front(), step.target, piece);
    return piece;
  }
  if (own_operation_) return combine_by_program(step, bytes);
  const std::size_t bytes_now = std::min(share_of(bytes, step.sources.size(), reduction_->element_bytes()), left);
  Piece piece(step.sources.size(), bytes_now);
  for (std::size_t i = 0; i < step.sources.size(); ++i) piece.read(i, place(step.sources[i]) + offset_);
  piece.fold(*reduction_, place(step.target) + offset_);
  return bytes_now;
}

/// Twice for each piece: before the program has been called, and after.
std::size_t CollectiveRun::combine_by_program(const Round::Local& step, std::size_t bytes) {
  if (fold_) {
    copy_to_user(place(step.target) + offset_, fold_->result(), fold_->bytes());
    const std::size_t done = fold_->bytes();
    fold_.reset();
    return done;
  }
  const std::size_t share = share_of(bytes, step.sources.size(), own_operation_->element_bytes());
  const std::size_t bytes_now = std::min(share, step.target.bytes - offset_);
  fold_.emplace(*own_operation_, step.sources.size(), bytes_now);
  for (std::size_t i = 0; i < step.sources.size(); ++i)
    copy_from_user(fold_->operand(i), place(step.sources[i]) + offset_, bytes_now);
  return 0;
}

/// The next bytes of a step. What has gaps, or is partly under guard, goes through a few bytes aside.
void CollectiveRun::copy(const Region& from, const Region& to, std::size_t bytes) {
  std::byte* const source = place(from);
  std::byte* const target = place(to);
  if (source && target) {
    if (source == target) return;
    std::byte* const readable = unguarded_address(source + offset_, bytes);
    if (readable) return copy_to_user(target + offset_, readable, bytes);
  }
  const auto aside = std::make_unique_for_overwrite<std::byte[]>(bytes);
  if (source) {
    copy_from_user(aside.get(), source + offset_, bytes);
  } else {
    LayoutCursor cursor(block_of(from).user);
    cursor.seek(from.begin + offset_);
    cursor.pack({aside.get(), bytes});
  }
  if (target) return copy_to_user(target + offset_, aside.get(), bytes);
  LayoutCursor cursor(block_of(to).user);
  cursor.seek(to.begin + offset_);
  cursor.unpack({aside.get(), bytes});
}

}  // namespace sluice
