// make_trace DIRECTORY RANKS RECORDS: a trace of that many records, about, as a job on a ring would have written it. In each turn
// a rank receives from its left and sends to its right, a large message and a small one by turns; every receive of a large one is
// released and touched too early. For tests of what reads long traces; times and places are made up, the same in every run.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "runtime/transport/message.hpp"
#include "tests/unit/tools/trace_maker.hpp"

namespace {

using namespace sluice;
using trace::Kind;
using trace::Record;

constexpr std::uint64_t us = 1000;
constexpr std::uint64_t turn_ns = 200 * us;
constexpr std::uint64_t max_late_ns = 40 * us;
constexpr std::uint64_t large = 1 << 20;
constexpr std::uint64_t small = 1024;
constexpr std::uint32_t site_send = 1;
constexpr std::uint32_t site_receive = 2;
constexpr std::uint32_t site_touch = 3;
constexpr std::uint32_t application = 0;
constexpr std::uint32_t helper = 1;

/// The records of one rank, written chunk by chunk.
class RankFile {
 public:
  RankFile(const std::filesystem::path& path, std::int32_t rank, std::int32_t size)
      : file_(path, std::ios::binary | std::ios::trunc) {
    TraceMaker maker(rank, size);
    maker.site(site_send, "MPI_Send", 0x1001);
    maker.site(site_receive, "MPI_Recv", 0x2001);
    maker.site(site_touch, "", 0x3001);
    maker.entry_of(trace::EntryType::thread, application,
                   trace::ThreadPayload{.system_id = 100, .role = trace::ThreadRole::application, .name = {"ring"}});
    maker.entry_of(trace::EntryType::thread, helper,
                   trace::ThreadPayload{.system_id = 101, .role = trace::ThreadRole::helper, .name = {"sluice"}});
    maker.end() = {.cause = trace::EndCause::finalized, .check = 1};
    put(maker.bytes());
  }

  void add(std::uint32_t thread, Kind kind, std::uint64_t at_ns, Record record) {
    record.kind = static_cast<std::uint16_t>(kind);
    record.time_ns = TraceMaker::start_ns + at_ns;
    Thread& to = threads_[thread];
    to.records.push_back(record);
    if (to.records.size() == trace::records_per_chunk) flush(thread);
    ++records_;
  }
  void finish() {
    for (std::uint32_t thread = 0; thread < threads_.size(); ++thread) {
      if (!threads_[thread].records.empty()) flush(thread);
    }
    if (!file_.flush()) throw std::runtime_error("the trace cannot be written");
  }
  [[nodiscard]] std::uint64_t records() const { return records_; }

 private:
  struct Thread {
    std::vector<Record> records;
    std::uint32_t chunks = 0;
  };

  void flush(std::uint32_t thread) {
    Thread& from = threads_[thread];
    std::string chunk;
    TraceMaker::append_chunk(chunk, places_++, thread, from.chunks++, std::exchange(from.records, {}));
    put(chunk);
  }
  void put(const std::string& bytes) { file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size())); }

  std::ofstream file_;
  std::array<Thread, 2> threads_;
  std::uint64_t places_ = 0;
  std::uint64_t records_ = 0;
};

/// How late a rank is in a turn.
std::uint64_t lateness(std::uint64_t turn, std::int32_t rank) {
  return (turn * 2654435761U + static_cast<std::uint64_t>(rank) * 40503U) % max_late_ns;
}

class Turn {
 public:
  Turn(RankFile& file, std::uint64_t number, std::int32_t rank, std::int32_t size)
      : file_(&file), number_(number), rank_(rank), left_((rank + size - 1) % size), right_((rank + 1) % size) {}

  void write() {
    const bool is_large = number_ % 2 == 0;
    is_large ? exchange_large() : exchange_small();
  }

 private:
  [[nodiscard]] std::uint64_t start(std::int32_t rank) const { return number_ * turn_ns + lateness(number_, rank); }
  [[nodiscard]] Record about(std::uint32_t operation, std::int32_t peer, std::uint32_t site = 0) const {
    return {.operation = operation, .site = site, .peer = peer, .tag = static_cast<std::int32_t>(number_ % 100)};
  }
  [[nodiscard]] std::uint32_t send() const { return static_cast<std::uint32_t>(2 * number_ + 1); }
  [[nodiscard]] std::uint32_t receive() const { return static_cast<std::uint32_t>(2 * number_ + 2); }
  [[nodiscard]] std::uint32_t call_number() const { return static_cast<std::uint32_t>(number_ + 1); }

