#include "runtime/trace/trace.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <vector>

#include "runtime/alias/arena.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/engine/statistics.hpp"
#include "runtime/trace/sites.hpp"
#include "runtime/trace/writer.hpp"

namespace sluice::trace {
namespace detail {
constinit std::atomic<bool> active{false};
}

namespace {

/// Never destroyed: a thread may still be about to append. Its file is closed by then, and keeps what it has.
constinit std::atomic<Writer*> current{nullptr};

/// In the static block: a signal handler must not allocate it.
[[gnu::tls_model("initial-exec")]] constinit thread_local Stream stream;

void leave(void*) {
  if (stream.writer) stream.writer->leave(stream);
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

std::uint64_t wall_ns() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

std::string file_name(const Settings& settings) {
  std::array<char, 64> name{};
  std::snprintf(name.data(), name.size(), settings.spawned ? "rank-%06d-%016llx" : "rank-%06d", settings.rank,
                static_cast<unsigned long long>(settings.job));
  return settings.directory + "/" + name.data() + std::string(file_suffix);
}

template <std::size_t size>
void copy_text(std::array<char, size>& target, std::string_view text) {
  std::copy_n(text.begin(), std::min(text.size(), size - 1), target.begin());
}

FileHeader describe(const Settings& settings) {
  FileHeader header;
  header.limit_bytes = settings.limit_bytes;
  header.keep = settings.keep;
  header.rank = settings.rank;
  header.size = settings.size;
  header.process = static_cast<std::uint32_t>(getpid());
  header.job = settings.job;
  header.start_ns = now_ns();
  header.start_wall_ns = wall_ns();
  gethostname(header.host.data(), header.host.size() - 1);
  copy_text(header.sluice_version, SLUICE_VERSION);
  if (readlink("/proc/self/exe", header.program.data(), header.program.size() - 1) < 0) header.program = {};
  return header;
}

std::uint32_t words_written = 0;

void add_word(std::string_view list, std::uint32_t value, std::string_view word) {
  add_text(EntryType::word, words_written++, std::string(list) + '\t' + std::to_string(value) + '\t' + std::string(word));
}

void add_vocabulary() {
  for (const KindText& kind : kinds) {
    add_text(EntryType::kind, static_cast<std::uint32_t>(kind.kind),
             std::string(kind.name) + '\t' + std::string(kind.members) + '\t' + std::string(kind.meaning));
  }
  words_written = 0;
  for (const Word& word : words) add_word(word.list, word.value, word.word);
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(Fallback::count); ++i) {
    add_word("fallback", i, sluice::describe(static_cast<Fallback>(i)));
  }
  for (auto i = static_cast<std::uint32_t>(Ineligible::none); i <= static_cast<std::uint32_t>(Ineligible::huge); ++i) {
    add_word("eligibility", i, sluice::describe(static_cast<Ineligible>(i)));
  }
}

}  // namespace

void open(const Settings& settings) {
  if (::mkdir(settings.directory.c_str(), 0777) != 0 && errno != EEXIST) {
    throw std::runtime_error(settings.directory + ": cannot be made: " + std::strerror(errno));
  }
  end_of_thread();
  forget_sites();
  // A thread may be in the middle of a record for the trace before: no writer is ever destroyed.
  static auto& writers = *new std::vector<std::unique_ptr<Writer>>;
  writers.push_back(std::make_unique<Writer>(file_name(settings), describe(settings)));
  current.store(writers.back().get(), std::memory_order_release);
  add_vocabulary();
  detail::active.store(true, std::memory_order_release);
}

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
  return writer && stream.writer == writer ? std::max(stream.last_time, stream.clock.now()) : now_ns();
}

std::uint64_t last_record_ns() {
  const Writer* const writer = current.load(std::memory_order_acquire);
  return writer && stream.writer == writer ? stream.last_time : 0;
}

namespace {

/// Not inlined, so that what fits saves no registers for what does not.
[[gnu::noinline, gnu::cold]] void append_to_next(const RecordWords& record, std::uint64_t since_ns, std::uint64_t at_ns) {
  Writer* const writer = current.load(std::memory_order_acquire);
  if (!writer) return;
  if (stream.writer != writer) {
    // Without it, the last chunk of a thread that has ended stays as it is.
    if (end_of_thread() < keys_without_allocation) pthread_setspecific(end_of_thread(), &stream);
  }
  writer->append_to_next(stream, record, since_ns, at_ns);
}

}  // namespace

void detail::append(const RecordWords& record, std::uint64_t since_ns, std::uint64_t at_ns) {
  const bool introduced = stream.writer == current.load(std::memory_order_acquire);
  if (introduced && stream.append(record, since_ns, at_ns)) [[likely]]
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
