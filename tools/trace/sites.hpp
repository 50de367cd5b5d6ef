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
  /// Where the trace keeps call paths: the first one in the program itself, or, if there is none, as above.
  std::size_t own_frame = 0;

  /// "solver.f90:212 (step)"; with call paths also "app.c:40 (main) through solve in libsolver.so". "unknown place" when there is
  /// no frame.
  [[nodiscard]] std::string place() const;
  /// "MPI_Recv at solver.f90:212 (step)"
  [[nodiscard]] std::string text() const;
};

/// The sites of one rank. Looked up when they are first asked for.
class Sites {
 public:
  /// Both must outlive this.
  Sites(const TraceFile& file, Symbols& symbols);

  /// Of a site that the trace does not tell, one without frames.
  const Site& at(std::uint32_t id);
  /// The trace tells calls apart by all their callers (SLUICE_TRACE_PATHS).
  [[nodiscard]] bool have_paths() const { return have_paths_; }

 private:
  const TraceFile* file_;
  Symbols* symbols_;
  bool have_paths_;
  std::map<std::uint32_t, Site> known_;
};

}  // namespace sluice
