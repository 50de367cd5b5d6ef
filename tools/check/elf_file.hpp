// What the dynamic linker would read in an ELF file.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

struct Elf;

namespace sluice {

class ElfFile {
 public:
  /// Throws std::runtime_error that names the file and what is wrong with it.
  explicit ElfFile(const std::filesystem::path& path);

  /// The kernel starts the dynamic linker for it: so it is for every program that is not linked statically.
  [[nodiscard]] bool has_interpreter() const { return interpreter_; }
  /// 64 bits, x86-64: what libsluice.so can be loaded beside.
  [[nodiscard]] bool is_x86_64() const { return x86_64_; }
  /// Names of the libraries that it is linked against.
  [[nodiscard]] const std::vector<std::string>& needed() const { return needed_; }

  [[nodiscard]] bool defines(std::string_view symbol) const { return contains(defined_, symbol); }
  [[nodiscard]] bool needs(std::string_view symbol) const { return contains(undefined_, symbol); }
  /// Dynamic symbols defined here, in order of name.
  [[nodiscard]] const std::vector<std::string>& defined() const { return defined_; }

 private:
  static bool contains(const std::vector<std::string>& sorted, std::string_view name);
  void read_segments(Elf* elf);
  void read_sections(Elf* elf);

  bool interpreter_ = false;
  bool x86_64_ = false;
  std::vector<std::string> needed_;
  std::vector<std::string> defined_;    // sorted
  std::vector<std::string> undefined_;  // sorted
};

}  // namespace sluice
