// Where an export goes. A file gets its name only once it is whole: until then it lies beside it, under another one, and is
// removed when something fails.
//
// Threading: one thread.
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "runtime/base/posix.hpp"

namespace sluice {

/// "trace.json.partial-1234": beside what is to have the name `path` in the end.
[[nodiscard]] std::filesystem::path partial_path(const std::filesystem::path& path);

/// The directory in which `path` lies, or is to lie; that for temporary files if it is empty (standard output) or a device.
[[nodiscard]] std::filesystem::path directory_with_room(const std::filesystem::path& path);

class OutputFile {
 public:
  /// `path`: empty for standard output. What is there already and is no file (a pipe, a device) is written to in place. Throws
  /// std::runtime_error that names the path and the cause, as all others here.
  explicit OutputFile(std::filesystem::path path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// For what is to come next.
  [[nodiscard]] fmt::memory_buffer& buffer() { return buffer_; }
  /// Writes the buffer when there is enough in it. False when nobody reads any more: the other end of a pipe has gone.
  [[nodiscard]] bool goes_on();
  /// Writes the rest and gives the file its name.
  void finish();

 private:
  void flush();
  [[noreturn]] void fail() const;

  std::filesystem::path path_;
  std::filesystem::path partial_;  // empty: written in place
  Descriptor own_;
  int file_;
  bool is_read_ = true;
  fmt::memory_buffer buffer_;
};

}  // namespace sluice
