#include "runtime/machine/calibration_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <system_error>

#include "runtime/base/posix.hpp"

namespace sluice {
namespace {

/// Of a measurement that somebody waits for, on processors that others use as well.
constexpr int tries_when_asked = 20;
/// More than any version will write.
constexpr std::size_t most_bytes = 4096;

std::string of_environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// Absolute, or nothing: a relative one would be another place in every directory.
std::string cache_directory() {
  std::string cache = of_environment("XDG_CACHE_HOME");
  if (cache.starts_with('/')) return cache;
  const std::string home = of_environment("HOME");
  return home.starts_with('/') ? home + "/.cache" : "";
}

std::string last_error(const std::string& what) { return what + ": " + std::generic_category().message(errno); }

void make_directories(const std::string& path) {
  for (std::size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    ::mkdir(path.substr(0, at).c_str(), S_IRWXU);  // what is missing in the end, open says
  }
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

constexpr const char* off = "off";

}  // namespace

std::string calibration_path(const std::string& setting, std::string_view key) {
  if (setting == off) return "";
  if (setting != "auto") return setting;
  const std::string directory = cache_directory();
  if (directory.empty()) return "";
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "calibration-%016llx", static_cast<unsigned long long>(calibration_hash(key)));
  return directory + "/sluice/" + name.data();
}

LoadedCalibration load_calibration(const std::string& path, std::string_view key) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return {{}, errno == ENOENT || errno == ENOTDIR ? "" : last_error(path)};
  std::array<char, most_bytes> text{};
  const ssize_t bytes = ::read(file.get(), text.data(), text.size());
  if (bytes < 0) return {{}, last_error(path)};
  const ReadCalibration read = from_text({text.data(), static_cast<std::size_t>(bytes)}, key);
  return {read.calibration, read.fault.empty() ? "" : path + " " + read.fault};
}

std::string save_calibration(const Calibration& calibration, const std::string& path, std::string_view key) {
  make_directories(path);
  const std::string written = path + "." + std::to_string(::getpid());
  const Descriptor file(::open(written.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH));
  if (!file) return last_error(written);
  if (write_all(file.get(), to_text(calibration, key)) && ::rename(written.c_str(), path.c_str()) == 0) return "";
  std::string fault = last_error(path);
  ::unlink(written.c_str());
  return fault;
}

CalibrationInForce stored_calibration(const std::string& setting) {
  CalibrationInForce found;
  found.is_off = setting == off;
  if (found.is_off) return found;
  const std::string key = calibration_key();
  found.path = calibration_path(setting, key);
  if (found.path.empty()) return found;
  const LoadedCalibration loaded = load_calibration(found.path, key);
  if (loaded.calibration) found.calibration = *loaded.calibration;
  if (!loaded.fault.empty()) found.warning = loaded.fault;
  return found;
}

CalibrationInForce find_calibration(const std::string& setting, bool anew, std::optional<bool> (*share)()) {
  CalibrationInForce found = stored_calibration(setting);
  if (found.is_off || (!found.may_measure() && !anew)) return found;
  if (!anew && found.calibration.one_core != 0 && share().value_or(true)) return found;
  std::optional<Calibration> measured;
  for (int left = anew ? tries_when_asked : 1; left > 0 && !measured; --left) measured = measure_calibration();
  if (!measured) {
    found.note = "not measured: there is one processor only, or others keep them busy";
    return found;
  }
  found.calibration = *measured;
  if (found.path.empty()) {
    found.note = "not stored: there is no home directory";
  } else if (const std::string fault = save_calibration(*measured, found.path, calibration_key()); !fault.empty()) {
    found.note = "not stored: " + fault;
  }
  return found;
}

}  // namespace sluice
