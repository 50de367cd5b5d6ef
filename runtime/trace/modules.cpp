#include "runtime/trace/modules.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "runtime/trace/trace.hpp"

namespace sluice::trace {
namespace {

constexpr std::size_t max_modules = 512;
constexpr std::size_t longest_path = 1024;

struct Module {
  std::atomic<std::uintptr_t> start{0};
  std::uintptr_t bias = 0;
};
constinit std::array<Module, max_modules> modules{};
constinit std::atomic<std::uint32_t> taken{0};

bool lies_in(const ElfW(Phdr) & segment, std::uintptr_t bias, std::uintptr_t start) {
  return segment.p_type == PT_LOAD && segment.p_offset == 0 && bias + segment.p_vaddr == start;
}

/// Out of the object's own headers, which are mapped with its first segment.
void find_build_id(std::uintptr_t start, std::uintptr_t bias, ModulePayload& payload) {
  ElfW(Ehdr) header;
  std::memcpy(&header, reinterpret_cast<const void*>(start), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return;
  const auto* const segments = reinterpret_cast<const ElfW(Phdr)*>(start + header.e_phoff);
  const auto* const end = segments + header.e_phnum;
  if (std::none_of(segments, end, [&](const auto& segment) { return lies_in(segment, bias, start); })) return;
  for (const auto* segment = segments; segment != end; ++segment) {
    if (segment->p_type != PT_NOTE) continue;
    std::uintptr_t at = bias + segment->p_vaddr;
    const std::uintptr_t last = at + segment->p_memsz;
    while (at + sizeof(ElfW(Nhdr)) <= last) {
      const auto* const note = reinterpret_cast<const ElfW(Nhdr)*>(at);
      const std::uintptr_t name = at + sizeof *note;
      const std::uintptr_t text = name + (note->n_namesz + 3) / 4 * 4;
      if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && std::memcmp(reinterpret_cast<void*>(name), "GNU", 4) == 0) {
        payload.build_id_bytes = static_cast<std::uint32_t>(std::min<std::size_t>(note->n_descsz, payload.build_id.size()));
        std::memcpy(payload.build_id.data(), reinterpret_cast<void*>(text), payload.build_id_bytes);
        return;
      }
      at = text + (note->n_descsz + 3) / 4 * 4;
    }
  }
}

void describe(std::uint32_t number, const dl_find_object& object) {
  std::array<char, sizeof(ModulePayload) + longest_path> text{};
  ModulePayload payload;
  payload.load_bias = object.dlfo_link_map->l_addr;
  find_build_id(reinterpret_cast<std::uintptr_t>(object.dlfo_map_start), payload.load_bias, payload);
  std::memcpy(text.data(), &payload, sizeof payload);
  char* const path = text.data() + sizeof payload;
  const char* const name = object.dlfo_link_map->l_name;
  std::size_t length = 0;
  if (name && *name) {
    length = std::min(std::strlen(name), longest_path);
    std::memcpy(path, name, length);
  } else {
    length = static_cast<std::size_t>(std::max<ssize_t>(0, readlink("/proc/self/exe", path, longest_path)));
  }
  add_entry(EntryType::module, number, std::span<const char>(text).first(sizeof payload + length));
}

}  // namespace

Frame frame_of(std::uintptr_t address) {
  dl_find_object object{};
  if (_dl_find_object(reinterpret_cast<void*>(address), &object) != 0) return make_frame(no_module, address);
  const auto start = reinterpret_cast<std::uintptr_t>(object.dlfo_map_start);
  const std::uintptr_t bias = object.dlfo_link_map->l_addr;
  const std::uint32_t known = std::min<std::uint32_t>(taken.load(std::memory_order_relaxed), max_modules);
  for (std::uint32_t i = 0; i < known; ++i) {
    if (modules[i].start.load(std::memory_order_acquire) == start && modules[i].bias == bias)
      return make_frame(i, address - bias);
  }
  const std::uint32_t number = taken.fetch_add(1, std::memory_order_relaxed);
  if (number >= max_modules) return make_frame(no_module, address);
  modules[number].bias = bias;
  modules[number].start.store(start, std::memory_order_release);
  describe(number, object);
  return make_frame(number, address - bias);
}

std::string_view path_of_module(std::uintptr_t address) {
  dl_find_object object{};
  const bool found = _dl_find_object(reinterpret_cast<void*>(address), &object) == 0 && object.dlfo_link_map->l_name;
  return found ? object.dlfo_link_map->l_name : std::string_view();
}

void forget_modules() {
  for (Module& module : modules) module.start.store(0, std::memory_order_relaxed);
  taken.store(0, std::memory_order_relaxed);
}

}  // namespace sluice::trace
