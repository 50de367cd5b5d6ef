#include "runtime/engine/request.hpp"

#include <gtest/gtest.h>

#include <set>

namespace sluice {
namespace {

TEST(RequestPool, finds_a_request_in_use_by_its_name) {
  RequestPool pool;
  Request* request = pool.take();

  EXPECT_EQ(pool.find(request->id), request);
}

TEST(RequestPool, does_not_find_the_former_user_of_an_entry) {
  RequestPool pool;
  Request* request = pool.take();
  const RequestId former = request->id;
  pool.give_back(request);
  ASSERT_EQ(pool.take(), request);

  EXPECT_EQ(pool.find(former), nullptr);
}

TEST(RequestPool, does_not_find_what_is_free_or_was_never_there) {
  RequestPool pool;
  Request* request = pool.take();
  const RequestId id = request->id;
  pool.give_back(request);

  EXPECT_EQ(pool.find(id), nullptr);
  EXPECT_EQ(pool.find(RequestId{0xffff'ffff'ffff'ffff}), nullptr);
  EXPECT_EQ(pool.find(RequestId{12345678}), nullptr);
}

TEST(RequestPool, gives_back_a_request_as_new) {
  RequestPool pool;
  Request* request = pool.take();
  request->complete = true;
  request->failure = Failure::truncated;
  request->offset = 17;
  request->owned = std::make_unique<std::byte[]>(10);
  pool.give_back(request);

  ASSERT_EQ(pool.take(), request);
  EXPECT_FALSE(request->complete);
  EXPECT_EQ(request->failure, Failure::none);
  EXPECT_EQ(request->offset, 0U);
  EXPECT_EQ(request->owned, nullptr);
}

TEST(RequestPool, gives_out_a_chain_in_its_order_and_as_new) {
  RequestPool pool;
  Request* const first = pool.take();
  Request* const second = pool.take();
  const RequestId former = first->id;
  for (Request* request : {first, second}) {
    request->complete = true;
    request->cancelled = true;
    request->owned = std::make_unique<std::byte[]>(10);
    RequestPool::retire(*request);
    EXPECT_EQ(request->owned, nullptr);
  }
  RequestPool::next_of(*first) = second;
  pool.give_back(first, second);
  EXPECT_EQ(pool.find(former), nullptr);

  EXPECT_EQ(pool.take(), first);
  EXPECT_EQ(pool.take(), second);
  EXPECT_FALSE(second->complete);
  EXPECT_FALSE(second->cancelled);
  EXPECT_EQ(pool.find(former), nullptr);
  EXPECT_EQ(pool.find(second->id), second);
}

TEST(RequestPool, visits_what_is_in_use_only) {
  RequestPool pool;
  Request* const in_use = pool.take();
  Request* const retired = pool.take();
  pool.give_back(pool.take());
  RequestPool::retire(*retired);
  pool.give_back(retired, retired);

  std::set<const Request*> visited;
  pool.for_each_in_use([&](const Request& request) { visited.insert(&request); });
  EXPECT_EQ(visited, std::set<const Request*>{in_use});
}

TEST(RequestPool, grows_without_giving_out_a_request_twice) {
  RequestPool pool;
  std::set<Request*> taken;
  for (int i = 0; i < 2000; ++i) taken.insert(pool.take());

  EXPECT_EQ(taken.size(), 2000U);
}

}  // namespace
}  // namespace sluice
