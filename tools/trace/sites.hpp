// Call sites as a reader of reports knows them: which MPI call, in which line of the program.
//
// Threading: one thread for each object.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/trace/symbols.hpp"
#include "tools/trace/trace_file.hpp"

namespace sluice {

struct Site {
  std::string call;               // "MPI_Recv", "write"; empty for touches
  std::vector<CodePlace> frames;  // innermost first
  std::size_t program_frame = 0;  // the first one outside of the MPI library and of Sluice

  /// "solver.f90:212 (step)"; "unknown place" when there is no frame.
  [[nodiscard]] std::string place() const;
  /// "MPI_Recv at solver.f90:212 (step)"
  [[nodiscard]] std::string text() const;
};

/// The sites of one rank. Looked up when they are first asked for.
class Sites {
 public:
  /// Both must outlive this.
  Sites(const TraceFile& file, Symbols& symbols) : file_(&file), symbols_(&symbols) {}

  /// Of a site that the trace does not tell, one without frames.
  const Site& at(std::uint32_t id);

 private:
  const TraceFile* file_;
  Symbols* symbols_;
  std::map<std::uint32_t, Site> known_;
};

}  // namespace sluice
