#include "runtime/process/process_maps.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <cstring>
#include <optional>

namespace sluice {
namespace {

constexpr const char* maps_path = "/proc/self/maps";

/// struct procmap_query of <linux/fs.h>, kernel 6.11; Debian 12 ships older headers.
struct ProcmapQuery {
  std::uint64_t size = sizeof(ProcmapQuery);
  std::uint64_t flags = 0;
  std::uint64_t address = 0;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t mapping_flags = 0;
  std::uint64_t page_size = 0;
  std::uint64_t offset = 0;
  std::uint64_t inode = 0;
  std::uint32_t device_major = 0;
  std::uint32_t device_minor = 0;
  std::uint32_t name_bytes = 0;
  std::uint32_t build_id_bytes = 0;
  std::uint64_t name_address = 0;
  std::uint64_t build_id_address = 0;
};
static_assert(sizeof(ProcmapQuery) == 104);

constexpr unsigned long procmap_query = _IOWR('f', 17, ProcmapQuery);
constexpr std::uint64_t flag_readable = 1, flag_writable = 2, flag_executable = 4, flag_shared = 8;
constexpr std::uint64_t covering_or_next = 0x10;

bool ask(int maps, std::uintptr_t address, ProcessMapping& found, std::span<char> name) {
  ProcmapQuery query;
  query.flags = covering_or_next;
  query.address = address;
  query.name_bytes = static_cast<std::uint32_t>(name.size());
  query.name_address = name.empty() ? 0 : reinterpret_cast<std::uint64_t>(name.data());
  if (ioctl(maps, procmap_query, &query) != 0) return false;
  if (!name.empty() && query.name_bytes == 0) name[0] = '\0';
  const auto has = [&](std::uint64_t flag) { return (query.mapping_flags & flag) != 0; };
  found = {{query.begin, query.end}, query.offset,       query.inode,        query.device_major,   query.device_minor,
           query.page_size,          has(flag_readable), has(flag_writable), has(flag_executable), has(flag_shared)};
  return true;
}

/// Reads lines of /proc/self/maps one character at a time, since a line may be longer than any buffer that a signal
/// handler's stack has room for: "begin-end rwxp offset major:minor inode   path".
class LineReader {
 public:
  explicit LineReader(std::span<char> name) : name_(name) {}

  /// True when `c` ended a line; `mapping` is then complete.
  bool feed(char c) {
    if (c == '\n') {
      finish_line();
      return true;
    }
    switch (field_) {
      case Field::begin:
        number(c, '-', 16, mapping.bytes.begin);
        break;
      case Field::end:
        number(c, ' ', 16, mapping.bytes.end);
        break;
      case Field::permissions:
        permission(c);
        break;
      case Field::offset:
        number(c, ' ', 16, mapping.file_offset);
        break;
      case Field::major:
        number(c, ':', 16, mapping.device_major);
        break;
      case Field::minor:
        number(c, ' ', 16, mapping.device_minor);
        break;
      case Field::inode:
        number(c, ' ', 10, mapping.inode);
        break;
      case Field::name:
        name_character(c);
        break;
    }
    return false;
  }

  ProcessMapping mapping;

 private:
  enum class Field { begin, end, permissions, offset, major, minor, inode, name };

  void next_field() { field_ = static_cast<Field>(static_cast<int>(field_) + 1); }

  template <typename Number>
  void number(char c, char last, Number base, Number& value) {
    if (c == last) return next_field();
    value = static_cast<Number>(value * base + static_cast<Number>(c <= '9' ? c - '0' : c - 'a' + 10));
  }
  template <typename Number>
  void number(char c, char last, int base, Number& value) {
    number(c, last, static_cast<Number>(base), value);
  }

  void permission(char c) {
    if (c == ' ') return next_field();
    mapping.readable |= c == 'r';
    mapping.writable |= c == 'w';
    mapping.executable |= c == 'x';
    mapping.shared |= c == 's';
  }

  void name_character(char c) {
    if (c == ' ' && name_length_ == 0) return;
    if (name_length_ + 1 < name_.size()) name_[name_length_] = c;
    ++name_length_;
  }

  void finish_line() {
    if (!name_.empty()) name_[std::min(name_length_, name_.size() - 1)] = '\0';
    // The text does not tell the page size; private huge pages have this name.
    constexpr std::size_t huge_page = std::size_t{1} << 21;
    if (!name_.empty() && std::strncmp(name_.data(), "/anon_hugepage", 14) == 0) mapping.page_size = huge_page;
  }

  std::span<char> name_;
  std::size_t name_length_ = 0;
  Field field_ = Field::begin;
};

}  // namespace

bool ProcessMapping::is_file(const struct stat& file) const {
  return inode == file.st_ino && device_major == major(file.st_dev) && device_minor == minor(file.st_dev);
}

ProcessMaps::ProcessMaps(Source source) {
  if (source == Source::text) return;
  maps_ = Descriptor(open(maps_path, O_RDONLY | O_CLOEXEC));
  ProcessMapping any;
  if (!ask(maps_.get(), 0, any, {})) maps_.reset();
}

bool ProcessMaps::Walk::next(ProcessMapping& found, std::span<char> name) {
  if (maps_.maps_ && !text_) {
    if (ask(maps_.maps_.get(), from_, found, name)) {
      from_ = found.bytes.end;
      return true;
    }
    // ENOENT: nothing at or above. Anything else means that the descriptor is no longer ours, or the name was too long.
    if (errno == ENOENT) return false;
  }
  return next_by_text(found, name);
}

bool ProcessMaps::Walk::next_by_text(ProcessMapping& found, std::span<char> name) {
  if (!text_) text_ = Descriptor(open(maps_path, O_RDONLY | O_CLOEXEC));
  std::optional<LineReader> line(std::in_place, name);
  for (;;) {
    while (at_ < chunk_end_) {
      if (!line->feed(chunk_[at_++])) continue;
      if (line->mapping.bytes.end > from_) {
        found = line->mapping;
        from_ = found.bytes.end;
        return true;
      }
      line.emplace(name);
    }
    const ssize_t bytes = read(text_.get(), chunk_.data(), chunk_.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) return false;
    at_ = 0;
    chunk_end_ = static_cast<std::size_t>(bytes);
  }
}

void ProcessMaps::reopen() {
  if (maps_) maps_ = Descriptor(open(maps_path, O_RDONLY | O_CLOEXEC));
}

}  // namespace sluice
