#include "runtime/machine/calibration.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using shared_copy::never;

constexpr std::string_view key = "processor, 2 processors, sluice 1";

Calibration example() {
  Calibration made;
  made.source = Calibration::Source::file;
  made.round_trip_ns = 180;
  made.one_core = 1;
  made.copies.pieces = Stores::vector;
  made.copies.streaming_bytes = 65536;
  made.copies.streaming_read_bytes = never;
  made.copies.streaming_shared_bytes = 4096;
  made.copies.handing_back_bytes = 8192;
  made.far_ns = 190;
  made.gathered_bytes = 1 << 20;
  made.single_copy_bytes = 20000;
  made.coop_bytes = 40000;
  made.coop_own_bytes = 300000;
  made.coop_turns_bytes = 200000;
  made.chunk_bytes = 196608;
  return made;
}

TEST(calibration, reads_back_what_it_writes) {
  const ReadCalibration read = from_text(to_text(example(), key), key);
  EXPECT_EQ(read.fault, "");
  ASSERT_TRUE(read.calibration);
  EXPECT_EQ(*read.calibration, example());
}

TEST(calibration, of_another_machine_is_refused) {
  const ReadCalibration read = from_text(to_text(example(), "another"), key);
  EXPECT_FALSE(read.calibration);
  EXPECT_EQ(read.fault, "is of another machine or version");
}

TEST(calibration, is_refused_whichever_byte_is_changed) {
  const std::string text = to_text(example(), key);
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    const ReadCalibration read = from_text(changed, key);
    EXPECT_FALSE(read.calibration) << "byte " << at;
    EXPECT_NE(read.fault, "") << "byte " << at;
  }
}

TEST(calibration, is_refused_wherever_it_is_cut_off) {
  const std::string text = to_text(example(), key);
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_FALSE(from_text(text.substr(0, length), key).calibration) << length;
  EXPECT_FALSE(from_text(text + "more\n", key).calibration);
}

TEST(calibration, keeps_values_within_bounds_that_any_machine_can_live_with) {
  Calibration wild = example();
  wild.copies.streaming_bytes = 0;
  wild.copies.streaming_shared_bytes = 0;
  wild.copies.handing_back_bytes = 0;
  wild.gathered_bytes = 0;
  wild.single_copy_bytes = 0;
  wild.coop_bytes = never;
  wild.coop_own_bytes = 0;
  wild.coop_turns_bytes = 0;
  wild.chunk_bytes = 1;
  const auto read = from_text(to_text(wild, key), key).calibration;
  ASSERT_TRUE(read);
  EXPECT_GE(read->copies.streaming_bytes, 4096U);
  EXPECT_EQ(read->coop_bytes, Calibration::most_coop_bytes);
  EXPECT_GE(read->copies.streaming_shared_bytes, 4096U);
  EXPECT_GE(read->copies.handing_back_bytes, 4096U);
  EXPECT_GE(read->gathered_bytes, 32768U);
  EXPECT_EQ(read->single_copy_bytes, Calibration::least_single_copy_bytes);
  EXPECT_EQ(read->coop_turns_bytes, Calibration::least_coop_turns_bytes);
  EXPECT_EQ(read->coop_own_bytes, read->coop_bytes) << "who may read alone need not share";
  EXPECT_GE(read->chunk_bytes, 32768U);
  wild.coop_own_bytes = never;
  EXPECT_EQ(clamped(wild).coop_own_bytes, Calibration::most_coop_own_bytes);
  wild.chunk_bytes = never;
  EXPECT_LE(clamped(wild).chunk_bytes, std::size_t{1} << 20);
}

TEST(calibration, messages_at_once_are_shared_earlier_where_that_pays) {
  constexpr std::size_t kb = 1024;
  Calibration made;
  made.round_trip_ns = 120;
  made.coop_bytes = 200 * kb;
  made.coop_own_bytes = 1024 * kb;
  EXPECT_EQ(made.coop_bytes_at_once(), 16 * kb) << "all that goes as blocks";
  EXPECT_EQ(made.coop_own_bytes_at_once(), 256 * kb);
  made.round_trip_ns = 540;
  EXPECT_EQ(made.coop_bytes_at_once(), 16 * kb);
  EXPECT_EQ(made.coop_own_bytes_at_once(), 1024 * kb) << "no cache in common";
  made.round_trip_ns = 0;
  EXPECT_EQ(made.coop_bytes_at_once(), 200 * kb) << "not measured";
  EXPECT_EQ(made.coop_own_bytes_at_once(), 1024 * kb) << "not measured";
  made.round_trip_ns = 120;
  made.coop_bytes = Calibration::most_coop_bytes;
  made.coop_own_bytes = Calibration::most_coop_own_bytes;
  EXPECT_EQ(made.coop_bytes_at_once(), Calibration::most_coop_bytes) << "not found to pay";
  EXPECT_EQ(made.coop_own_bytes_at_once(), Calibration::most_coop_own_bytes) << "not found to pay";
}

TEST(calibration, names_the_processor_their_number_and_the_version) {
  const std::string found = calibration_key();
  EXPECT_NE(found.find(" processors, sluice "), std::string::npos) << found;
  EXPECT_EQ(found.find('\n'), std::string::npos);
}

TEST(calibration, measured_or_not_is_within_its_bounds_and_soon_over) {
  const auto measured = measure_calibration();  // on a busy machine nothing
  if (!measured) GTEST_SKIP() << "the processors are busy";
  EXPECT_EQ(measured->source, Calibration::Source::measured);
  EXPECT_EQ(*measured, clamped(*measured));
  EXPECT_GT(measured->round_trip_ns, 0U);
}

}  // namespace
}  // namespace sluice
