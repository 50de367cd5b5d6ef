// The page that `sluice timeline` writes, and what the command says.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tests/unit/tools/shell.hpp"
#include "tests/unit/tools/two_rank_trace.hpp"

namespace sluice {
namespace {

using trace::Kind;

class TimelinePage : public testing::Test, protected TwoRanks {
 protected:
  /// The command's output; the page is in page_.
  Result command(const std::string& options = "") {
    write();
    const std::string file = directory.path() / "page.html";
    const Result result = shell("$sluice timeline " + directory.path().string() + " -o " + file + " " + options);
    std::ifstream stream(file);
    page_.assign(std::istreambuf_iterator<char>(stream), {});
    return result;
  }

  std::string page_;
};

TEST_F(TimelinePage, the_page_cannot_be_left_by_a_name_in_the_trace) {
  first.site(1, "</script><script>", 0x1001);
  first.entry_of(trace::EntryType::thread, 0, trace::ThreadPayload{.name = {"<!--<script>"}});
  first.add(Kind::call, 10, {.duration_ns = 5, .site = 1});

  EXPECT_EQ(command().status, 0);

  EXPECT_TRUE(contains(page_, "\\u003c/script>\\u003cscript>")) << page_.substr(0, 3000);
  EXPECT_FALSE(contains(page_, "</script><script>\""));
  EXPECT_FALSE(contains(page_, "<!--"));
}

TEST_F(TimelinePage, the_page_needs_nothing_from_elsewhere) {
  large_message();

  EXPECT_EQ(command().status, 0);

  for (const char* const reference : {"src=", "href=", "http:", "https:", "@import", "url("})
    EXPECT_FALSE(contains(page_, reference)) << reference;
  EXPECT_TRUE(contains(page_, "default-src 'none'"));
}

TEST_F(TimelinePage, a_damaged_trace_is_told_and_the_rest_is_shown) {
  large_message();
  first.write(directory.file(0));
  std::string bytes = second.bytes();
  bytes[second.header().chunks_offset + 2 * trace::record_bytes + 20] ^= 1;
  second = TraceMaker(1, 2);
  const std::string page = directory.path() / "page.html";
  TraceMaker::write_bytes(directory.file(1), bytes);

  const Result result = shell("$sluice timeline " + directory.path().string() + " -o " + page + "; tail -c +1 " + page +
                              " | grep -c 'does not agree'");

  EXPECT_TRUE(contains(result.output, "a record does not agree with its check word")) << result.output;
  EXPECT_TRUE(contains(result.output, "4 lanes") || contains(result.output, "3 lanes")) << result.output;
  EXPECT_TRUE(result.output.ends_with("\n1\n")) << "the page tells it as well: " << result.output;
  EXPECT_EQ(shell("$sluice timeline " + directory.path().string() + " -o " + page).status, 3);
}

TEST_F(TimelinePage, a_page_that_cannot_be_written_is_one_clear_error) {
  large_message();
  write();

  const Result result = shell("$sluice timeline " + directory.path().string() + " -o /nowhere/page.html");

  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.output, "sluice: /nowhere/page.html: No such file or directory\n");
}

TEST_F(TimelinePage, a_time_that_ends_before_it_begins_is_refused) {
  large_message();

  const Result result = command("--from 2 --to 1");

  EXPECT_EQ(result.status, 1);
  EXPECT_TRUE(contains(result.output, "--to 1: it must be later than --from")) << result.output;
}

TEST_F(TimelinePage, what_is_left_out_is_told) {
  for (int i = 1; i <= 50; ++i) first.add(Kind::call, 100.0 * i, {.duration_ns = static_cast<std::uint64_t>(i), .site = 1});

  const Result result = command("--most 10");

  EXPECT_TRUE(contains(result.output, "10 slices")) << result.output;
  EXPECT_TRUE(contains(result.output, "40 shorter slices")) << result.output;
  EXPECT_TRUE(contains(page_, "\"slice_counts\":{\"left_out\":40,\"longest_left_out_ns\":40}"));
}

TEST_F(TimelinePage, ranks_that_the_trace_does_not_have_are_refused) {
  large_message();

  EXPECT_EQ(command("--rank 1").status, 0);
  const Result result = command("--rank 9");

  EXPECT_EQ(result.status, 1);
  EXPECT_TRUE(contains(result.output, "--rank")) << result.output;
}

}  // namespace
}  // namespace sluice
