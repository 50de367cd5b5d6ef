#include "tools/trace/symbols.hpp"

#include <cxxabi.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace sluice {

namespace {

char* debug_information_path = nullptr;  // the default one

const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &debug_information_path,
};

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> plain(abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
  return status == 0 && plain ? plain.get() : name;
}

/// Of the innermost function around the address, inlined ones included; empty when the debugging information does not tell.
std::string function_at(Dwfl_Module* module, Dwarf_Addr address) {
  Dwarf_Addr bias = 0;
  Dwarf_Die* const unit = dwfl_module_addrdie(module, address, &bias);
  Dwarf_Die* scopes = nullptr;
  const int count = unit ? dwarf_getscopes(unit, address - bias, &scopes) : 0;
  const std::unique_ptr<Dwarf_Die, void (*)(void*)> owner(scopes, std::free);
  for (int i = 0; i < count; ++i) {
    const int tag = dwarf_tag(&scopes[i]);
    if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram) continue;
    const char* const name = dwarf_diename(&scopes[i]);
    if (name) return name;
  }
  return "";
}

}  // namespace

std::string CodePlace::text() const {
  const std::string short_module = std::filesystem::path(module).filename().string();
  if (!file.empty()) {
    const std::string place = fmt::format("{}:{}", std::filesystem::path(file).filename().string(), line);
    return function.empty() ? place : fmt::format("{} ({})", place, function);
  }
  if (!function.empty()) return fmt::format("{} in {}", function, short_module);
  return short_module.empty() ? fmt::format("{:#x}", address) : fmt::format("{}+{:#x}", short_module, address);
}

struct Symbols::Open {
  std::unique_ptr<Dwfl, void (*)(Dwfl*)> session{nullptr, dwfl_end};
  Dwfl_Module* module = nullptr;
  Dwarf_Addr bias = 0;
};

Symbols::Symbols() = default;
Symbols::~Symbols() = default;

Symbols::Open& Symbols::open(const TracedModule& traced) {
  auto& slot = open_[traced.path];
  if (slot) return *slot;
  slot = std::make_unique<Open>();
  std::error_code error;
  if (!std::filesystem::is_regular_file(traced.path, error)) return *slot;
  slot->session.reset(dwfl_begin(&callbacks));
  dwfl_report_begin(slot->session.get());
  Dwfl_Module* const module = dwfl_report_offline(slot->session.get(), traced.path.c_str(), traced.path.c_str(), -1);
  dwfl_report_end(slot->session.get(), nullptr, nullptr);
  if (!module || !dwfl_module_getelf(module, &slot->bias)) return *slot;
  const unsigned char* bits = nullptr;
  GElf_Addr where = 0;
  const int length = dwfl_module_build_id(module, &bits, &where);
  const auto& expected = traced.build_id;
  const bool same = length > 0 && std::equal(expected.begin(), expected.end(), bits, bits + length);
  if (expected.empty() || same) slot->module = module;
  return *slot;
}

CodePlace Symbols::find(const TracedModule& traced, std::uint64_t address) {
  CodePlace place;
  place.module = traced.path;
  place.address = address;
  const Open& opened = open(traced);
  if (!opened.module) return place;
  const Dwarf_Addr biased = address + opened.bias;
  place.function = function_at(opened.module, biased);
  if (const char* const symbol = dwfl_module_addrname(opened.module, biased)) place.symbol = demangled(symbol);
  if (place.function.empty()) place.function = place.symbol;
  if (Dwfl_Line* const line = dwfl_module_getsrc(opened.module, biased)) {
    const char* const file = dwfl_lineinfo(line, nullptr, &place.line, nullptr, nullptr, nullptr);
    if (file) place.file = file;
  }
  return place;
}

}  // namespace sluice
