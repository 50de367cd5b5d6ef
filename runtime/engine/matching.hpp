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
#include <optional>
#include <span>
#include <vector>

#include "runtime/base/types.hpp"
#include "runtime/config/config.hpp"
#include "runtime/engine/request.hpp"
#include "runtime/transport/message.hpp"

namespace sluice {

/// A message that came before its receive: an eager one with its bytes, or the announcement of a large one with
/// the bytes that it brought along.
class Unexpected {
 public:
  Context* context = nullptr;
  Peer from{};
  Rank source{};
  Tag tag{};
  MessageKind kind{};
  std::uint8_t flags = 0;
  std::size_t message_bytes = 0;
  std::uint64_t sender_request = 0;      // rts, synchronous eager
  std::uint64_t sender_address = 0;      // rts
  std::uint64_t registered_address = 0;  // rts
  std::uint32_t sender_key = 0;          // rts
  std::uint8_t last_byte = 0;            // rts
  std::uint32_t number = 0;              // in the trace
  ListLink<Unexpected> source_link;
  ListLink<Unexpected> arrival_link;

  [[nodiscard]] std::span<const std::byte> payload() const { return {payload_.get(), payload_bytes_}; }
  void keep(std::span<const std::byte> payload);

 private:
  std::unique_ptr<std::byte[]> payload_;
  std::size_t payload_bytes_ = 0;
};

class Context {
 public:
  explicit Context(ContextId id) : id_(id) {}

  [[nodiscard]] ContextId id() const { return id_; }
  [[nodiscard]] Rank self() const { return self_; }
  [[nodiscard]] Peer peer(Rank rank) const { return group_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] bool contains(Peer peer) const;
  /// Whether `rank` is a rank of `peer`, as far as that is known: a context that has no group yet accepts everybody.
  [[nodiscard]] bool accepts(Peer peer, Rank rank) const {
    const auto index = static_cast<std::size_t>(rank);
    return index < group_.size() ? group_[index] == peer : group_.empty();
  }
  void become(std::vector<Peer> group, Rank self);
  [[nodiscard]] std::size_t size() const { return group_.size(); }

  /// `receive->sequence` grows with every call, but for parts of one collective call, which accept no wildcards.
  void post(Request* receive) { posted(receive->rank).push_back(receive); }
  void unpost(Request* receive) { posted(receive->rank).remove(receive); }
  /// An earlier receive that is posted and not announced to its sender could accept the same message.
  [[nodiscard]] bool may_be_preceded(const Request& receive) const;
  /// The first posted receive that accepts the message; `match_posted` takes it.
  [[nodiscard]] Request* find_posted(Rank source, Tag tag);
  Request* match_posted(Rank source, Tag tag);

  void keep_unexpected(Unexpected* message);
  /// The first message that (source, tag), possibly wildcards, accepts; stays in its lists.
  [[nodiscard]] Unexpected* find_unexpected(Rank source, Tag tag) const {
    return arrivals_.empty() ? nullptr : search_unexpected(source, tag);
  }
  void remove_unexpected(Unexpected* message);
  /// A receive that waits for a message from `source` in particular.
  template <typename Accepts>
  [[nodiscard]] const Request* find_posted_from(Rank source, Accepts accepts) const {
    const auto index = static_cast<std::size_t>(source);
    if (index >= sources_.size()) return nullptr;
    const Request* receive = sources_[index].posted.first();
    while (receive && !accepts(*receive)) receive = Posted::next(receive);
    return receive;
  }
  /// Some message from `source` that no receive has met has such a tag.
  template <typename Accepts>
  [[nodiscard]] bool has_unexpected(Rank source, Accepts accepts) const {
    const auto index = static_cast<std::size_t>(source);
    if (index >= sources_.size()) return false;
    for (Unexpected* message = sources_[index].unexpected.first(); message; message = BySource::next(message)) {
      if (accepts(message->tag)) return true;
    }
    return false;
  }
  /// A message that came before the group was known, and is of none of its members; nullptr when all are.
  [[nodiscard]] const Unexpected* find_nonmember() const;

  std::size_t operations = 0;      // requests that refer to this context
  std::size_t buffered_sends = 0;  // of these, that have not left yet
  bool retired = false;
  bool errors_return = false;            // the program may go on after an error
  std::optional<Rendezvous> rendezvous;  // in place of what SLUICE_RNDV asks for inside a node
  bool is_channel = false;               // of collective calls
  Context* channel = nullptr;            // of its collective calls, since the first one that goes by messages
  std::uint32_t collective_calls = 0;    // of a channel: begun so far
  std::uint32_t persistent_calls = 0;    // of a channel: made so far
  std::uint64_t kept = 0;                // messages so far that met no receive

 private:
  using Posted = IntrusiveList<Request, &Request::match_link>;
  using BySource = IntrusiveList<Unexpected, &Unexpected::source_link>;
  using ByArrival = IntrusiveList<Unexpected, &Unexpected::arrival_link>;

  struct Source {
    Posted posted;
    BySource unexpected;
  };
  Source& source(Rank rank) {
    const auto index = static_cast<std::size_t>(rank);
    return index < sources_.size() ? sources_[index] : new_source(index);
  }
  Source& new_source(std::size_t index);
  Posted& posted(Rank wanted) { return wanted == any_source ? posted_any_ : source(wanted).posted; }
  [[nodiscard]] Unexpected* search_unexpected(Rank source, Tag tag) const;

  ContextId id_;
  Rank self_{};
  std::vector<Peer> group_;
  std::vector<Source> sources_;
  Posted posted_any_;
  ByArrival arrivals_;
};

}  // namespace sluice
