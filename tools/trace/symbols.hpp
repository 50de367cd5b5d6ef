// Which function, file and line an address of a program or library belongs to (libdw of elfutils). Debugging information that
// lies apart is found as gdb finds it, by build-id.
//
// Threading: one thread for each object.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "tools/trace/table.hpp"

struct Dwfl;
struct Dwfl_Module;

namespace sluice {

/// A place in the program. What is not known is empty, or 0.
struct CodePlace {
  std::string function;  // the innermost, also if it is inlined
  std::string symbol;    // the function that the linker knows, around it
  std::string file;
  int line = 0;
  std::string module;
  std::uint64_t address = 0;

  /// "solver.f90:212 (step)", "step in libstep.so" or "libstep.so+0x4f0"
  [[nodiscard]] std::string text() const;
};

class Symbols {
 public:
  Symbols();
  ~Symbols();
  Symbols(const Symbols&) = delete;
  Symbols& operator=(const Symbols&) = delete;

  /// `address`: of an instruction, as the module's file counts. A file that is not there any more, or is another one now by its
  /// build-id, tells nothing.
  CodePlace find(const TracedModule& module, std::uint64_t address);

 private:
  struct Open;
  Open& open(const TracedModule& module);

  std::map<std::string, std::unique_ptr<Open>> open_;  // by path
};

}  // namespace sluice
