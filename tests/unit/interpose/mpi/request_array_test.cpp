// Arrays of requests as the completion calls see them. The engine is that of a job of one rank; of the host nothing is here
// (no_host.cpp) but what the handles need.

#include "interpose/mpi/request_array.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "interpose/mpi/completion.hpp"
#include "interpose/mpi/entry.hpp"
#include "interpose/mpi/errors.hpp"
#include "interpose/mpi/open_requests.hpp"
#include "tests/unit/support/engine_process.hpp"

namespace sluice {
void HostActivity::completed(MPI_Request, MPI_Request) {}
StagedReceive::~StagedReceive() = default;
void StagedReceive::deliver(std::size_t) {}
int raise_error(const Communicator&, int code, const char*) { return code; }

namespace {

MPI_Request some_request() {
  static std::vector<std::unique_ptr<char>> made;
  made.push_back(std::make_unique<char>());
  return reinterpret_cast<MPI_Request>(made.back().get());
}

int start_generalized(MPI_Grequest_query_function*, MPI_Grequest_free_function*, MPI_Grequest_cancel_function*, void*,
                      MPI_Request* request) {
  *request = some_request();
  return MPI_SUCCESS;
}

const MPI_Request null = some_request();

class RequestArrayTest : public testing::TestWithParam<bool> {
 protected:
  RequestArrayTest() {
    detail::host_table.Grequest_start = start_generalized;
    detail::predefined_objects.request_null = null;
    detail::engine = &engine_;
    communicator_.context = engine_.contexts().adopt(ContextId{1}, {Peer{0}}, zero);
    expect_concurrent_calls(GetParam());
  }

  MPI_Request post(std::size_t i) {
    Request* const receive = engine_.start_receive(*communicator_.context, zero, tag_of(i), std::span(&bytes_[i], 1), here);
    return handle_for_receive(receive, communicator_);
  }
  void post_all(std::size_t count) {
    requests_.assign(count, null);
    bytes_.assign(count, std::byte{0});
    for (std::size_t i = 0; i < count; ++i) requests_[i] = post(i);
  }
  void send(std::size_t i) {
    const std::byte byte{1};
    engine_.send(*communicator_.context, zero, tag_of(i), &byte, 1, SendMode::standard, here);
    while (!find_handle(requests_[i])->is_complete()) engine_.progress();
  }
  static Tag tag_of(std::size_t i) { return Tag{static_cast<int>(i)}; }

  /// What a call finds complete in the whole array, with what is remembered of it.
  std::vector<std::size_t> complete() {
    RequestArray array(requests_.data());
    EXPECT_TRUE(array.follow(static_cast<int>(requests_.size())));
    std::vector<std::size_t> found;
    for (std::size_t i = array.first_complete(); i < array.size(); i = array.next_complete(i + 1)) found.push_back(i);
    return found;
  }
  bool is_quiet() {
    const RequestArray array(requests_.data());
    return array.is_quiet_after_poll(static_cast<int>(requests_.size()));
  }
  void finish(std::size_t i) { sluice::finish(*find_handle(requests_[i]), requests_[i]); }
  void finish_rest() {
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      if (requests_[i] == null || !find_handle(requests_[i])) continue;
      if (!find_handle(requests_[i])->is_complete()) send(i);
      finish(i);
    }
  }

