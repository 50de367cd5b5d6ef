// What can go wrong between two processes that a real adapter joins, brought about on purpose (in the soft-RoCE guest; skipped
// where there is no adapter). docs/verbs.md has the table of faults; those that take a job are in tests/mpi/rdma.

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>

#include "net/wire.hpp"
#include "tests/unit/support/verbs_fixture.hpp"

namespace sluice {
namespace {

class verbs_fault : public VerbsFixture {
 protected:
  /// What `index` says of the other, once it has given it up.
  std::string verdict_of(std::size_t index) {
    const Peer other{static_cast<std::int32_t>(1 - index)};
    EXPECT_TRUE(poll_until([&] { return host(index).vanished() == other; }));
    return host(index).cause();
  }
  void expect_verdict(std::size_t index, const std::string& part) {
    const std::string said = verdict_of(index);
    EXPECT_NE(said.find(part), std::string::npos) << said;
  }
};

// --- messages that are none --------------------------------------------------------------------------------------------

/// Bytes of a message after the first one of a connection, and the parts of it that a test may spoil.
class WireMessage {
 public:
  explicit WireMessage(std::size_t payload_bytes) : bytes_(verbs_slot::overhead + payload_bytes) {
    set_sequence(1);
    set_what(1);
    WireHeader header;
    header.kind = MessageKind::eager;
    header.payload_bytes = static_cast<std::uint32_t>(payload_bytes);
    frame::encode(header, std::span(bytes_).subspan<verbs_slot::prefix_bytes, frame::header_bytes>());
  }

  WireMessage& set_granted(std::uint16_t value) { return put<0>(value); }
  WireMessage& set_what(std::uint16_t value) { return put<2>(value); }
  WireMessage& set_sequence(std::uint32_t value) { return put<4>(value); }
  WireMessage& damage(std::size_t position) {
    bytes_[position] ^= std::byte{0x40};
    return *this;
  }
  WireMessage& cut_to(std::size_t bytes) {
    bytes_.resize(bytes);
    return *this;
  }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

 private:
  template <std::size_t place, class Number>
  WireMessage& put(Number value) {
    wire::put<place>(std::span<std::byte>(bytes_).first<verbs_slot::prefix_bytes>(), value);
    return *this;
  }

