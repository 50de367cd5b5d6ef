#include "tools/report/buffer_account.hpp"

#include <charconv>
#include <string_view>

#include "runtime/registration/frequent_sends.hpp"
#include "runtime/transport/message.hpp"
#include "tools/progress.hpp"
#include "tools/report/totals.hpp"

namespace sluice {

namespace {

using trace::Kind;

/// Of the summary, and so of every trace that ended in an orderly way.
constexpr std::string_view saved_counter = "  from the program's memory";
constexpr std::string_view share_variable = "SLUICE_FREQUENT_SHARE=";
constexpr double ps_per_ns = 1000;
constexpr double bytes_per_kib = 1024;

std::size_t direction_of(bool is_send, bool is_small) {
  if (is_send) return is_small ? BufferTotals::sent_small : BufferTotals::sent_large;
  return is_small ? BufferTotals::received_small : BufferTotals::received_large;
}

MeasuredCosts costs_of(const trace::Record& record) {
  return {.copy_per_byte = static_cast<double>(record.bytes) / ps_per_ns / bytes_per_kib,
          .use = static_cast<double>(record.value) / ps_per_ns,
          .wait_use = static_cast<double>(record.extra) / ps_per_ns,
          .register_per_page = static_cast<double>(record.duration_ns)};
}

void add_copy(CopyTotals& totals, std::uint64_t bytes, std::uint64_t use, bool is_saved) {
  ++totals.messages;
  totals.bytes += bytes;
  if (is_saved) {
    ++totals.saved;
    totals.saved_bytes += bytes;
  }
  for (std::size_t i = 0; i < use_thresholds.size() && use >= use_thresholds[i]; ++i) {
    ++totals.would_save[i];
    totals.would_save_bytes[i] += bytes;
  }
}

}  // namespace

void BufferAccount::add(const Event& event) {
  const trace::Record& record = event.record;
  switch (event.kind()) {
    case Kind::post_send:
      return posted(event, true);
    case Kind::post_receive:
      return posted(event, false);
    case Kind::message_out:
      return left(event);
    case Kind::match:
      if (record.extra == 0) know_size(record.operation, (record.detail & (trace::match_rendezvous | trace::match_put)) == 0);
      return;
    case Kind::frequent:
      buffers_[record.value].became_frequent = true;
      totals_->uses_until_frequent.add(record.extra);
      return;
    case Kind::frequent_terms:
      totals_->costs[file_->rank()] = costs_of(record);
      return;
    default:
      return;
  }
}

void BufferAccount::posted(const Event& event, bool is_send) {
  const trace::Record& record = event.record;
  const Post post{is_send, record.detail, record.site, record.peer, record.bytes, record.value};
  if (is_send && (post.how & trace::post_at_once) != 0) return use(post, true);
  if (record.operation == 0) return;
  operations_[record.operation].post = post;
  settle(record.operation);
}

/// The first message for a send: what follows are its answers.
void BufferAccount::left(const Event& event) {
  const trace::Record& record = event.record;
  if (record.extra != 0) return;  // of a collective call
  const bool is_eager = record.detail == static_cast<std::uint16_t>(MessageKind::eager);
  const bool begins =
      is_eager || record.detail == static_cast<std::uint16_t>(MessageKind::rts) || record.detail == trace::message_put;
  if (begins) know_size(record.operation, is_eager);
}

void BufferAccount::know_size(std::uint32_t operation, bool is_small) {
  if (operation == 0) return;
  operations_[operation].is_small = is_small;
  settle(operation);
}

void BufferAccount::settle(std::uint32_t number) {
  const auto found = operations_.find(number);
  const Operation& operation = found->second;
  if (!operation.post || !operation.is_small) return;
  use(*operation.post, *operation.is_small);
  operations_.erase(found);
}

void BufferAccount::use(const Post& post, bool is_small) {
  if (post.bytes == 0 || post.address == 0) return;
  Buffer& buffer = buffers_[post.address];
  const std::size_t direction = direction_of(post.is_send, is_small);
  DirectionTotals& totals = totals_->by_direction[direction];
  ++totals.messages;
  totals.again += buffer.uses[direction] > 0 ? 1 : 0;
  ++buffer.uses[direction];
  buffer.most_bytes[direction] = std::max(buffer.most_bytes[direction], post.bytes);
  buffer.site = post.site;
  if (post.is_send && is_small) count_copy(buffer, post);
}

void BufferAccount::count_copy(Buffer& buffer, const Post& post) {
  constexpr auto always_copied = static_cast<std::uint16_t>(trace::post_synchronous | trace::post_buffered | trace::post_gaps);
  if (post.bytes < FrequentSends::min_sge_bytes || (post.how & always_copied) != 0 || post.peer == file_->rank()) return;
  const bool is_saved = (post.how & trace::post_gathered) != 0;
  ++buffer.counted;
  buffer.saved += is_saved ? 1 : 0;
  saved_ += is_saved ? 1 : 0;
  buffer.size_classes |= std::uint64_t{1} << size_class(post.bytes);
  add_copy(totals_->copies, post.bytes, buffer.counted, is_saved);
  add_copy(totals_->by_size[size_class(post.bytes)], post.bytes, buffer.counted, is_saved);
}

void BufferAccount::finish() {
  for (std::size_t direction = 0; direction < BufferTotals::directions; ++direction) finish_direction(direction);
  for (const auto& [address, buffer] : buffers_) finish_buffer(address, buffer);
  read_table();
}

void BufferAccount::finish_direction(std::size_t direction) {
  std::uint64_t number = 0;
  const Buffer* most = nullptr;
  std::uint64_t most_at = 0;
  for (const auto& [address, buffer] : buffers_) {
    const std::uint64_t uses = buffer.uses[direction];
    if (uses == 0) continue;
    ++number;
    // Of several the lowest, so that the report is the same each time.
    if (most && (uses < most->uses[direction] || (uses == most->uses[direction] && address > most_at))) continue;
    most = &buffer;
    most_at = address;
  }
  if (!most) return;
  DirectionTotals& totals = totals_->by_direction[direction];
  totals.buffers.add(number);
  totals.most_uses.add(most->uses[direction]);
  totals.bytes_of_most.add(most->most_bytes[direction]);
}

void BufferAccount::finish_buffer(std::uint64_t address, const Buffer& buffer) {
  if (buffer.became_frequent) ++totals_->became_frequent;
  const auto& uses = buffer.uses;
  totals_->buffers.push_back({.rank = file_->rank(),
                              .address = address,
                              .sent = uses[BufferTotals::sent_small] + uses[BufferTotals::sent_large],
                              .received = uses[BufferTotals::received_small] + uses[BufferTotals::received_large],
                              .most_bytes = *std::max_element(buffer.most_bytes.begin(), buffer.most_bytes.end()),
                              .saved = buffer.saved,
                              .site = sites_.at(buffer.site).text()});
  if (buffer.counted == 0) return;
  ++totals_->copies.buffers;
  for (auto& [number, size] : totals_->by_size) size.buffers += buffer.size_classes >> number & 1U;
  for (std::size_t i = 0; i < use_thresholds.size() && buffer.counted >= use_thresholds[i]; ++i) ++totals_->frequent_buffers[i];
}

/// What the trace says once.
void BufferAccount::read_table() {
  for (const auto& [id, counter] : file_->table().counters()) {
    if (counter.name == saved_counter && saved_ == 0) totals_->saved_untold += counter.value;
  }
  for (const auto& [id, setting] : file_->table().configuration()) {
    if (!setting.starts_with(share_variable)) continue;
    std::uint64_t share = 0;
    const char* const end = setting.data() + setting.size();
    if (std::from_chars(setting.data() + share_variable.size(), end, share).ptr == end) totals_->frequent_share = share;
  }
}

BufferTotals add_up_buffers(const Trace& trace, const std::string& name) {
  BufferTotals totals;
  Symbols symbols;
  Progress progress(name, trace.chunks() * trace::records_per_chunk);
  for (const auto& file : trace.files()) {
    BufferAccount account(*file, symbols, totals);
    RankStream stream(*file);
    for (Event event; stream.next(event);) {
      progress.advance();
      account.add(event);
    }
    account.finish();
  }
  std::sort(totals.buffers.begin(), totals.buffers.end(), [](const UsedBuffer& a, const UsedBuffer& b) {
    const auto key = [](const UsedBuffer& one) { return std::tuple(~(one.sent + one.received), one.rank, one.address); };
    return key(a) < key(b);
  });
  return totals;
}

}  // namespace sluice
