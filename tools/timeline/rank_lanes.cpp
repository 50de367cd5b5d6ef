#include "tools/timeline/rank_lanes.hpp"

#include <algorithm>
#include <utility>

#include "runtime/transport/message.hpp"

namespace sluice::timeline {

using trace::Kind;

namespace {

constexpr std::uint16_t number_of(MessageKind kind) { return static_cast<std::uint16_t>(kind); }

}  // namespace

RankLanes::RankLanes(const TraceFile& file, std::size_t number, const Lanes& lanes, std::int64_t start_ns, std::size_t operations,
                     Sink& sink)
    : file_(&file), number_(number), lanes_(&lanes), start_ns_(start_ns), max_operations_(operations), sink_(&sink) {}

void RankLanes::add(const Event& event) {
  const trace::Record& record = event.record;
  if (record.operation == 0) {
    switch (event.kind()) {
      case Kind::call: {
        const bool is_carried = static_cast<trace::CallClass>(record.detail) == trace::CallClass::carried;
        Slice call = slice(event, is_carried ? SliceKind::call : SliceKind::host_call);
        call.waited_ns = record.value;
        return sink_->add(call);
      }
      case Kind::post_send:
        return post_at_once(event);
      case Kind::helper:
        return sink_->add(slice(event, SliceKind::helper));
      case Kind::registration:
      case Kind::migrate: {
        if (record.duration_ns == 0) return;
        Slice memory = slice(event, event.kind() == Kind::migrate ? SliceKind::migrate : SliceKind::registration);
        memory.about.bytes = record.bytes;
        return sink_->add(memory);
      }
      default:
        return;
    }
  }
  switch (event.kind()) {
    case Kind::post_send:
    case Kind::post_receive:
      return post(event, operation(record.operation));
    case Kind::message_out:
      return message_out(event, operation(record.operation));
    case Kind::match:
      return match(event, operation(record.operation));
    case Kind::part:
      return begin_part(event, operation(record.operation));
    case Kind::collective:
      return begin_collective(event, operation(record.operation));
    case Kind::collective_end: {
      Operation& ended = operation(record.operation);
      ended.collective.waited_ns = record.value;
      ended.collective.about.peer = record.peer;
      return end_collective(ended, event.end_ns - start_ns_);
    }
    case Kind::protocol: {
      About& about = operation(record.operation).about;
      about.protocol = record.detail;
      about.reason = static_cast<std::uint16_t>(record.extra);
      return;
    }
    case Kind::complete:
      return complete(event, operation(record.operation));
    case Kind::waiting: {
      Slice since = slice(event, SliceKind::unfinished);
      operation(record.operation).waiting = {since.begin_ns, since.lane, since.site};
      return;
    }
    case Kind::wait: {
      Operation& waited_for = operation(record.operation);
      waited_for.waiting = {};
      Slice wait = slice(event, SliceKind::wait);
      wait.about = waited_for.about;
      return sink_->add(wait);
    }
    case Kind::release:
      return begin_release(event, operation(record.operation));
    case Kind::open:
      ++operation(record.operation).release.slice.runs;
      return;
    case Kind::release_end:
      return end_release(event, operation(record.operation));
    case Kind::fault:
      return wait_on_pages(event, operation(record.operation), SliceKind::fault);
    case Kind::settle:
      return wait_on_pages(event, operation(record.operation), SliceKind::settle);
    case Kind::let_go: {
      const Operation& kept_back = operation(record.operation);
      Slice held = slice(event, SliceKind::held);
      if (kept_back.posted) held.lane = kept_back.lane;
      held.site = kept_back.site;
      held.about = kept_back.about;
      return sink_->add(held);
    }
    case Kind::not_released:
      operation(record.operation).about.not_released = record.detail;
      return;
    case Kind::fallback:
      operation(record.operation).about.fallback = record.detail;
      return;
    default:
      return;
  }
}

Slice RankLanes::slice(const Event& event, SliceKind kind) const {
  Slice slice;
  slice.begin_ns = event.begin_ns() - start_ns_;
  slice.duration_ns = event.record.duration_ns;
  slice.lane = lane(event);
  slice.site = event.record.site;
  slice.kind = kind;
  slice.detail = event.record.detail;
  slice.about.operation = event.record.operation;
  return slice;
}

RankLanes::Operation& RankLanes::operation(std::uint32_t number) {
  const auto [place, is_new] = operations_.try_emplace(number);
  if (!is_new) return place->second;
  place->second.about.operation = number;
  first_met_.push_back(number);
  if (first_met_.size() > max_operations_) forget_one();
  return operations_.at(number);
}

/// The one that began first, but those that are under way are passed over a few times.
void RankLanes::forget_one() {
  for (int passed_over = 0;; ++passed_over) {
    const std::uint32_t number = first_met_.front();
    first_met_.pop_front();
    Operation& oldest = operations_.at(number);
    if (!oldest.complete && passed_over < max_passed_over) {
      first_met_.push_back(number);
      continue;
    }
    received(oldest, oldest.matched_ns);
    if (oldest.is_entered && oldest.collective.kind == SliceKind::nonblocking) give_back_row(oldest.collective);
    if (oldest.release.state == Release::State::under_way) give_back_row(oldest.release.slice);
    tell_release(oldest);
    operations_.erase(number);
    return;
  }
}

std::uint8_t RankLanes::take_row(std::uint32_t lane, std::uint32_t operation) {
  auto& rows = rows_[lane];
  const auto unused = std::find(rows.begin(), rows.end(), 0U);
  const auto row = static_cast<std::uint8_t>(std::min<std::ptrdiff_t>(unused - rows.begin(), max_rows - 1));
  rows[row] = operation;
  return row;
}

void RankLanes::give_back_row(const Slice& shown) {
  std::uint32_t& operation = rows_[shown.lane][shown.row];
  if (operation == shown.about.operation) operation = 0;
}

void RankLanes::post(const Event& event, Operation& operation) {
  const trace::Record& record = event.record;
  operation.posted = true;
  operation.lane = lane(event);
  operation.site = record.site;
  operation.about.bytes = record.bytes;
  if (operation.matched_ns < 0) {
    operation.about.peer = record.peer;
    operation.about.tag = record.tag;
  }
  if (operation.out_ns >= 0) send_left(operation);
}

void RankLanes::begin_part(const Event& event, Operation& operation) {
  operation.posted = true;
  operation.lane = lane(event);
  operation.site = event.record.site;
  operation.about.bytes = event.record.bytes;
  operation.about.peer = event.record.peer;
}

void RankLanes::begin_collective(const Event& event, Operation& operation) {
  const trace::Record& record = event.record;
  const bool is_nonblocking = (record.extra & trace::collective_nonblocking) != 0;
  Slice& call = operation.collective;
  call = slice(event, is_nonblocking ? SliceKind::nonblocking : SliceKind::collective);
  call.about.bytes = record.bytes;
  call.communicator = record.context;
  call.number = record.value;
  call.how = record.extra;
  if (is_nonblocking) call.row = take_row(call.lane, record.operation);
  operation.about.bytes = record.bytes;
  operation.is_entered = true;
}

/// One whose begin is not in the trace is not shown.
void RankLanes::end_collective(Operation& operation, std::int64_t end_ns) {
  if (!std::exchange(operation.is_entered, false)) return;
  Slice& call = operation.collective;
  call.duration_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(end_ns - call.begin_ns, 0));
  if (call.kind == SliceKind::nonblocking) give_back_row(call);
  operation.complete = true;
  sink_->add(call);
}

