#include "runtime/engine/wire_check.hpp"

#include <gtest/gtest.h>

#include "runtime/engine/matching.hpp"

namespace sluice {
namespace {

constexpr std::size_t job_size = 3;

WireHeader matching(Rank source, Tag tag) {
  WireHeader header;
  header.kind = MessageKind::eager;
  header.source = source;
  header.tag = tag;
  return header;
}

TEST(WireCheck, an_announcement_says_one_thing_of_where_its_data_is) {
  const ReadyToSend rts{.message_bytes = 100, .sender_address = 4096};
  EXPECT_EQ(rts_fault(flag_rdma | flag_registered, rts), nullptr);
  EXPECT_EQ(rts_fault(flag_rdma, rts), nullptr);
  EXPECT_NE(rts_fault(flag_registered, rts), nullptr);
  EXPECT_NE(rts_fault(flag_rdma | flag_registered | flag_contiguous, rts), nullptr);
  EXPECT_NE(rts_fault(flag_contiguous | flag_registered, rts), nullptr);
}

TEST(WireCheck, an_adapter_reads_beside_copies_of_a_block_only) {
  ReadyToSend rts{.message_bytes = 4096, .sender_address = 4096, .registered_address = 8192};
  EXPECT_EQ(rts_fault(flag_contiguous | flag_block | flag_registered, rts), nullptr);
  EXPECT_NE(rts_fault(flag_contiguous | flag_block | flag_registered | flag_rdma, rts), nullptr);
  rts.registered_address = ~std::uint64_t{0} - 4094;
  EXPECT_NE(rts_fault(flag_contiguous | flag_block | flag_registered, rts), nullptr);
}

TEST(WireCheck, memory_of_a_peer_lies_in_one_address_space) {
  EXPECT_NE(rts_fault(flag_rdma | flag_registered, {.message_bytes = 4096, .sender_address = ~std::uint64_t{0} - 4094}), nullptr);
}

TEST(WireCheckMatching, source_is_the_senders_rank_in_the_group) {
  Context context(ContextId{5});
  context.become({Peer{2}, Peer{1}}, Rank{0});
  EXPECT_EQ(matching_fault(context, Peer{1}, matching(Rank{1}, Tag{0}), job_size), nullptr);
  EXPECT_NE(matching_fault(context, Peer{1}, matching(Rank{0}, Tag{0}), job_size), nullptr);
  EXPECT_NE(matching_fault(context, Peer{1}, matching(Rank{2}, Tag{0}), job_size), nullptr);
}

TEST(WireCheckMatching, source_is_some_rank_of_the_job_while_the_group_is_unknown) {
  const Context context(ContextId{5});
  EXPECT_EQ(matching_fault(context, Peer{1}, matching(Rank{2}, Tag{0}), job_size), nullptr);
  EXPECT_NE(matching_fault(context, Peer{1}, matching(Rank{3}, Tag{0}), job_size), nullptr);
  EXPECT_NE(matching_fault(context, Peer{1}, matching(Rank{0x7fffffff}, Tag{0}), job_size), nullptr);
  EXPECT_NE(matching_fault(context, Peer{1}, matching(any_source, Tag{0}), job_size), nullptr);
}

TEST(WireCheckMatching, tags_are_not_negative) {
  const Context context(ContextId{5});
  EXPECT_NE(matching_fault(context, Peer{1}, matching(Rank{0}, any_tag), job_size), nullptr);
}

TEST(WireCheckMatching, a_message_kept_before_the_group_was_known_is_found_when_its_sender_is_no_member) {
  Context context(ContextId{5});
  auto* message = new Unexpected;
  message->from = Peer{1};
  message->source = Rank{0};
  context.keep_unexpected(message);
  EXPECT_EQ(context.find_nonmember(), nullptr);
  context.become({Peer{0}, Peer{1}}, Rank{0});
  EXPECT_EQ(context.find_nonmember(), message);
  context.remove_unexpected(message);
  delete message;
}

}  // namespace
}  // namespace sluice
