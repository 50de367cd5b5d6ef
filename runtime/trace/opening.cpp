// A new trace: its file, what the file says of itself, and the names of what its records hold.

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <stdexcept>

#include "runtime/base/clock.hpp"
#include "runtime/trace/sites.hpp"
#include "runtime/trace/trace.hpp"
#include "runtime/trace/writer.hpp"

namespace sluice::trace {
namespace {

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

void add_vocabulary() {
  for (const KindText& kind : kinds) {
    add_text(EntryType::kind, static_cast<std::uint32_t>(kind.kind),
             std::string(kind.name) + '\t' + std::string(kind.members) + '\t' + std::string(kind.meaning));
  }
  words_written = 0;
  for (const Word& word : words) add_word(word);
}

}  // namespace

void open(const Settings& settings) {
  if (::mkdir(settings.directory.c_str(), 0777) != 0 && errno != EEXIST) {
    throw std::runtime_error(settings.directory + ": cannot be made: " + std::strerror(errno));
  }
  forget_sites(settings.path_depth);
  detail::begin(std::make_unique<Writer>(file_name(settings), describe(settings)));
  add_vocabulary();
  detail::let_in();
}

void add_word(const Word& word) {
  add_text(EntryType::word, words_written++,
           std::string(word.list) + '\t' + std::to_string(word.value) + '\t' + std::string(word.word));
}

}  // namespace sluice::trace
