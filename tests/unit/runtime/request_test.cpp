#include "runtime/request.hpp"

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

TEST(RequestPool, grows_without_giving_out_a_request_twice) {
  RequestPool pool;
  std::set<Request*> taken;
  for (int i = 0; i < 2000; ++i) taken.insert(pool.take());

  EXPECT_EQ(taken.size(), 2000U);
}

}  // namespace
}  // namespace sluice
