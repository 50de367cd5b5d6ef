// Which buffers a program sends from and receives into, how often each comes back, and how many copies of small messages that
// saves or would save: the tables 1 to 3 of FB (docs/papers.md) for any program.
//
// A buffer is an address on a rank, as in the table of the runtime (registration/buffer_use_table.hpp). Small messages are those
// that left as eager messages. A copy can be saved of those that the runtime would count: longer than what goes inline, of
// standard mode, without gaps, to another rank. What would be saved is counted for several numbers of uses, whatever carried the
// messages.
//
// Memory: a line for each buffer, and the operations that are under way.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "tools/trace/sites.hpp"
#include "tools/trace/trace.hpp"

namespace sluice {

/// Of one number of each rank.
struct Spread {
  std::uint64_t least = ~std::uint64_t{0};
  std::uint64_t most = 0;
  std::uint64_t sum = 0;
  std::uint64_t count = 0;

  void add(std::uint64_t value) {
    least = std::min(least, value);
    most = std::max(most, value);
    sum += value;
    ++count;
  }
  [[nodiscard]] double mean() const { return count == 0 ? 0 : static_cast<double>(sum) / static_cast<double>(count); }
};

/// Of messages of one direction, small or large; ranks without any do not count.
struct DirectionTotals {
  std::uint64_t messages = 0;
  std::uint64_t again = 0;  // of these, not the first of their buffer
  Spread buffers;
  Spread most_uses;      // of the buffer that is used most
  Spread bytes_of_most;  // its longest message
};

struct UsedBuffer {
  std::int32_t rank = 0;
  std::uint64_t address = 0;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t most_bytes = 0;
  std::uint64_t saved = 0;  // copies
  std::string site;         // of its last use
};

/// Uses from which on a buffer might be frequent.
inline constexpr std::array<std::uint64_t, 6> use_thresholds{2, 8, 32, 128, 512, 2048};

/// Of messages whose copy can be saved.
struct CopyTotals {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint64_t buffers = 0;
  std::uint64_t saved = 0;
  std::uint64_t saved_bytes = 0;
  std::array<std::uint64_t, use_thresholds.size()> would_save{};
  std::array<std::uint64_t, use_thresholds.size()> would_save_bytes{};
};

/// What a rank had measured when its trace ended, in ns.
struct MeasuredCosts {
  double copy_per_byte = 0;
  double use = 0;
  double wait_use = 0;
  double register_per_page = 0;
};

struct BufferTotals {
  enum Direction : std::size_t { sent_small, received_small, sent_large, received_large, directions };

  std::array<DirectionTotals, directions> by_direction;
  std::map<std::size_t, CopyTotals> by_size;  // by size class (totals.hpp)
  CopyTotals copies;
  std::array<std::uint64_t, use_thresholds.size()> frequent_buffers{};  // that are used so often
  std::uint64_t became_frequent = 0;                                    // in the job
  Spread uses_until_frequent;
  std::vector<UsedBuffer> buffers;              // the most uses first
  std::map<std::int32_t, MeasuredCosts> costs;  // by rank
  std::uint64_t saved_untold = 0;               // copies, by ranks whose trace does not say which
  std::optional<std::uint64_t> frequent_share;  // SLUICE_FREQUENT_SHARE, percent
};

/// Adds one rank's events to the totals.
class BufferAccount {
 public:
  /// All must outlive this.
  BufferAccount(const TraceFile& file, Symbols& symbols, BufferTotals& totals)
      : file_(&file), sites_(file, symbols), totals_(&totals) {}

  /// In any order.
  void add(const Event& event);
  /// When there are no more.
  void finish();

 private:
  struct Post {
    bool is_send = false;
    std::uint16_t how = 0;
    std::uint32_t site = 0;
    std::int32_t peer = -1;
    std::uint64_t bytes = 0;
    std::uint64_t address = 0;
  };
  /// An operation whose other record has not come yet: what tells its buffer, and what tells whether it is small.
  struct Operation {
    std::optional<Post> post;
    std::optional<bool> is_small;
  };
  struct Buffer {
    std::array<std::uint64_t, BufferTotals::directions> uses{};
    std::array<std::uint64_t, BufferTotals::directions> most_bytes{};
    std::uint64_t counted = 0;  // sends whose copy can be saved
    std::uint64_t saved = 0;
    std::uint64_t size_classes = 0;  // of these, a bit for each
    std::uint32_t site = 0;
    bool became_frequent = false;
  };

  void posted(const Event& event, bool is_send);
  void left(const Event& event);
  void know_size(std::uint32_t operation, bool is_small);
  void settle(std::uint32_t operation);
  void use(const Post& post, bool is_small);
  void count_copy(Buffer& buffer, const Post& post);
  void finish_direction(std::size_t direction);
  void finish_buffer(std::uint64_t address, const Buffer& buffer);
  void read_table();

  const TraceFile* file_;
  Sites sites_;
  BufferTotals* totals_;
  std::unordered_map<std::uint32_t, Operation> operations_;
  std::unordered_map<std::uint64_t, Buffer> buffers_;
  std::uint64_t saved_ = 0;
};

/// All ranks of a trace. `name` stands before the progress.
BufferTotals add_up_buffers(const Trace& trace, const std::string& name);

}  // namespace sluice
