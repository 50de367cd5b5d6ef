// How calls wait for requests, without any message: the test completes what is awaited while the thread sleeps.

#include "runtime/request_waits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "runtime/alias/arena.hpp"
#include "runtime/engine/matching.hpp"
#include "runtime/engine_impl.hpp"
#include "tests/unit/support/recording_doorbell.hpp"
#include "tests/unit/support/two_engines.hpp"

namespace sluice {
namespace {

constexpr CallSite here{1};

class RequestWaitsTest : public testing::Test {
 protected:
  explicit RequestWaitsTest(ReleaseMode release = ReleaseMode::early) : impl_(parts(doorbell_, arena_, release)) {
    world_.become({Peer{0}, Peer{1}}, Rank{0});
    for (Request* request : {&first_, &second_}) {
      request->kind = Request::Kind::receive;
      request->context = &world_;
    }
    doorbell_.news();
  }
  static EngineParts parts(RecordingDoorbell& doorbell, AliasArena& arena, ReleaseMode release) {
    EngineParts made = one_of_two(Peer{0}, doorbell, {}, &arena);
    made.config.release = release;
    // Nothing is released, and that is counted; and nobody sleeps until the host has had many turns.
    host_turns_ = 0;
    made.host.outstanding = [] { return host_turns_ < host_has_work_for; };
    made.host.progress = [] { return ++host_turns_ > 0; };
    return made;
  }
  void wait_for_all(const std::vector<Request*>& requests) {
    Lock lock(impl_.mutex);
    const Inside inside(impl_.progress, lock);
    doorbell_.news();
    impl_.request_waits.all(lock, requests, here);
    EXPECT_TRUE(lock.owns_lock());
  }
  void wait_for_any(const std::vector<Request*>& requests) {
    Lock lock(impl_.mutex);
    const Inside inside(impl_.progress, lock);
    impl_.request_waits.any(lock, requests);
    EXPECT_TRUE(lock.owns_lock());
  }
  [[nodiscard]] std::uint64_t refusals() const {
    return impl_.statistics.fallbacks[static_cast<std::size_t>(Fallback::host_outstanding)];
  }
  [[nodiscard]] bool has_asked(const std::string& what) {
    const std::vector<std::string> news = doorbell_.news();
    return std::find(news.begin(), news.end(), what) != news.end();
  }

  static constexpr int host_has_work_for = 500;
  static inline int host_turns_ = 0;
  RecordingDoorbell doorbell_;
  AliasArena arena_{10'000};
  Context world_{ContextId{1}};
  Request first_;
  Request second_;
  Engine::Impl impl_;
};

struct RequestWaitsWithoutReleases : RequestWaitsTest {
  RequestWaitsWithoutReleases() : RequestWaitsTest(ReleaseMode::off) {}
};

TEST_F(RequestWaitsTest, what_is_complete_is_not_waited_for) {
  first_.complete = true;
  second_.released = true;
  wait_for_all({nullptr, &first_, &second_});
  EXPECT_FALSE(has_asked("poll"));
  EXPECT_EQ(impl_.statistics.waited_ns, 0u);
}

TEST_F(RequestWaitsTest, all_returns_when_the_last_one_is_complete) {
  doorbell_.meanwhile = [this] {
    second_.complete = true;
    doorbell_.meanwhile = [this] { first_.complete = true; };
  };
  wait_for_all({&first_, nullptr, &second_});
  EXPECT_TRUE(first_.complete && second_.complete);
  EXPECT_TRUE(has_asked("poll"));
  EXPECT_GT(impl_.statistics.waited_ns, 0u);
}

TEST_F(RequestWaitsTest, any_returns_when_the_first_one_is_complete) {
  doorbell_.meanwhile = [this] { second_.complete = true; };
  wait_for_any({&first_, nullptr, &second_});
  EXPECT_FALSE(first_.complete);
}

TEST_F(RequestWaitsTest, a_long_wait_tries_to_release_and_goes_on_when_that_is_refused) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the sanitizer has a thread that blocks SIGSEGV, so nothing is released";
#endif
  doorbell_.meanwhile = [this] { first_.complete = true; };
  wait_for_all({&first_});
  EXPECT_GE(refusals(), 1u);
}

TEST_F(RequestWaitsWithoutReleases, a_long_wait_is_a_wait) {
  doorbell_.meanwhile = [this] { first_.complete = true; };
  wait_for_all({&first_});
  EXPECT_EQ(refusals(), 0u);
}

}  // namespace
}  // namespace sluice