void RankLanes::post_at_once(const Event& event) {
  const trace::Record& record = event.record;
  if (record.peer < 0) return;
  Arrow end;
  end.sent_ns = event.end_ns - start_ns_;
  end.from_lane = lane(event);
  end.from_site = record.site;
  sink_->sent(name(event), end);
}

/// An announcement leaves before its send is written: the send's own record may be still to come.
void RankLanes::message_out(const Event& event, Operation& operation) {
  const trace::Record& record = event.record;
  if (is_message_of_collective(record)) return;
  const bool is_put = record.detail == trace::message_put;
  const bool is_numbered = record.detail == number_of(MessageKind::eager) || record.detail == number_of(MessageKind::rts);
  if (!is_numbered && !is_put) return;
  operation.out_ns = event.end_ns - start_ns_;
  operation.message = name(event);
  if (operation.posted) send_left(operation);
}

void RankLanes::send_left(const Operation& operation) {
  Arrow end;
  end.sent_ns = operation.out_ns;
  end.from_lane = operation.lane;
  end.from_site = operation.site;
  end.send = operation.about.operation;
  sink_->sent(operation.message, end);
}

void RankLanes::match(const Event& event, Operation& operation) {
  const trace::Record& record = event.record;
  operation.how = record.detail;
  if (!is_message_of_collective(record)) operation.matched_ns = event.end_ns - start_ns_;
  operation.about.peer = record.peer;
  operation.about.tag = record.tag;
  operation.about.bytes = record.bytes;
  operation.message = name(event);
  if (!operation.posted) {
    operation.lane = lane(event);
    operation.site = record.site;
  }
}

