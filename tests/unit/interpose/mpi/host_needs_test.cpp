// What calls of the host's need, by their arguments. Of what Sluice knows of types and communicators, only what is asked is here;
// of the host, nothing (no_host.cpp).

#include "interpose/mpi/host_needs.hpp"

#include <gtest/gtest.h>

#include <array>
#include <initializer_list>
#include <utility>

#include "interpose/mpi/arguments.hpp"

namespace sluice {
namespace detail {

Communicator* world = nullptr;
Communicator* find_communicator(MPI_Comm) { return nullptr; }

}  // namespace detail

namespace {

using Reach = HostNeeds::Reach;

constexpr int ranks = 4;

int this_rank = 0;
int tell_rank(MPI_Comm, int* rank) {
  *rank = this_rank;
  return MPI_SUCCESS;
}

/// Handles are addresses.
std::array<char, 8> handles;
const auto comm = reinterpret_cast<MPI_Comm>(&handles[0]);
const auto foreign_comm = reinterpret_cast<MPI_Comm>(&handles[1]);
const auto number = reinterpret_cast<MPI_Datatype>(&handles[2]);   // 4 bytes
const auto gapped = reinterpret_cast<MPI_Datatype>(&handles[3]);   // 4 bytes at 4 and at 12 of every 20
const auto unknown = reinterpret_cast<MPI_Datatype>(&handles[4]);  // not decoded
const MPI_Op op = nullptr;

const FlatType flat_number{.size = 4, .simple = true, .layout = Layout::contiguous(4)};
const FlatType flat_gapped{
    .size = 8, .simple = false, .layout = std::make_shared<const Layout>(std::vector<StridedRun>{{4, 4, 8, 2}}, 20)};

}  // namespace

const FlatType* flat_type(MPI_Datatype type) { return type == number ? &flat_number : type == gapped ? &flat_gapped : nullptr; }

namespace {

alignas(16) std::array<std::byte, 1 << 16> sent;
alignas(16) std::array<std::byte, 1 << 16> received;
/// Who looks at it dies.
void* const garbage_buffer = reinterpret_cast<void*>(std::uintptr_t{24});

struct Expected {
  Access access;
  const void* base;
  std::size_t begin;
  std::size_t end;
};

class HostNeedsTest : public testing::Test {
 protected:
  HostNeedsTest() {
    this_rank = 1;
    detail::host_table.Comm_rank = tell_rank;
    world_.handle = comm;
    world_.size = ranks;
    detail::world = &world_;
  }

  static void expect(const HostNeeds& needs, Reach reach, std::initializer_list<Expected> buffers) {
    EXPECT_EQ(needs.reach(), reach);
    ASSERT_EQ(needs.buffers().size(), buffers.size());
    const HostNeeds::Buffer* found = needs.buffers().data();
    for (const Expected& wanted : buffers) {
      const auto base = reinterpret_cast<std::uintptr_t>(wanted.base);
      EXPECT_EQ(found->access, wanted.access);
      EXPECT_EQ(found->bytes.begin - base, wanted.begin);
      EXPECT_EQ(found->bytes.end - base, wanted.end);
      ++found;
    }
  }
  static Expected read(std::size_t begin, std::size_t end) { return {Access::read, sent.data(), begin, end}; }
  static Expected written(std::size_t begin, std::size_t end) { return {Access::write, received.data(), begin, end}; }

