#include "runtime/engine/matching.hpp"

#include <algorithm>
#include <cstring>

namespace sluice {
namespace {

// User tags are not negative; MPI_ANY_TAG accepts every one of them.
bool tag_accepts(Tag wanted, Tag tag) { return wanted == tag || wanted == any_tag; }

}  // namespace

void Unexpected::keep(std::span<const std::byte> payload) {
  if (payload.empty()) return;
  payload_ = std::make_unique_for_overwrite<std::byte[]>(payload.size());
  std::memcpy(payload_.get(), payload.data(), payload.size());
  payload_bytes_ = payload.size();
}

void Context::become(std::vector<Peer> group, Rank self) {
  group_ = std::move(group);
  self_ = self;
}

bool Context::contains(Peer peer) const { return std::find(group_.begin(), group_.end(), peer) != group_.end(); }

Context::Source& Context::new_source(std::size_t index) {
  sources_.resize(std::max(index + 1, group_.size()));
  return sources_[index];
}

bool Context::may_be_preceded(const Request& receive) const {
  const auto has_earlier = [&receive](const Posted& list) {
    // Parts of one collective call have one number, and stand in their order.
    for (const Request* other = list.first(); other && other != &receive && other->sequence <= receive.sequence;
         other = Posted::next(other)) {
      if (!other->rtr_open && (tag_accepts(other->tag, receive.tag) || tag_accepts(receive.tag, other->tag))) return true;
    }
    return false;
  };
  return has_earlier(posted_any_) || has_earlier(sources_[static_cast<std::size_t>(receive.rank)].posted);
}

Request* Context::find_posted(Rank from, Tag tag) {
  const auto first_accepting = [tag](const Posted& list) {
    Request* candidate = list.first();
    while (candidate && !tag_accepts(candidate->tag, tag)) candidate = Posted::next(candidate);
    return candidate;
  };
  Request* named = first_accepting(source(from).posted);
  Request* any = first_accepting(posted_any_);
  return named && (!any || named->sequence < any->sequence) ? named : any;
}

Request* Context::match_posted(Rank from, Tag tag) {
  Posted& list = source(from).posted;
  Request* const first = list.first();
  if (first && posted_any_.empty() && tag_accepts(first->tag, tag)) [[likely]] {
    list.remove(first);
    return first;
  }
  Request* receive = find_posted(from, tag);
  if (receive) unpost(receive);
  return receive;
}

void Context::keep_unexpected(Unexpected* message) {
  ++kept;
  message->context = this;
  source(message->source).unexpected.push_back(message);
  arrivals_.push_back(message);
}

Unexpected* Context::search_unexpected(Rank from, Tag tag) const {
  if (from == any_source) {
    Unexpected* message = arrivals_.first();
    while (message && !tag_accepts(tag, message->tag)) message = ByArrival::next(message);
    return message;
  }
  const auto index = static_cast<std::size_t>(from);
  if (index >= sources_.size()) return nullptr;
  Unexpected* message = sources_[index].unexpected.first();
  while (message && !tag_accepts(tag, message->tag)) message = BySource::next(message);
  return message;
}

const Unexpected* Context::find_nonmember() const {
  const Unexpected* message = arrivals_.first();
  while (message && accepts(message->from, message->source)) message = ByArrival::next(message);
  return message;
}

void Context::remove_unexpected(Unexpected* message) {
  source(message->source).unexpected.remove(message);
  arrivals_.remove(message);
}

}  // namespace sluice
