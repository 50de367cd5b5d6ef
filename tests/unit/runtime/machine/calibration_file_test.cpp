#include "runtime/machine/calibration_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view key = "key";

class CalibrationFile : public testing::Test {
 protected:
  CalibrationFile() {
    std::string name = (fs::temp_directory_path() / "calibration-XXXXXX").string();
    directory_ = ::mkdtemp(name.data());
  }
  ~CalibrationFile() override {
    ::unsetenv("XDG_CACHE_HOME");
    fs::remove_all(directory_);
  }
  [[nodiscard]] std::string path() const { return directory_ / "cache" / "sluice" / "calibration"; }

  fs::path directory_;
};

TEST_F(CalibrationFile, is_stored_with_its_directory_and_read_again) {
  Calibration stored;
  stored.round_trip_ns = 77;
  EXPECT_EQ(save_calibration(stored, path(), key), "");
  const LoadedCalibration loaded = load_calibration(path(), key);
  ASSERT_TRUE(loaded.calibration);
  EXPECT_EQ(loaded.calibration->round_trip_ns, 77U);
  EXPECT_EQ(std::distance(fs::directory_iterator(fs::path(path()).parent_path()), {}), 1) << "nothing but the file is left";
}

TEST_F(CalibrationFile, that_is_not_there_is_no_fault) {
  const LoadedCalibration loaded = load_calibration(path(), key);
  EXPECT_FALSE(loaded.calibration);
  EXPECT_EQ(loaded.fault, "");
}

TEST_F(CalibrationFile, that_is_damaged_is_named) {
  ASSERT_EQ(save_calibration({}, path(), key), "");
  std::ofstream(path(), std::ios::app) << "x";
  const LoadedCalibration loaded = load_calibration(path(), key);
  EXPECT_FALSE(loaded.calibration);
  EXPECT_EQ(loaded.fault, path() + " is damaged");
}

TEST_F(CalibrationFile, whose_place_cannot_be_written_to_is_told_and_leaves_nothing) {
  std::ofstream(directory_ / "cache") << "a file in the way";
  EXPECT_NE(save_calibration({}, path(), key), "");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), {}), 1);
  ASSERT_TRUE(fs::create_directories(directory_ / "taken"));
  EXPECT_NE(save_calibration({}, directory_ / "taken", key), "") << "a directory cannot be replaced";
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_), {}), 2);
}

TEST_F(CalibrationFile, lies_in_the_cache_directory_and_differs_by_key) {
  ::setenv("XDG_CACHE_HOME", directory_.c_str(), 1);
  const std::string found = calibration_path("auto", key);
  EXPECT_TRUE(found.starts_with((directory_ / "sluice" / "calibration-").string())) << found;
  EXPECT_NE(found, calibration_path("auto", "another"));
  EXPECT_EQ(calibration_path("off", key), "");
  EXPECT_EQ(calibration_path("/a/file", key), "/a/file");
}

TEST_F(CalibrationFile, switched_off_measures_and_reads_nothing) {
  const CalibrationInForce found = find_calibration("off");
  EXPECT_EQ(found.calibration, Calibration{});
  EXPECT_FALSE(found.may_measure());
}

TEST_F(CalibrationFile, stored_holds_for_every_job_until_it_is_measured_anew) {
  Calibration stored;
  stored.round_trip_ns = 77;
  const std::string file = path();
  ASSERT_EQ(save_calibration(stored, file, calibration_key()), "");
  EXPECT_EQ(find_calibration(file).calibration.round_trip_ns, 77U);
  EXPECT_EQ(find_calibration(file).calibration.source, Calibration::Source::file);
  const CalibrationInForce anew = find_calibration(file, true);
  if (anew.calibration.source != Calibration::Source::measured) GTEST_SKIP() << anew.note;
  EXPECT_EQ(stored_calibration(file).calibration.chunk_bytes, anew.calibration.chunk_bytes);
}

TEST_F(CalibrationFile, of_threads_of_one_core_holds_as_long_as_they_are) {
  Calibration stored;
  stored.round_trip_ns = 77;
  stored.one_core = 1;
  ASSERT_EQ(save_calibration(stored, path(), calibration_key()), "");
  const auto found_where = [this](std::optional<bool> (*share)()) { return find_calibration(path(), false, share); };
  const auto they_are = found_where([]() -> std::optional<bool> { return true; });
  EXPECT_EQ(they_are.calibration.source, Calibration::Source::file);
  const auto nobody_knows = found_where([]() -> std::optional<bool> { return std::nullopt; });
  EXPECT_EQ(nobody_knows.calibration.source, Calibration::Source::file);
  EXPECT_EQ(stored_calibration(path()).calibration.round_trip_ns, 77U);
  const auto they_are_not = found_where([]() -> std::optional<bool> { return false; });
  if (!they_are_not.note.empty()) GTEST_SKIP() << they_are_not.note;
  EXPECT_EQ(they_are_not.calibration.source, Calibration::Source::measured);
  EXPECT_EQ(stored_calibration(path()).calibration.round_trip_ns, they_are_not.calibration.round_trip_ns);
}

}  // namespace
}  // namespace sluice
