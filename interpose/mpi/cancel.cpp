// MPI_Cancel and MPI_Request_free. A send cannot be cancelled, here or with the host, and of a collective call the host refuses
// it.
#include "interpose/mpi/entry.hpp"
#include "interpose/mpi/errors.hpp"
#include "interpose/mpi/handles.hpp"

namespace sluice::calls {
namespace {

int Cancel(CallSite site, MPI_Request* request) {
  const Handle* handle = request ? find_handle(*request) : nullptr;
  if (!handle) return host().Cancel(request);
  if (handle->active && handle->active->kind == Request::Kind::collective)
    return raise_error(*handle->communicator, MPI_ERR_REQUEST, site.function());
  if (handle->receives && !handle->is_inactive() && !handle->is_complete()) engine().completion().cancel(*handle->active);
  return MPI_SUCCESS;
}

int Request_free(CallSite, MPI_Request* request) {
  Handle* handle = request ? find_handle(*request) : nullptr;
  if (!handle) return host().Request_free(request);
  discard(*handle, *request);
  return MPI_SUCCESS;
}

}  // namespace
}  // namespace sluice::calls

#include "exports.hpp"
EXPORT(Cancel)
EXPORT(Request_free)
