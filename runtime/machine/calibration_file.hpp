// Where a calibration is kept between jobs: one file for each kind of machine, in the user's cache directory.
//
// SLUICE_CALIBRATION: auto is $XDG_CACHE_HOME/sluice, or ~/.cache/sluice, and a file named after the key; off measures nothing
// and reads nothing; anything else is the path of the file. A file is replaced as a whole (written under another name, then
// renamed), so that a reader finds the old one or the new one. Where there is no home, or it cannot be written to, every job
// measures.
#pragma once

#include <string>

#include "runtime/machine/calibration.hpp"

namespace sluice {

/// "" when none is to be used, or there is no place for one.
[[nodiscard]] std::string calibration_path(const std::string& setting, std::string_view key);

struct LoadedCalibration {
  std::optional<Calibration> calibration;
  std::string fault;  // "PATH is damaged"; empty where there is no file
};
[[nodiscard]] LoadedCalibration load_calibration(const std::string& path, std::string_view key);
/// Makes the directory as well. What failed, or "".
[[nodiscard]] std::string save_calibration(const Calibration& calibration, const std::string& path, std::string_view key);

struct CalibrationInForce {
  Calibration calibration;
  bool is_off = false;  // SLUICE_CALIBRATION=off
  std::string path;     // "" for none
  std::string warning;  // of a file that is not what it should be
  std::string note;     // why it was not stored, or not measured

  /// No file has told the values, or those of two threads of one core, and nobody forbids to measure.
  [[nodiscard]] bool may_measure() const {
    return !is_off && (calibration.source == Calibration::Source::assumed || calibration.one_core != 0);
  }
};
/// For one process of a machine: from the file, or measured and stored there. What was measured while the processors were threads
/// of one core holds as long as they still are, or `share` cannot tell. `anew`: measured in any case.
[[nodiscard]] CalibrationInForce find_calibration(const std::string& setting, bool anew = false,
                                                  std::optional<bool> (*share)() = processors_share_a_core);
/// What find_calibration would read; never measures and never writes.
[[nodiscard]] CalibrationInForce stored_calibration(const std::string& setting);

}  // namespace sluice