void RankLanes::complete(const Event& event, Operation& operation) {
  if (event.record.site != 0 && operation.site == 0) operation.site = event.record.site;
  received(operation, event.end_ns - start_ns_);
  operation.complete = true;
}

/// The data of a matched message is in place, or nothing more was told of it.
void RankLanes::received(Operation& operation, std::int64_t complete_ns) {
  if (operation.matched_ns < 0) return;
  Arrow end;
  end.matched_ns = std::exchange(operation.matched_ns, -1);
  end.complete_ns = complete_ns;
  end.to_lane = operation.lane;
  end.to_site = operation.site;
  end.how = operation.how;
  end.about = operation.about;
  sink_->received(operation.message, end);
}

void RankLanes::wait_on_pages(const Event& event, Operation& operation, SliceKind kind) {
  Slice wait = slice(event, kind);
  wait.about = operation.about;
  operation.release.slice.faults += kind == SliceKind::fault ? 1 : 0;
  operation.release.slice.waited_ns += wait.duration_ns;
  sink_->add(wait);
}

void RankLanes::begin_release(const Event& event, Operation& operation) {
  tell_release(operation);  // of a persistent operation: the one before
  const trace::Record& record = event.record;
  operation.about.not_released = not_told;
  Slice& release = operation.release.slice;
  release = slice(event, SliceKind::release);
  release.duration_ns = 0;  // not known yet
  release.pages = record.extra;
  release.row = take_row(release.lane, record.operation);
  operation.release.state = Release::State::under_way;
}

void RankLanes::end_release(const Event& event, Operation& operation) {
  Slice& release = operation.release.slice;
  if (operation.release.state == Release::State::under_way) {
    give_back_row(release);
    const std::int64_t end_ns = event.end_ns - start_ns_;
    release.duration_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(end_ns - release.begin_ns, 0));
    release.detail = static_cast<std::uint16_t>(release.detail | event.record.detail);
  } else {
    release = slice(event, SliceKind::release);
  }
  release.hidden_ns = event.record.bytes;
  release.touched_after_ns = event.record.value;
  operation.release.state = Release::State::over;
}

void RankLanes::tell_release(Operation& operation) {
  if (operation.release.state == Release::State::over) {
    operation.release.slice.about = operation.about;
    sink_->add(operation.release.slice);
  }
  operation.release = {};
}

/// Nothing more is told of it.
void RankLanes::end(Operation& operation, std::int64_t end_ns) {
  received(operation, operation.matched_ns);
  end_collective(operation, end_ns);
  Slice rest;
  rest.about = operation.about;
  if (operation.waiting.since_ns >= 0) {
    rest.kind = SliceKind::unfinished;
    rest.begin_ns = operation.waiting.since_ns;
    rest.lane = operation.waiting.lane;
    rest.site = operation.waiting.site;
    rest.duration_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(end_ns - rest.begin_ns, 0));
    sink_->add(rest);
  }
  if (operation.release.state == Release::State::under_way) {
    Slice& release = operation.release.slice;
    release.duration_ns = static_cast<std::uint64_t>(std::max<std::int64_t>(end_ns - release.begin_ns, 0));
    operation.release.state = Release::State::over;
  }
  tell_release(operation);
}

void RankLanes::finish(std::int64_t end_ns) {
  for (auto& [number, operation] : operations_) end(operation, end_ns);
  operations_.clear();
  first_met_.clear();
}

}  // namespace sluice::timeline
