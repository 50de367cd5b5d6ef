#include "runtime/rendezvous/rdma_transfer.hpp"

namespace sluice {

void EndRdmaTransfer::operator()(RdmaTransfer* transfer) const { delete transfer; }

bool Request::is_read_by_adapter() const { return rdma && rdma->outstanding != 0; }

}  // namespace sluice