  Communicator world_;
  void* const out_ = received.data();
  const void* const in_ = sent.data();
};

TEST_F(HostNeedsTest, a_barrier_has_no_buffers) { expect(host_needs::barrier(comm), Reach::copied, {}); }

TEST_F(HostNeedsTest, a_sum_reads_one_buffer_and_writes_the_other) {
  expect(host_needs::allreduce(in_, out_, 2, number, op, comm), Reach::copied, {read(0, 8), written(0, 8)});
  expect(host_needs::allreduce(MPI_IN_PLACE, out_, 2, number, op, comm), Reach::copied, {written(0, 8)});
  expect(host_needs::allreduce(in_, out_, 257, number, op, comm), Reach::everything, {read(0, 1028), written(0, 1028)});
  expect(host_needs::allreduce(in_, out_, 0, number, op, comm), Reach::copied, {});
}

TEST_F(HostNeedsTest, a_type_with_gaps_is_taken_from_its_first_byte_to_its_last) {
  expect(host_needs::allreduce(in_, out_, 3, gapped, op, comm), Reach::copied, {read(4, 56), written(4, 56)});
}

TEST_F(HostNeedsTest, what_is_not_understood_needs_everything) {
  const auto of_type = [&](MPI_Datatype type) { return host_needs::allreduce(in_, out_, 1, type, op, comm).reach(); };
  EXPECT_EQ(of_type(unknown), Reach::everything);
  EXPECT_EQ(host_needs::allreduce(in_, out_, 1, number, op, foreign_comm).reach(), Reach::everything);
  EXPECT_EQ(host_needs::allreduce(nullptr, out_, 1, number, op, comm).reach(), Reach::everything);
  EXPECT_EQ(host_needs::allreduce(in_, out_, -1, number, op, comm).reach(), Reach::everything);
  const int* none = nullptr;
  EXPECT_EQ(host_needs::allgatherv(in_, 1, number, out_, none, none, number, comm).reach(), Reach::everything);
}

TEST_F(HostNeedsTest, a_root_reads_and_the_others_write) {
  expect(host_needs::bcast(out_, 3, number, 0, comm), Reach::copied, {written(0, 12)});
  this_rank = 0;
  expect(host_needs::bcast(out_, 3, number, 0, comm), Reach::copied, {{Access::read, out_, 0, 12}});
}

TEST_F(HostNeedsTest, what_only_the_root_is_to_give_is_looked_at_there_only) {
  expect(host_needs::reduce(in_, garbage_buffer, 3, number, op, 0, comm), Reach::copied, {read(0, 12)});
  expect(host_needs::gather(in_, 3, number, garbage_buffer, -7, unknown, 0, comm), Reach::copied, {read(0, 12)});
  expect(host_needs::scatter(garbage_buffer, -7, unknown, out_, 3, number, 0, comm), Reach::copied, {written(0, 12)});
  this_rank = 0;
  expect(host_needs::reduce(MPI_IN_PLACE, out_, 3, number, op, 0, comm), Reach::copied, {written(0, 12)});
  expect(host_needs::gather(MPI_IN_PLACE, -7, unknown, out_, 3, number, 0, comm), Reach::copied, {written(0, 48)});
  expect(host_needs::scatter(in_, 3, number, MPI_IN_PLACE, -7, unknown, 0, comm), Reach::copied, {read(0, 48)});
}

TEST_F(HostNeedsTest, a_message_of_a_tree_is_as_long_as_what_all_ranks_bring) {
  expect(host_needs::gather(in_, 64, number, garbage_buffer, 0, unknown, 0, comm), Reach::copied, {read(0, 256)});
  expect(host_needs::gather(in_, 65, number, garbage_buffer, 0, unknown, 0, comm), Reach::everything, {read(0, 260)});
  expect(host_needs::allgather(in_, 65, number, out_, 65, number, comm), Reach::everything, {read(0, 260), written(0, 1040)});
  expect(host_needs::alltoall(in_, 3, number, out_, 3, number, comm), Reach::copied, {read(0, 48), written(0, 48)});
  expect(host_needs::alltoall(MPI_IN_PLACE, -7, unknown, out_, 3, number, comm), Reach::copied, {written(0, 48)});
  expect(host_needs::reduce_scatter_block(in_, out_, 3, number, op, comm), Reach::copied, {read(0, 48), written(0, 12)});
  expect(host_needs::reduce_scatter_block(MPI_IN_PLACE, out_, 3, number, op, comm), Reach::copied, {written(0, 48)});
}

TEST_F(HostNeedsTest, blocks_are_taken_from_the_first_to_the_last_that_is_not_empty) {
  const std::array<int, ranks> counts{1, 2, 0, 3};
  const std::array<int, ranks> places{10, 4, 1000, 20};
  const auto gathered = [&](const void* in, const std::array<int, ranks>& of, MPI_Datatype type) {
    return host_needs::allgatherv(in, 2, number, out_, of.data(), places.data(), type, comm);
  };
  expect(gathered(in_, counts, number), Reach::copied, {read(0, 8), written(16, 92)});
  expect(gathered(MPI_IN_PLACE, counts, gapped), Reach::copied, {written(4 * 20 + 4, 22 * 20 + 16)});
  expect(gathered(in_, {1, 0, 0, 256}, number), Reach::everything, {read(0, 8), written(40, 1104)});
  EXPECT_EQ(gathered(in_, counts, unknown).reach(), Reach::everything);
  expect(host_needs::reduce_scatter(in_, out_, counts.data(), number, op, comm), Reach::copied, {read(0, 24), written(0, 8)});
}

TEST_F(HostNeedsTest, large_counts_are_taken_as_they_are) {
  const std::array<MPI_Count, ranks> counts{1, 2, 0, 3};
  const std::array<MPI_Aint, ranks> places{10, 4, 1000, 20};
  expect(host_needs::allgatherv(in_, MPI_Count{2}, number, out_, counts.data(), places.data(), number, comm), Reach::copied,
         {read(0, 8), written(16, 92)});
}

TEST_F(HostNeedsTest, packing_is_local_and_has_the_whole_packed_buffer) {
  int position = 4;
  expect(host_needs::pack(in_, 3, number, out_, 100, &position, comm), Reach::local, {read(0, 12), written(0, 100)});
  expect(host_needs::unpack(in_, 100, &position, out_, 3, number, comm), Reach::local, {read(0, 100), written(0, 12)});
  expect(host_needs::reduce_local(in_, out_, 1000, number, op), Reach::local, {read(0, 4000), written(0, 4000)});
}

}  // namespace
}  // namespace sluice
