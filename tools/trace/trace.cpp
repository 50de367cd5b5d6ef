#include "tools/trace/trace.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <stdexcept>

namespace sluice {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_in(const fs::path& path) {
  std::error_code error;
  if (!fs::exists(path, error)) throw std::runtime_error(path.string() + ": there is no such file or directory");
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (entry.path().extension() == trace::file_suffix) files.push_back(entry.path());
  }
  if (files.empty()) throw std::runtime_error(path.string() + ": no trace in this directory (*.trace)");
  std::sort(files.begin(), files.end());
  return files;
}

/// Every rank's file stays open.
void permit_descriptors(std::size_t files) {
  constexpr rlim_t others = 64;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= files + others) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, files + others);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

Trace::Trace(const fs::path& path) {
  const auto paths = files_in(path);
  permit_descriptors(paths.size());
  for (const fs::path& file : paths) {
    try {
      files_.push_back(std::make_unique<TraceFile>(file, damage_));
    } catch (const std::runtime_error& error) {
      if (paths.size() == 1) throw;
      damage_.add(file, 0, error.what());
    }
  }
  if (files_.empty())
    throw std::runtime_error(path.string() + ": none of its files can be read: " + to_string(damage_.kept().front()));
  std::stable_sort(files_.begin(), files_.end(), [](const auto& a, const auto& b) { return a->rank() < b->rank(); });
  const std::uint64_t job = files_.front()->header().job;
  for (const auto& file : files_) {
    if (file->header().job != job)
      damage_.add(file->path(), 0, "this file belongs to another run than " + files_.front()->path().filename().string());
    const std::int64_t start = file->on_clock_of_rank_0(file->header().start_ns);
    if (file == files_.front() || start < start_ns_) start_ns_ = start;
  }
}

const TraceFile* Trace::file_of(std::int32_t rank) const {
  const auto found = std::lower_bound(files_.begin(), files_.end(), rank,
                                      [](const auto& file, std::int32_t wanted) { return file->rank() < wanted; });
  return found != files_.end() && (*found)->rank() == rank ? found->get() : nullptr;
}

std::size_t Trace::chunks() const {
  std::size_t all = 0;
  for (const auto& file : files_) all += file->chunks().size();
  return all;
}

TraceStream::TraceStream(const std::vector<const TraceFile*>& files, Reading reading) {
  for (const TraceFile* const file : files) {
    auto rank = std::make_unique<Rank>(Rank{RankStream(*file, reading), {}});
    if (rank->stream.next(rank->event)) heap_.push_back(std::move(rank));
  }
  std::make_heap(heap_.begin(), heap_.end(), later);
}

bool TraceStream::next(Event& event) {
  if (heap_.empty()) return false;
  std::pop_heap(heap_.begin(), heap_.end(), later);
  Rank& rank = *heap_.back();
  event = rank.event;
  if (rank.stream.next(rank.event)) {
    std::push_heap(heap_.begin(), heap_.end(), later);
  } else {
    heap_.pop_back();
  }
  return true;
}

}  // namespace sluice
