// What of a trace could not be read, told by file and offset. Kept short however much is damaged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sluice {

struct Damage {
  std::filesystem::path file;
  std::uint64_t offset = 0;
  std::string what;
};

class DamageLog {
 public:
  static constexpr std::size_t max_kept = 50;

  void add(const std::filesystem::path& file, std::uint64_t offset, std::string what) {
    if (kept_.size() < max_kept) kept_.push_back({file, offset, std::move(what)});
    ++found_;
  }

  /// All that were found, of which the first `max_kept` are kept.
  [[nodiscard]] std::size_t found() const { return found_; }
  [[nodiscard]] const std::vector<Damage>& kept() const { return kept_; }

 private:
  std::vector<Damage> kept_;
  std::size_t found_ = 0;
};

/// "rank-000001.trace: offset 20480: a record does not agree with its check word"
std::string to_string(const Damage& damage);

}  // namespace sluice
