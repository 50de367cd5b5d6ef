#include "runtime/engine/request.hpp"

namespace sluice {
Request* RequestPool::take() {
  Request* request = returned_;
  if (request) {
    returned_ = next_of(*request);
  } else {
    if (free_.empty()) grow();
    request = free_.back();
    free_.pop_back();
  }
  reset(*request);
  request->id = static_cast<RequestId>(raw(request->id) | in_use);
  return request;
}

void RequestPool::give_back(Request* request) {
  retire(*request);
  free_.push_back(request);
}

Request* RequestPool::find(RequestId id) const {
  const std::size_t index = static_cast<std::uint32_t>(raw(id));
  if (index / chunk_entries >= chunks_.size()) return nullptr;
  Request* request = &chunks_[index / chunk_entries][index % chunk_entries];
  return request->id == id && (raw(id) & in_use) ? request : nullptr;
}

void RequestPool::grow() {
  const std::size_t first = chunks_.size() * chunk_entries;
  chunks_.push_back(std::make_unique<Request[]>(chunk_entries));
  free_.reserve((chunks_.size()) * chunk_entries);
  for (std::size_t entry = chunk_entries; entry-- > 0;) {
    Request* request = &chunks_.back()[entry];
    request->id = static_cast<RequestId>(first + entry);
    free_.push_back(request);
  }
}

// Field by field: what a small message may have changed, which is all in the first four lines of cache, and else what is not set
// before it is read.
void RequestPool::reset(Request& request) {
  request.complete.store(false, std::memory_order_relaxed);
  request.way = Request::Way::undecided;
  request.expects = Request::Expects::nothing;
  request.matched = request.truncated = request.detached = request.released = false;
  request.copying = request.counted_large = request.counted_shared = request.call_waits = request.cancelled = request.unknown =
      false;
  request.single_copy = request.offered = request.offers_rdma = request.post_traced = request.detached_copy = request.in_trial =
      false;
  request.rtr_open = request.cancel_wanted = request.tells_end = false;
  request.rtrs_sent = 0;
  request.frequent = 0;
  request.queued_at = request.rts_left_at = 0;
  request.bounced = request.brought = 0;
  request.alias = nullptr;
  request.failure = Failure::none;
  request.gaps = false;
  request.message_bytes = request.limit = request.offset = 0;
  request.remote_request = request.remote_address = 0;
  request.progress_slot = Transport::no_slot;
  request.rts_flags = 0;
  request.guarded = nullptr;
  request.lazy_token = 0;
}

}  // namespace sluice
