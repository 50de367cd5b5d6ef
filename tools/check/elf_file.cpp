#include "tools/check/elf_file.hpp"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "runtime/base/posix.hpp"

namespace sluice {

namespace {

using ElfOwner = std::unique_ptr<Elf, int (*)(Elf*)>;

[[noreturn]] void refuse(const std::filesystem::path& path, const std::string& why) {
  throw std::runtime_error(path.string() + ": " + why);
}

std::string text_at(Elf* elf, std::size_t section, std::size_t offset) {
  const char* const text = elf_strptr(elf, section, offset);
  return text ? text : "";
}

/// Calls visit(index, shown) for each entry of a section.
template <class Visit>
void for_each_entry(Elf_Scn* section, const GElf_Shdr& header, Visit&& visit) {
  Elf_Data* const data = elf_getdata(section, nullptr);
  if (!data || header.sh_entsize == 0) return;
  const auto entries = static_cast<int>(header.sh_size / header.sh_entsize);
  for (int i = 0; i < entries; ++i) visit(data, i);
}

}  // namespace

ElfFile::ElfFile(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) refuse(path, std::strerror(errno));
  elf_version(EV_CURRENT);
  const ElfOwner elf(elf_begin(file.get(), ELF_C_READ_MMAP, nullptr), elf_end);
  if (!elf) refuse(path, elf_errmsg(-1));
  if (elf_kind(elf.get()) != ELF_K_ELF) refuse(path, "no ELF file: a script, perhaps; name the program that it starts");
  GElf_Ehdr header{};
  if (!gelf_getehdr(elf.get(), &header)) refuse(path, elf_errmsg(-1));
  x86_64_ = header.e_machine == EM_X86_64 && gelf_getclass(elf.get()) == ELFCLASS64;
  read_segments(elf.get());
  read_sections(elf.get());
  std::sort(defined_.begin(), defined_.end());
  std::sort(undefined_.begin(), undefined_.end());
}

void ElfFile::read_segments(Elf* elf) {
  std::size_t segments = 0;
  elf_getphdrnum(elf, &segments);
  for (int i = 0; i < static_cast<int>(segments); ++i) {
    GElf_Phdr segment{};
    if (gelf_getphdr(elf, i, &segment) && segment.p_type == PT_INTERP) interpreter_ = true;
  }
}

void ElfFile::read_sections(Elf* elf) {
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section; section = elf_nextscn(elf, section)) {
    GElf_Shdr header{};
    if (!gelf_getshdr(section, &header)) continue;
    if (header.sh_type == SHT_DYNAMIC) {
      for_each_entry(section, header, [&](Elf_Data* data, int i) {
        GElf_Dyn entry{};
        if (!gelf_getdyn(data, i, &entry)) return;
        if (entry.d_tag == DT_NEEDED) needed_.push_back(text_at(elf, header.sh_link, entry.d_un.d_val));
      });
    } else if (header.sh_type == SHT_DYNSYM) {
      for_each_entry(section, header, [&](Elf_Data* data, int i) {
        GElf_Sym symbol{};
        if (!gelf_getsym(data, i, &symbol) || symbol.st_name == 0) return;
        (symbol.st_shndx == SHN_UNDEF ? undefined_ : defined_).push_back(text_at(elf, header.sh_link, symbol.st_name));
      });
    }
  }
}

bool ElfFile::contains(const std::vector<std::string>& sorted, std::string_view name) {
  return std::binary_search(sorted.begin(), sorted.end(), name);
}

}  // namespace sluice
