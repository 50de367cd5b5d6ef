#include "runtime/rendezvous/consequences.hpp"

#include "runtime/engine/trace_events.hpp"

namespace sluice {

void Consequences::acknowledge_held(Peer peer, std::uint64_t subject, std::uint32_t traced) {
  parts_.outbox.send_control(peer, MessageKind::ack, subject);
  if (trace::on()) [[unlikely]]
    trace::control(trace::Kind::message_out, peer, MessageKind::ack, 0, traced);
}

void Consequences::end_elsewhere(Request& request) {
  parts_.put_receiver.leave(request);
  if (request.rdma) parts_.transfers.end(request);
  if (!request.is_send()) {
    if (request.counted_shared) --parts_.node_way.delivery().shared_receives();
    if (request.in_trial) parts_.copiers.end_trial(request);
    if (request.way != Request::Way::undecided) parts_.copiers.end_expected(request);
    if (request.progress_slot != Transport::no_slot) parts_.node_way.delivery().close(request);
  }
  if (request.released) parts_.causality.ended(request);
}

}  // namespace sluice