  std::vector<std::byte> bytes_;
};

class message_that_is_none : public verbs_fault {
 protected:
  /// Past everything that the transport of process 0 does to what it sends.
  void send_as_it_is(const WireMessage& message) {
    connect();
    ibv_qp* const queue_pair = host(0).queue_pair(Peer{1})->get();
    ibv_sge segment{reinterpret_cast<std::uintptr_t>(message.bytes().data()), static_cast<std::uint32_t>(message.bytes().size()),
                    0};
    ibv_send_wr request{};
    request.wr_id = SendQueue::mark;
    request.sg_list = &segment;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    request.send_flags = IBV_SEND_INLINE;
    ibv_send_wr* refused = nullptr;
    ASSERT_EQ(ibv_post_send(queue_pair, &request, &refused), 0);
  }
};

TEST_F(message_that_is_none, is_none_where_it_is_as_it_should_be) {
  send_as_it_is(WireMessage(20));
  ASSERT_TRUE(poll_until([&] { return sinks[1].messages.size() == 1; }));
  EXPECT_EQ(sinks[1].messages[0].payload.size(), 20u);
  EXPECT_EQ(host(1).vanished(), Peer{-1});
}

TEST_F(message_that_is_none, is_shorter_than_any) {
  send_as_it_is(WireMessage(0).cut_to(3));
  expect_verdict(1, "it sent 3 bytes, which is no message");
}

TEST_F(message_that_is_none, is_of_a_kind_that_does_not_exist) {
  send_as_it_is(WireMessage(0).set_what(77));
  expect_verdict(1, "of kind 77, which is no message");
}

TEST_F(message_that_is_none, has_a_damaged_header) {
  send_as_it_is(WireMessage(0).damage(verbs_slot::prefix_bytes));
  expect_verdict(1, "what it sent is no message");
}

TEST_F(message_that_is_none, has_lost_its_end) {
  send_as_it_is(WireMessage(100).cut_to(verbs_slot::overhead + 60));
  expect_verdict(1, "100 bytes are announced, 60 came");
}

TEST_F(message_that_is_none, is_not_the_next_one) {
  send_as_it_is(WireMessage(0).set_sequence(3));
  expect_verdict(1, "a message of it is missing");
}

TEST_F(message_that_is_none, grants_more_than_was_sent) {
  send_as_it_is(WireMessage(0).set_granted(1));
  expect_verdict(1, "it grants more messages than were sent to it");
}

// --- an adapter that has not enough ------------------------------------------------------------------------------------

constexpr std::uint8_t only_port = 1;

/// Fills the completion queue of process 0 by sends of a queue pair that is in error: each leaves an entry.
class Flood {
 public:
  Flood(ibv_qp* beside, std::uint8_t port) : queue_pair_(nullptr, library_.destroy_qp) {
    const auto entries = static_cast<std::uint32_t>(beside->send_cq->cqe);
    ibv_qp_init_attr wanted{};
    wanted.send_cq = wanted.recv_cq = beside->send_cq;
    wanted.qp_type = IBV_QPT_RC;
    wanted.cap.max_send_wr = 2 * entries + 1;
    wanted.cap.max_send_sge = wanted.cap.max_recv_wr = wanted.cap.max_recv_sge = 1;
    wanted.sq_sig_all = 1;
    queue_pair_.reset(library_.create_qp(beside->pd, &wanted));
    if (!queue_pair_) throw std::runtime_error(why_failed("ibv_create_qp", library_.error()));
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_INIT;
    attributes.port_num = port;
    change(attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
    attributes.qp_state = IBV_QPS_ERR;
    change(attributes, IBV_QP_STATE);
    for (std::uint32_t i = 0; i < 2 * entries; ++i) send_nothing();
  }

 private:
  void change(ibv_qp_attr& attributes, int mask) {
    if (const int error = library_.modify_qp(queue_pair_.get(), &attributes, mask)) {
      throw std::runtime_error(why_failed("ibv_modify_qp", error));
    }
  }
  void send_nothing() {
    ibv_send_wr request{};
    request.opcode = IBV_WR_SEND;
    ibv_send_wr* refused = nullptr;
    if (const int error = ibv_post_send(queue_pair_.get(), &request, &refused)) {
      throw std::runtime_error(why_failed("ibv_post_send", error));
    }
  }

  const VerbsLibrary& library_ = VerbsLibrary::get();
  VerbsOwner<ibv_qp> queue_pair_;
};

TEST_F(verbs_fault, a_completion_queue_that_overflows_is_reported_as_the_adapters_failure) {
  connect();
  const Flood flood(host(0).queue_pair(Peer{1})->get(), only_port);
  expect_verdict(0, "the adapter of this process failed");
}

TEST_F(verbs_fault, a_job_that_is_too_large_for_the_adapter_is_told_both_numbers) {
  try {
    const VerbsQueues queues(VerbsDevice(VerbsLibrary::get(), "", {}), 10'000'000);
    FAIL() << "an adapter for ten million peers";
  } catch (const std::runtime_error& error) {
    const std::string said = error.what();
    EXPECT_NE(said.find("10000000 peers need "), std::string::npos) << said;
    EXPECT_NE(said.find(", the adapter has "), std::string::npos) << said;
  }
}

// --- memory that may not be locked -------------------------------------------------------------------------------------

/// While it lives, this thread may lock no more than that, as if it were not root's.
class MemoryLockLimit {
 public:
  explicit MemoryLockLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_MEMLOCK, &before_);
    const rlimit limited{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_MEMLOCK, &limited);
    change_capability(false);
  }
  ~MemoryLockLimit() {
    change_capability(true);
    ::setrlimit(RLIMIT_MEMLOCK, &before_);
  }
  MemoryLockLimit(const MemoryLockLimit&) = delete;
  MemoryLockLimit& operator=(const MemoryLockLimit&) = delete;

 private:
  /// To lock as much as one likes: CAP_IPC_LOCK, if this process is permitted to have it.
  static void change_capability(bool effective) {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
    ::syscall(SYS_capget, &header, sets.data());
    constexpr std::uint32_t bit = CAP_TO_MASK(CAP_IPC_LOCK);
    sets[0].effective = effective ? sets[0].effective | (sets[0].permitted & bit) : sets[0].effective & ~bit;
    ::syscall(SYS_capset, &header, sets.data());
  }

  rlimit before_{};
};

constexpr rlim_t little = rlim_t{64} << 10;
const std::string says_the_limit_and_the_command = "may lock 64 KB of memory: raise that with `ulimit -l unlimited`";

TEST_F(verbs_fault, too_little_memory_at_the_start_is_said_with_the_limit_and_the_command) {
  const MemoryLockLimit limit(little);
  try {
    const VerbsQueues queues(VerbsDevice(VerbsLibrary::get(), "", {}), 1);
    FAIL() << "64 KB were enough";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find(says_the_limit_and_the_command), std::string::npos) << error.what();
  }
}

TEST_F(verbs_fault, too_little_memory_for_one_more_connection_ends_it_with_the_same_words) {
  const MemoryLockLimit limit(little);
  EXPECT_FALSE(send(host(0), Peer{1}, "hello"));
  const std::string said = verdict_of(0);
  // The other side may have been the first to find out, and is gone.
  if (said.find("its process ended") == std::string::npos) {
    EXPECT_NE(said.find("this process cannot connect to it"), std::string::npos) << said;
    EXPECT_NE(said.find(says_the_limit_and_the_command), std::string::npos) << said;
  } else {
    expect_verdict(1, says_the_limit_and_the_command);
  }
}

TEST_F(verbs_fault, memory_beyond_the_limit_is_refused_with_its_cause) {
  std::vector<std::byte> bytes(1 << 20);
  const MemoryLockLimit limit(little);
  Registration registration;
  errno = 0;
  EXPECT_FALSE(host(0).register_memory(ByteRange::of(bytes.data(), bytes.size()), registration));
  EXPECT_EQ(errno, ENOMEM);
}

}  // namespace
}  // namespace sluice
