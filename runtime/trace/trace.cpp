#include "runtime/trace/trace.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "runtime/base/clock.hpp"
#include "runtime/trace/writer.hpp"

namespace sluice::trace {
namespace detail {
constinit std::atomic<bool> active{false};
}

namespace {

/// Never destroyed: a thread may still be about to append. Its file is closed by then, and keeps what it has.
constinit std::atomic<Writer*> current{nullptr};

/// In the static block: a signal handler must not allocate it.
[[gnu::tls_model("initial-exec")]] constinit thread_local Stream own_stream;

void leave(void*) {
  if (own_stream.writer) own_stream.writer->leave(own_stream);
}

/// Values of these keys lie in the thread itself; for others the C library allocates, which a signal handler must not.
constexpr pthread_key_t keys_without_allocation = 32;

/// Its destructor runs when a thread ends that has set it.
pthread_key_t end_of_thread() {
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    if (pthread_key_create(&made, leave) != 0) throw std::runtime_error("no pthread key is left for the trace");
    return made;
  }();
  return key;
}

}  // namespace

void detail::begin(std::unique_ptr<Writer> writer) {
  end_of_thread();
  // A thread may be in the middle of a record for the trace before: no writer is ever destroyed.
  static auto& writers = *new std::vector<std::unique_ptr<Writer>>;
  writers.push_back(std::move(writer));
  current.store(writers.back().get(), std::memory_order_release);
}

void detail::let_in() { active.store(true, std::memory_order_release); }

void close(EndCause cause) {
  if (!detail::active.exchange(false, std::memory_order_acq_rel)) return;
  current.load(std::memory_order_acquire)->file().close(cause);
}

void abandon() {
  detail::active.store(false, std::memory_order_relaxed);
  current.store(nullptr, std::memory_order_relaxed);
}

std::uint64_t now() {
  const Writer* const writer = current.load(std::memory_order_acquire);
  return writer && own_stream.writer == writer ? std::max(own_stream.last_time, own_stream.clock.now()) : now_ns();
}

std::uint64_t last_record_ns() {
  const Writer* const writer = current.load(std::memory_order_acquire);
  return writer && own_stream.writer == writer ? own_stream.last_time : 0;
}

namespace {

/// Not inlined, so that what fits saves no registers for what does not.
[[gnu::noinline, gnu::cold]] void append_to_next(const RecordWords& record, std::uint64_t since_ns, std::uint64_t at_ns) {
  Writer* const writer = current.load(std::memory_order_acquire);
  if (!writer) return;
  if (own_stream.writer != writer) {
    // Without it, the last chunk of a thread that has ended stays as it is.
    if (end_of_thread() < keys_without_allocation) pthread_setspecific(end_of_thread(), &own_stream);
  }
  writer->append_to_next(own_stream, record, since_ns, at_ns);
}

}  // namespace

void detail::append(const RecordWords& record, std::uint64_t since_ns, std::uint64_t at_ns) {
  const bool introduced = own_stream.writer == current.load(std::memory_order_acquire);
  if (introduced && own_stream.append(record, since_ns, at_ns)) [[likely]]
    return;
  append_to_next(record, since_ns, at_ns);
}

bool add_entry(EntryType type, std::uint32_t id, std::span<const char> payload) {
  Writer* const writer = current.load(std::memory_order_acquire);
  return writer && writer->add_entry(type, id, payload);
}

void set_clock_point(Moment moment, ClockPoint point) {
  Writer* const writer = current.load(std::memory_order_acquire);
  if (!writer) return;
  point.check = check_before(point);
  writer->file().put(moment == Moment::start ? clock_start_offset : clock_end_offset, &point, sizeof point);
}

}  // namespace sluice::trace
