// Matching of one context: posted receives against arriving messages, on (source, tag), in MPI's order.
//
// Posted receives wait in one list per wanted source and one for MPI_ANY_SOURCE; the sequence number of posting decides
// between the two. Unexpected messages are on two lists at once: of their source, and of the context in order of arrival.
// Both kinds of list are searched from the front, so that messages of one sender never overtake each other.
//
// Everything here belongs to the engine lock.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "runtime/message.hpp"
#include "runtime/request.hpp"
#include "runtime/types.hpp"

namespace sluice {

/// A message that came before its receive: an eager one with its bytes, or the announcement of a large one.
class Message {
 public:
  Context* context = nullptr;
  Peer from{};
  Rank source{};
  Tag tag{};
  MessageKind kind{};
  std::uint8_t flags = 0;
  std::size_t message_bytes = 0;
  std::uint64_t sender_request = 0;  // rts, synchronous eager
  std::uint64_t sender_address = 0;  // rts
  ListLink<Message> source_link;
  ListLink<Message> arrival_link;

  [[nodiscard]] std::span<const std::byte> payload() const { return {payload_.get(), payload_ ? message_bytes : 0}; }
  void keep(std::span<const std::byte> payload);

 private:
  std::unique_ptr<std::byte[]> payload_;
};

class Context {
 public:
  explicit Context(ContextId id) : id_(id) {}

  [[nodiscard]] ContextId id() const { return id_; }
  [[nodiscard]] Rank self() const { return self_; }
  [[nodiscard]] Peer peer(Rank rank) const { return group_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] bool contains(Peer peer) const;
  void become(std::vector<Peer> group, Rank self);

  /// `receive->sequence` grows with every call.
  void post(Request* receive);
  void unpost(Request* receive);
  /// Takes the first posted receive that accepts the message.
  Request* match_posted(Rank source, Tag tag);

  void keep_unexpected(Message* message);
  /// The first message that (source, tag), possibly wildcards, accepts; stays in its lists.
  [[nodiscard]] Message* find_unexpected(Rank source, Tag tag) const;
  void remove_unexpected(Message* message);

  std::size_t operations = 0;  // requests that refer to this context
  bool retired = false;

 private:
  using Posted = IntrusiveList<Request, &Request::match_link>;
  using BySource = IntrusiveList<Message, &Message::source_link>;
  using ByArrival = IntrusiveList<Message, &Message::arrival_link>;

  struct Source {
    Posted posted;
    BySource unexpected;
  };
  Source& source(Rank rank);

  ContextId id_;
  Rank self_{};
  std::vector<Peer> group_;
  std::vector<Source> sources_;
  Posted posted_any_;
  ByArrival arrivals_;
};

}  // namespace sluice
