// Memory that running collective calls need for themselves, kept for the next ones: a mapping that is made for each call costs
// more than what is done in it.
//
// Belongs to the engine lock. The pool outlives its blocks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace sluice {

class ScratchPool {
 public:
  /// Of all that is kept.
  static constexpr std::size_t max_kept_bytes = std::size_t{4} << 20;

  struct GiveBack {
    ScratchPool* pool = nullptr;
    std::size_t bytes = 0;
    void operator()(std::byte* block) const { pool->keep({std::unique_ptr<std::byte[]>(block), bytes}); }
  };
  using Block = std::unique_ptr<std::byte[], GiveBack>;

  ScratchPool() = default;
  ScratchPool(const ScratchPool&) = delete;
  ScratchPool& operator=(const ScratchPool&) = delete;

  /// At least so many bytes, with whatever is in them.
  [[nodiscard]] Block take(std::size_t bytes) {
    const auto fits = [bytes](const Kept& one) { return one.bytes >= bytes; };
    const auto found = std::find_if(kept_.rbegin(), kept_.rend(), fits);
    if (found == kept_.rend()) return {std::make_unique_for_overwrite<std::byte[]>(bytes).release(), {this, bytes}};
    Kept one = std::move(*found);
    kept_.erase(std::next(found).base());
    kept_bytes_ -= one.bytes;
    return {one.block.release(), {this, one.bytes}};
  }
  [[nodiscard]] std::size_t kept_bytes() const { return kept_bytes_; }

 private:
  struct Kept {
    std::unique_ptr<std::byte[]> block;
    std::size_t bytes = 0;
  };

  /// Those that were given back first make room.
  void keep(Kept one) {
    if (one.bytes > max_kept_bytes) return;
    while (kept_bytes_ + one.bytes > max_kept_bytes || kept_.size() == max_kept) {
      kept_bytes_ -= kept_.front().bytes;
      kept_.erase(kept_.begin());
    }
    kept_bytes_ += one.bytes;
    kept_.push_back(std::move(one));
  }

  static constexpr std::size_t max_kept = 8;
  std::vector<Kept> kept_;
  std::size_t kept_bytes_ = 0;
};

}  // namespace sluice