  void post_send(std::uint64_t at, std::uint64_t bytes, std::uint16_t how) {
    Record record = about(how == trace::post_at_once ? 0 : send(), right_, site_send);
    record.detail = how;
    record.bytes = bytes;
    record.extra = how == trace::post_at_once ? call_number() : 0;
    file_->add(application, Kind::post_send, at, record);
  }
  void post_receive(std::uint64_t at) {
    Record record = about(receive(), left_, site_receive);
    record.detail = trace::post_blocking;
    record.bytes = large;
    record.value = 0x7f0000000000;
    file_->add(application, Kind::post_receive, at, record);
  }
  void match(std::uint32_t thread, std::uint64_t at, std::uint64_t bytes, unsigned how) {
    Record record = about(receive(), left_);
    record.detail = static_cast<std::uint16_t>(how);
    record.bytes = bytes;
    record.value = call_number();
    file_->add(thread, Kind::match, at, record);
  }
  void complete(std::uint32_t thread, std::uint64_t at, std::uint32_t operation, std::int32_t peer, std::uint64_t bytes) {
    Record record = about(operation, peer, operation == send() ? site_send : site_receive);
    record.bytes = bytes;
    file_->add(thread, Kind::complete, at, record);
  }
  void wait(std::uint64_t at, std::uint64_t lasted, std::uint32_t operation, trace::WaitEnd ended) {
    const std::uint32_t site = operation == send() ? site_send : site_receive;
    file_->add(application, Kind::wait, at,
               {.detail = static_cast<std::uint16_t>(ended),
                .duration_ns = lasted,
                .operation = operation,
                .site = site,
                .extra = operation});
    file_->add(application, Kind::call, at, {.duration_ns = lasted, .value = lasted, .site = site, .extra = operation});
  }
  void message(std::uint32_t thread, Kind kind, std::uint64_t at, std::uint32_t operation, std::int32_t peer, MessageKind what,
               std::uint64_t number = 0) {
    Record record = about(operation, peer);
    record.detail = static_cast<std::uint16_t>(what);
    record.bytes = 64;
    record.value = number;
    file_->add(thread, kind, at, record);
  }

  /// The receive is released before its message is there, and touched 20 µs later.
  void exchange_large() {
    const std::uint64_t begin = start(rank_);
    const std::uint64_t came = std::max(begin, start(left_)) + 30 * us;
    const std::uint64_t there = came + 60 * us;
    const std::uint64_t answered = std::max(begin, start(right_)) + 34 * us;
    const std::uint64_t taken = std::max(begin, start(right_)) + 90 * us;
    post_send(begin + 1 * us, large, 0);
    message(application, Kind::message_out, begin + 2 * us, send(), right_, MessageKind::rts, call_number());
    post_receive(begin + 4 * us);
    file_->add(application, Kind::release, begin + 6 * us,
               {.detail = trace::release_unmatched,
                .duration_ns = us,
                .bytes = large,
                .value = 0x7f0000000000,
                .operation = receive(),
                .site = site_receive,
                .peer = left_,
                .extra = 256});
    wait(begin + 7 * us, 2 * us, receive(), trace::WaitEnd::released);
    // The send is over before this thread goes on from its touch.
    match(helper, came, large, trace::match_rendezvous | trace::match_released);
    Record protocol = about(receive(), left_);
    protocol.detail = static_cast<std::uint16_t>(trace::Protocol::coop);
    protocol.bytes = large;
    protocol.extra = static_cast<std::uint32_t>(trace::Reason::both_copy);
    file_->add(helper, Kind::protocol, came + 1 * us, protocol);
    message(helper, Kind::message_out, came + 1 * us, receive(), left_, MessageKind::cts);
    message(helper, Kind::message_in, std::max(answered, came + 2 * us), send(), right_, MessageKind::cts);
    const std::uint64_t settled = std::max(there, std::max(answered, came + 2 * us));
    Record open = about(receive(), -1);
    open.bytes = large;
    open.value = 0x7f0000000000;
    file_->add(helper, Kind::open, settled, open);
    complete(helper, settled + 1 * us, receive(), left_, large);
    file_->add(helper, Kind::release_end, settled + 1 * us,
               {.detail = trace::release_touched,
                .duration_ns = settled + 1 * us - (begin + 6 * us),
                .bytes = 20 * us,
                .value = 20 * us,
                .operation = receive(),
                .site = site_receive,
                .extra = us});
    file_->add(application, Kind::fault, settled + 2 * us,
               {.duration_ns = settled + 2 * us - (begin + 26 * us),
                .value = 0x7f0000000000,
                .operation = receive(),
                .site = site_touch});
    const std::uint64_t sent = std::max(taken, settled + 3 * us);
    complete(application, sent, send(), right_, large);
    wait(sent + 1 * us, sent - settled, send(), trace::WaitEnd::complete);
  }

  void exchange_small() {
    const std::uint64_t begin = start(rank_);
    const std::uint64_t came = std::max(begin + 5 * us, start(left_) + 3 * us);
    post_send(begin + 1 * us, small, trace::post_at_once);
    post_receive(begin + 4 * us);
    match(application, came, small, 0);
    complete(application, came + us, receive(), left_, small);
    wait(came + 2 * us, came - begin - 4 * us, receive(), trace::WaitEnd::complete);
  }

  RankFile* file_;
  std::uint64_t number_;
  std::int32_t rank_;
  std::int32_t left_;
  std::int32_t right_;
};

void make(const std::filesystem::path& directory, std::int32_t ranks, std::uint64_t records) {
  std::filesystem::create_directories(directory);
  std::uint64_t made = 0;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    std::array<char, 32> name{};
    std::snprintf(name.data(), name.size(), "rank-%06d.trace", rank);
    RankFile file(directory / name.data(), rank, ranks);
    const std::uint64_t wanted = records / static_cast<std::uint64_t>(ranks);
    for (std::uint64_t turn = 0; file.records() < wanted; ++turn) Turn(file, turn, rank, ranks).write();
    file.finish();
    made += file.records();
  }
  std::printf("%llu\n", static_cast<unsigned long long>(made));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 || std::atoi(argv[2]) < 1) {
    std::fprintf(stderr, "usage: make_trace DIRECTORY RANKS RECORDS\n");
    return 2;
  }
  try {
    make(argv[1], std::atoi(argv[2]), std::strtoull(argv[3], nullptr, 10));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "make_trace: %s\n", error.what());
    return 1;
  }
  return 0;
}
