#include "tools/trace/rank_stream.hpp"

#include <algorithm>

namespace sluice {

RankStream::RankStream(const TraceFile& file, Reading reading) : file_(&file), reading_(reading) {
  const auto& chunks = file.chunks();
  for (auto first = chunks.begin(); first != chunks.end();) {
    const auto last = std::find_if(first, chunks.end(), [&](const ChunkPlace& chunk) { return chunk.thread != first->thread; });
    Thread thread{first, last, {}, 0, 0};
    if (load(thread)) threads_.push_back(std::move(thread));
    first = last;
  }
}

/// Has the thread's next record ready; false when there is none.
bool RankStream::load(Thread& thread) {
  while (thread.next == thread.records.size()) {
    if (thread.next_chunk == thread.end) return false;
    const ChunkPlace& chunk = *thread.next_chunk++;
    reading_ == Reading::first ? file_->read(chunk, thread.records) : file_->read_again(chunk, thread.records);
    thread.next = 0;
  }
  thread.time_ns = std::max(thread.time_ns, thread.records[thread.next].time_ns);
  return true;
}

bool RankStream::next(Event& event) {
  const auto first =
      std::min_element(threads_.begin(), threads_.end(), [](const Thread& a, const Thread& b) { return a.time_ns < b.time_ns; });
  if (first == threads_.end()) return false;
  event.record = first->records[first->next++];
  event.end_ns = file_->on_clock_of_rank_0(event.record.time_ns);
  event.file = file_;
  event.rank = file_->rank();
  event.thread = std::prev(first->next_chunk)->thread;
  if (!load(*first)) threads_.erase(first);
  return true;
}

}  // namespace sluice
