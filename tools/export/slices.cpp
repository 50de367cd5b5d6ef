#include "tools/export/slices.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace sluice {

namespace {

using trace::Kind;

constexpr std::size_t lane_slices = 64;         // read at a time
constexpr std::size_t unwritten_slices = 1024;  // written at a time

static_assert(std::is_trivially_copyable_v<Slice>);

bool is_same_wait(const Slice& a, const Slice& b) {
  const auto is_wait = [](const Slice& slice) { return static_cast<Kind>(slice.record.kind) == Kind::wait; };
  return is_wait(a) && is_wait(b) && a.record.extra == b.record.extra && a.begin_ns == b.begin_ns;
}

}  // namespace

bool is_slice(Kind kind) {
  switch (kind) {
    case Kind::call:
    case Kind::wait:
    case Kind::release:
    case Kind::fault:
    case Kind::settle:
    case Kind::registration:
    case Kind::migrate:
    case Kind::copy:
    case Kind::helper:
    case Kind::sleep:
      return true;
    default:
      return false;
  }
}

void SliceLane::pop() {
  buffer_.pop_back();
  if (buffer_.empty()) load();
}

void SliceLane::load() {
  const std::uint64_t count = std::min<std::uint64_t>(end_ - begin_, lane_slices);
  if (count == 0) return;
  buffer_.resize(count);
  end_ -= count;
  const std::size_t bytes = count * sizeof(Slice);
  if (::pread(file_, buffer_.data(), bytes, static_cast<off_t>(end_ * sizeof(Slice))) != static_cast<ssize_t>(bytes))
    throw std::runtime_error(fmt::format("a temporary file cannot be read: {}", std::strerror(errno)));
}

SliceStore::SliceStore(const std::filesystem::path& directory, Progress& progress, Chooser is_moment)
    : directory_(directory), progress_(&progress), is_moment_(std::move(is_moment)) {
  std::string name = (directory / ".sluice-export-XXXXXX").string();
  file_ = Descriptor(::mkstemp(name.data()));
  if (!file_) throw std::runtime_error(fmt::format("{}: no temporary file: {}", directory.string(), std::strerror(errno)));
  ::unlink(name.c_str());
}

SliceLane SliceStore::add(const TraceFile& file, std::span<const ChunkPlace> chunks) {
  const std::uint64_t first = written_;
  earliest_ns_ = std::numeric_limits<std::int64_t>::max();
  TraceFile::ChunkRecords records;
  for (auto chunk = chunks.rbegin(); chunk != chunks.rend(); ++chunk) {
    file.read_again(*chunk, records);
    for (auto record = records.rbegin(); record != records.rend(); ++record) {
      progress_->advance();
      take(file, *record);
    }
  }
  while (!open_.empty()) close_last();
  flush();
  return {file_.get(), first, written_};
}

void SliceStore::take(const TraceFile& file, const trace::Record& record) {
  const bool is_moment = is_moment_ && is_moment_(record);
  if (!is_moment && !is_slice(static_cast<Kind>(record.kind))) return;
  const std::uint64_t duration = is_moment ? 1 : record.duration_ns;
  // Both ends by the clock's points, so that what lay within something else still does.
  Slice slice{file.on_clock_of_rank_0(record.time_ns - std::min(duration, record.time_ns)),
              file.on_clock_of_rank_0(record.time_ns), record};
  slice.end_ns = std::min(slice.end_ns, earliest_ns_);
  // What begins after this one is apart from it, or is made to be.
  while (!open_.empty() && (open_.back().begin_ns >= slice.end_ns || open_.back().begin_ns > slice.begin_ns)) {
    Slice& later = open_.back();
    later.begin_ns = std::min(std::max(later.begin_ns, slice.end_ns), later.end_ns);
    close_last();
  }
  if (!open_.empty()) {
    if (is_same_wait(open_.back(), slice)) return;
    slice.end_ns = std::min(slice.end_ns, open_.back().end_ns);
  }
  slice.end_ns = std::min(slice.end_ns, earliest_ns_);
  slice.begin_ns = std::min(slice.begin_ns, slice.end_ns);
  open_.push_back(slice);
}

void SliceStore::close_last() {
  earliest_ns_ = open_.back().begin_ns;
  unwritten_.push_back(open_.back());
  open_.pop_back();
  if (unwritten_.size() == unwritten_slices) flush();
}

void SliceStore::flush() {
  const auto* const data = reinterpret_cast<const char*>(unwritten_.data());
  const std::size_t bytes = unwritten_.size() * sizeof(Slice);
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t put = ::pwrite(file_.get(), data + done, bytes - done, static_cast<off_t>(written_ * sizeof(Slice) + done));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0)
      throw std::runtime_error(
          fmt::format("{}: a temporary file cannot be written: {}", directory_.string(), std::strerror(errno)));
    done += static_cast<std::size_t>(put);
  }
  written_ += unwritten_.size();
  unwritten_.clear();
}

void for_each_thread(const TraceFile& file, const std::function<void(std::uint32_t, std::span<const ChunkPlace>)>& visit) {
  const auto& chunks = file.chunks();
  for (auto first = chunks.begin(); first != chunks.end();) {
    const auto last = std::find_if(first, chunks.end(), [&](const ChunkPlace& chunk) { return chunk.thread != first->thread; });
    visit(first->thread, {first, last});
    first = last;
  }
}

}  // namespace sluice
