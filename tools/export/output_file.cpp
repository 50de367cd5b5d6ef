#include "tools/export/output_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "tools/interruption.hpp"

namespace sluice {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t write_bytes = std::size_t{1} << 18;

/// Pipes and devices have their place; a file is made anew, behind a symbolic link as well.
bool is_in_place(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) && !fs::is_regular_file(path, error);
}

}  // namespace

fs::path partial_path(const fs::path& path) { return path.string() + ".partial-" + std::to_string(::getpid()); }

fs::path directory_with_room(const fs::path& path) {
  if (path.empty() || is_in_place(path)) return fs::temp_directory_path();
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

OutputFile::OutputFile(fs::path path) : path_(std::move(path)), file_(STDOUT_FILENO) {
  if (path_.empty()) return;
  std::error_code error;
  if (fs::is_symlink(path_, error) && fs::exists(path_, error)) path_ = fs::canonical(path_);
  const bool in_place = is_in_place(path_);
  if (!in_place) partial_ = partial_path(path_);
  own_ = in_place ? Descriptor(::open(path_.c_str(), O_WRONLY | O_CLOEXEC))
                  : Descriptor(::open(partial_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!own_) {
    partial_.clear();
    fail();
  }
  file_ = own_.get();
}

OutputFile::~OutputFile() {
  if (!partial_.empty()) ::unlink(partial_.c_str());
}

void OutputFile::fail() const {
  throw std::runtime_error((path_.empty() ? "standard output" : path_.string()) + ": " + std::strerror(errno));
}

void OutputFile::flush() {
  for (std::size_t done = 0; is_read_ && done < buffer_.size();) {
    const ssize_t put = ::write(file_, buffer_.data() + done, buffer_.size() - done);
    if (put >= 0) {
      done += static_cast<std::size_t>(put);
    } else if (errno == EPIPE) {
      is_read_ = false;
    } else if (errno == EINTR) {
      check_for_interruption();
    } else {
      fail();
    }
  }
  buffer_.clear();
}

bool OutputFile::goes_on() {
  if (buffer_.size() >= write_bytes) flush();
  return is_read_;
}

void OutputFile::finish() {
  flush();
  if (partial_.empty()) return;
  // A disk that is full may say so only now.
  if (::fsync(file_) != 0 && errno != EINVAL) fail();
  if (::rename(partial_.c_str(), path_.c_str()) != 0) fail();
  partial_.clear();
}

}  // namespace sluice