  Engine engine_{{.self = Peer{0},
                  .job_size = 1,
                  .concurrent_calls = GetParam(),
                  .transport = nullptr,
                  .arena = nullptr,
                  .host = {},
                  .config = {}}};
  Communicator communicator_{};
  std::vector<MPI_Request> requests_;
  std::vector<std::byte> bytes_;
};

using Found = std::vector<std::size_t>;

TEST_P(RequestArrayTest, finds_what_has_become_complete_since_the_last_call) {
  for (const std::size_t count : {2, 7, 8, 9, 100}) {
    post_all(count);
    EXPECT_EQ(complete(), Found{});
    EXPECT_TRUE(is_quiet());
    send(count - 1);
    EXPECT_FALSE(is_quiet());
    EXPECT_EQ(complete(), Found{count - 1});
    send(0);
    EXPECT_EQ(complete(), (Found{0, count - 1}));
    finish_rest();
    EXPECT_EQ(complete(), Found{});
    EXPECT_FALSE(is_quiet()) << "nothing is active";
  }
}

TEST_P(RequestArrayTest, a_handle_that_is_used_again_by_another_operation_is_looked_up_again) {
  post_all(20);
  EXPECT_EQ(complete(), Found{});
  for (std::size_t round = 0; round < 50; ++round) {
    const std::size_t i = round * 7 % 20;
    const MPI_Request before = requests_[i];
    send(i);
    finish(i);
    requests_[i] = post(i);
    EXPECT_EQ(requests_[i], before) << "the array looks as it did";
    EXPECT_EQ(complete(), Found{});
    EXPECT_TRUE(is_quiet());
    send(i);
    EXPECT_EQ(complete(), Found{i});
    finish(i);
    requests_[i] = post(i);
  }
  finish_rest();
}

TEST_P(RequestArrayTest, what_the_call_itself_completes_is_not_found_again) {
  post_all(20);
  EXPECT_EQ(complete(), Found{});
  send(3);
  {
    RequestArray array(requests_.data());
    ASSERT_TRUE(array.follow(20));
    MPI_Status status;
    ASSERT_EQ(array.first_complete(), 3u);
    finish_one(array, 3, &status, here);
    EXPECT_EQ(status.MPI_TAG, 3);
    EXPECT_EQ(requests_[3], null);
    EXPECT_EQ(array.ours(), 19u);
    EXPECT_EQ(array.first_complete(), 20u);
  }
  requests_[3] = post(3);  // with the same handle
  EXPECT_EQ(complete(), Found{});
  send(3);
  EXPECT_EQ(complete(), Found{3});
  finish_rest();
}

TEST_P(RequestArrayTest, tells_what_is_the_hosts_and_what_is_no_request) {
  post_all(10);
  requests_[4] = some_request();
  RequestArray array(requests_.data());
  ASSERT_TRUE(array.follow(10));
  EXPECT_EQ(array.ours(), 9u);
  EXPECT_EQ(array.hosts(), 1u);
  EXPECT_TRUE(array.is_host(4));
  EXPECT_EQ(array.host_requests()[0], requests_[4]);
  EXPECT_EQ(array.host_index(0), 4u);
  requests_[5] = nullptr;
  EXPECT_FALSE(array.follow(10));
  requests_[4] = requests_[5] = null;
  EXPECT_TRUE(array.follow(10));
  EXPECT_EQ(array.hosts(), 0u);
  finish_rest();
}

TEST_P(RequestArrayTest, is_quiet_whatever_the_hosts_requests_do) {
  post_all(10);
  requests_[4] = some_request();
  EXPECT_EQ(complete(), Found{});
  EXPECT_TRUE(is_quiet());
  {
    RequestArray array(requests_.data());
    ASSERT_TRUE(array.is_quiet_after_poll(10));
    ASSERT_EQ(array.hosts(), 1u);
    EXPECT_EQ(array.host_requests()[0], requests_[4]);
    array.host_completed(0, null);
    EXPECT_EQ(requests_[4], null);
  }
  EXPECT_FALSE(is_quiet()) << "the array has changed";
  EXPECT_EQ(complete(), Found{});
  requests_[4] = some_request();
  EXPECT_EQ(complete(), Found{});
  send(7);
  EXPECT_FALSE(is_quiet());
  finish(7);
  requests_[4] = null;
  finish_rest();
}

TEST_P(RequestArrayTest, a_look_for_open_requests_ends_when_all_are_complete) {
  for (const std::size_t count : {1, 5, 64, 65, 200}) {
    post_all(count);
    for (std::size_t left = count; left > 0; --left) {
      OpenRequests open(static_cast<int>(count), requests_.data());
      EXPECT_EQ(open.look(), OpenRequests::Found::open);
      EXPECT_EQ(open.look(), OpenRequests::Found::open);
      send(count - left);
    }
    OpenRequests open(static_cast<int>(count), requests_.data());
    EXPECT_EQ(open.look(), OpenRequests::Found::none);
    std::vector<MPI_Status> statuses(count);
    finish_all(static_cast<int>(count), requests_.data(), statuses.data(), here);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(requests_[i], null);
      EXPECT_EQ(statuses[i].MPI_TAG, static_cast<int>(i));
    }
    OpenRequests again(static_cast<int>(count), requests_.data());
    EXPECT_EQ(again.look(), OpenRequests::Found::none);
  }
}

TEST_P(RequestArrayTest, a_request_that_is_named_twice_is_finished_once) {
  post_all(6);
  for (std::size_t i = 0; i < 6; ++i) send(i);
  finish(4);
  requests_[4] = requests_[2];
  std::vector<MPI_Status> statuses(6);
  finish_all(6, requests_.data(), statuses.data(), here);
  EXPECT_EQ(statuses[2].MPI_TAG, 2);
  EXPECT_EQ(statuses[4].MPI_TAG, MPI_ANY_TAG);
  EXPECT_EQ(requests_, std::vector<MPI_Request>(6, null));
  post_all(6);  // handles and requests of the engine are each given out once
  for (std::size_t i = 0; i < 6; ++i) {
    for (std::size_t k = 0; k < i; ++k) EXPECT_NE(requests_[i], requests_[k]);
  }
  finish_rest();
}

