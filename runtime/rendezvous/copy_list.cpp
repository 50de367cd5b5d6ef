#include "runtime/rendezvous/copy_list.hpp"

namespace sluice {
namespace {

Request* first_of_peer(const WorkList& list, Peer peer) {
  constexpr int max_looked_at = 16;
  int looked_at = 0;
  for (Request* other = list.first(); other && looked_at < max_looked_at; other = WorkList::next(other), ++looked_at) {
    if (other->peer == peer) return other;
  }
  return nullptr;
}

}  // namespace

Request* place_of_new(const WorkList& list, const Request& request) {
  Request* other = first_of_peer(list, request.peer);
  return other && other->data != request.data ? other : nullptr;
}

Request* place_again(const WorkList& list, const Request& request, bool leaves_own_cache) {
  Request* other = first_of_peer(list, request.peer);
  const bool takes_turns = other && other->data == request.data && leaves_own_cache;
  return takes_turns ? nullptr : other;
}

}  // namespace sluice
