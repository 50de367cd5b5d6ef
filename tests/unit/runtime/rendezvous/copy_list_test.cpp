#include "runtime/rendezvous/copy_list.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

namespace sluice {
namespace {

constexpr std::size_t job_size = 3;

class CopyListTest : public ::testing::Test {
 protected:
  Request* copy_of(int peer) {
    Request& copy = requests_.at(used_++);
    copy.peer = Peer{peer};
    return &copy;
  }
  [[nodiscard]] std::vector<int> peers() const {
    std::vector<int> found;
    for (const Peer peer : list_.peers()) found.push_back(static_cast<int>(peer));
    std::sort(found.begin(), found.end());
    return found;
  }

  CopyList list_{job_size};

 private:
  std::array<Request, 4> requests_;
  std::size_t used_ = 0;
};

TEST_F(CopyListTest, is_in_the_order_of_its_places) {
  Request* first = copy_of(1);
  Request* second = copy_of(1);
  Request* before = copy_of(2);
  list_.push_back(first);
  list_.insert_before(nullptr, second);
  list_.insert_before(second, before);
  EXPECT_EQ(list_.pop_front(), first);
  EXPECT_EQ(list_.pop_front(), before);
  EXPECT_EQ(list_.pop_front(), second);
  EXPECT_EQ(list_.pop_front(), nullptr);
}

TEST_F(CopyListTest, names_each_peer_once_as_long_as_it_has_one) {
  Request* of_one = copy_of(1);
  Request* another_of_one = copy_of(1);
  Request* of_two = copy_of(2);
  EXPECT_EQ(peers(), std::vector<int>{});
  list_.push_back(of_one);
  list_.push_back(of_two);
  list_.push_back(another_of_one);
  EXPECT_EQ(peers(), (std::vector{1, 2}));
  list_.remove(of_one);
  EXPECT_EQ(peers(), (std::vector{1, 2}));
  list_.remove(another_of_one);
  EXPECT_EQ(peers(), std::vector{2});
  EXPECT_EQ(list_.pop_front(), of_two);
  EXPECT_EQ(peers(), std::vector<int>{});
  EXPECT_TRUE(list_.empty());
  list_.push_back(of_one);
  EXPECT_EQ(peers(), std::vector{1});
}

class PlaceTest : public ::testing::Test {
 protected:
  Request& of(int peer, std::byte* data) {
    Request& request = requests_.at(used_++);
    request.peer = Peer{peer};
    request.data = data;
    return request;
  }
  Request* add(int peer, std::byte* data) {
    Request* const request = &of(peer, data);
    list_.insert_before(nullptr, request);
    return request;
  }

  std::array<std::byte, 2> buffers_{};
  std::byte* const one_ = buffers_.data();
  std::byte* const another_ = buffers_.data() + 1;
  WorkList list_;

 private:
  std::array<Request, 20> requests_;
  std::size_t used_ = 0;
};

TEST_F(PlaceTest, of_a_new_one_is_before_those_of_its_pair_unless_they_share_a_buffer) {
  add(1, one_);
  Request* const of_two = add(2, one_);
  EXPECT_EQ(place_of_new(list_, of(2, another_)), of_two);
  EXPECT_EQ(place_of_new(list_, of(2, one_)), nullptr);
  EXPECT_EQ(place_of_new(list_, of(0, another_)), nullptr);
}

TEST_F(PlaceTest, of_one_that_goes_on_is_before_those_of_its_pair_unless_they_take_turns) {
  Request* const other = add(1, one_);
  EXPECT_EQ(place_again(list_, of(1, another_), true), other);
  EXPECT_EQ(place_again(list_, of(1, one_), false), other);
  EXPECT_EQ(place_again(list_, of(1, one_), true), nullptr);
  EXPECT_EQ(place_again(list_, of(2, one_), false), nullptr);
}

TEST_F(PlaceTest, is_looked_for_among_a_few_only) {
  for (int i = 0; i < 16; ++i) add(2, one_);
  add(1, one_);
  EXPECT_EQ(place_of_new(list_, of(1, another_)), nullptr);
}

}  // namespace
}  // namespace sluice
