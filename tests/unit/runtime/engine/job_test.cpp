// What the engine works out of its parts at the start.

#include "runtime/engine/job.hpp"

#include <gtest/gtest.h>

#include "runtime/copy/shared_copy.hpp"
#include "tests/unit/support/loopback_transport.hpp"
#include "tests/unit/support/two_engines.hpp"

namespace sluice {
namespace {

struct JobTest : testing::Test {
  EngineParts parts(std::size_t max_payload, std::size_t eager_limit) {
    network = std::make_unique<LoopbackNetwork>(2, LoopbackKnobs{.max_payload = max_payload});
    Config config;
    config.eager_limit = eager_limit;
    return one_of_two(Peer{0}, network->transport(Peer{0}), config);
  }
  std::unique_ptr<LoopbackNetwork> network;
};

TEST_F(JobTest, an_eager_message_and_the_name_of_its_request_fit_the_transport) {
  const Job job(parts(1000, 4096));
  EXPECT_EQ(job.eager_limit_of(Peer{1}), 1000 - sizeof(std::uint64_t));
  EXPECT_EQ(job.eager_limit, job.eager_limit_of(Peer{1}));
}

TEST_F(JobTest, to_itself_a_process_sends_up_to_the_general_limit) {
  EXPECT_EQ(Job(parts(1000, 4096)).eager_limit_of(Peer{0}), 4096u);
}

TEST_F(JobTest, the_general_limit_holds_where_the_transport_takes_more) {
  EXPECT_EQ(Job(parts(16384, 4096)).eager_limit_of(Peer{1}), 4096u);
}

TEST_F(JobTest, a_job_of_one_process_needs_no_transport) {
  const Job job({.self = Peer{0}, .job_size = 1, .host = {}, .config = {}});
  EXPECT_EQ(job.eager_limit, Config{}.eager_limit);
  EXPECT_FALSE(job.uses_sockets);
}

TEST_F(JobTest, what_is_configured_goes_before_what_was_measured) {
  EngineParts made = parts(16384, 4096);
  EXPECT_EQ(Job(made).chunk_bytes, made.calibration.chunk_bytes);
  EXPECT_EQ(Job(made).single_copy_bytes, made.calibration.single_copy_bytes);
  made.config.copy_chunk = 12345;
  made.config.single_copy = 777;
  EXPECT_EQ(Job(made).chunk_bytes, 12345u);
  EXPECT_EQ(Job(made).single_copy_bytes, 777u);
}

TEST_F(JobTest, where_processes_share_processors_nothing_short_is_announced) {
  EngineParts made = parts(16384, 4096);
  made.processors = {.processes = 9, .processors = 2, .own = 2};
  const Job job(made);
  EXPECT_TRUE(job.oversubscribed);
  EXPECT_TRUE(job.crowded);
  EXPECT_FALSE(job.spare_processor);
  EXPECT_EQ(job.single_copy_bytes, shared_copy::never);
}

}  // namespace
}  // namespace sluice