TEST_P(RequestArrayTest, a_search_finds_handles_in_any_order) {
  post_all(300);
  HandleSearch search;
  for (std::size_t step = 0; step < 1000; ++step) {
    const std::size_t i = step % 3 == 0 ? step * 101 % 300 : step % 300;
    EXPECT_EQ(search.find(requests_[i]), find_handle(requests_[i]));
  }
  for (std::size_t i = 300; i-- > 0;) EXPECT_EQ(search.find(requests_[i]), find_handle(requests_[i]));
  EXPECT_EQ(HandleSearch().find(requests_[299]), find_handle(requests_[299]));
  EXPECT_EQ(search.find(null), nullptr);
  EXPECT_EQ(search.find(nullptr), nullptr);
  const MPI_Request former = requests_[7];
  send(7);
  finish(7);
  search.find(requests_[6]);
  EXPECT_EQ(search.find(former), nullptr) << "it is not in use any more";
  finish_rest();
}

TEST_P(RequestArrayTest, a_look_counts_what_is_open_and_what_is_not_sluices) {
  post_all(12);
  for (const std::size_t i : {3, 9}) {
    send(i);
    finish(i);
  }
  const MPI_Request fifth = requests_[5];
  requests_[5] = some_request();
  const FirstLook nothing(12, requests_.data());
  EXPECT_EQ(nothing.complete, nullptr);
  EXPECT_EQ(nothing.seen.open, 9);
  EXPECT_EQ(nothing.seen.others, 1);
  EXPECT_EQ(nothing.seen.other, 5);
  EXPECT_EQ(OpenOfShort(12, requests_.data()).requests().size(), 9u);
  requests_[5] = fifth;
  for (const std::size_t i : {10, 7}) {
    send(i);
    const FirstLook look(12, requests_.data());
    EXPECT_EQ(look.complete, find_handle(requests_[i]));
    EXPECT_EQ(look.index, static_cast<int>(i));
  }
  std::vector<int> complete;
  const auto note = [&](Handle&, int i) {
    complete.push_back(i);
    return true;
  };
  EXPECT_EQ(look_at_each(12, requests_.data(), note).open, 8);
  EXPECT_EQ(complete, (std::vector<int>{7, 10}));
  const MPI_Request former = requests_[7];
  finish(7);
  requests_[7] = former;
  EXPECT_EQ(look_at_each(12, requests_.data(), note).others, 1) << "it is not in use any more";
  requests_[7] = null;
  finish_rest();
}

TEST_P(RequestArrayTest, sends_that_were_complete_at_once_are_finished_as_often_as_they_are_named) {
  post_all(5);
  send(2);
  const MPI_Request sent = handle_for_send(nullptr, communicator_);
  const MPI_Request received = handle_for_no_process(true);
  for (const std::size_t i : {0, 1, 3, 4}) {
    send(i);
    finish(i);
    requests_[i] = i == 3 ? received : sent;
  }
  EXPECT_EQ(look_at_each(5, requests_.data(), [](Handle&, int) { return true; }).open, 0);
  std::vector<MPI_Status> statuses(5);
  for (MPI_Status& status : statuses) status.MPI_ERROR = MPI_ERR_OTHER;
  finish_all(5, requests_.data(), statuses.data(), here);
  EXPECT_EQ(requests_, std::vector<MPI_Request>(5, null));
  for (const std::size_t i : {0, 1, 3, 4}) {
    EXPECT_EQ(statuses[i].MPI_SOURCE, MPI_PROC_NULL);
    EXPECT_EQ(statuses[i].MPI_ERROR, MPI_SUCCESS);
  }
  EXPECT_EQ(statuses[2].MPI_TAG, 2);
  MPI_Request again = handle_for_send(nullptr, communicator_);
  MPI_Status status;
  EXPECT_EQ(finish_one(*find_handle(again), again, &status, here), MPI_SUCCESS);
  EXPECT_EQ(status.MPI_SOURCE, MPI_PROC_NULL);
  EXPECT_EQ(again, null);
}

INSTANTIATE_TEST_SUITE_P(Threads, RequestArrayTest, testing::Bool(),
                         [](const auto& several) { return several.param ? "several" : "one"; });

}  // namespace
}  // namespace sluice
