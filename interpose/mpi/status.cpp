#include "interpose/mpi/status.hpp"

#include "interpose/mpi/entry.hpp"

namespace sluice {

MPI_Status with_true_count(const MPI_Status& status) {
  MPI_Status copy = status;
  if (status._ucount & lazy_count_mark) copy._ucount = engine().memory().resolve(status._ucount & ~lazy_count_mark);
  return copy;
}

namespace calls {
namespace {

bool is_lazy(const MPI_Status* status) { return status != MPI_STATUS_IGNORE && (status->_ucount & lazy_count_mark) != 0; }

/// Calls the host on the status itself, or on a copy with the true count.
template <typename HostCall, typename... Arguments>
int count_in(HostCall host_call, const MPI_Status* status, Arguments... arguments) {
  if (!is_lazy(status)) [[likely]]
    return host_call(status, arguments...);
  const MPI_Status known = with_true_count(*status);
  return host_call(&known, arguments...);
}

int Get_count(CallSite, const MPI_Status* status, MPI_Datatype type, int* count) {
  return count_in(host().Get_count, status, type, count);
}

int Get_elements(CallSite, const MPI_Status* status, MPI_Datatype type, int* count) {
  return count_in(host().Get_elements, status, type, count);
}

int Get_elements_x(CallSite, const MPI_Status* status, MPI_Datatype type, MPI_Count* count) {
  return count_in(host().Get_elements_x, status, type, count);
}

int Get_count_c(CallSite, const MPI_Status* status, MPI_Datatype type, MPI_Count* count) {
  return count_in(host().Get_count_c, status, type, count);
}

int Get_elements_c(CallSite, const MPI_Status* status, MPI_Datatype type, MPI_Count* count) {
  return count_in(host().Get_elements_c, status, type, count);
}

}  // namespace
}  // namespace calls
}  // namespace sluice

#include "exports.hpp"
EXPORT(Get_count)
EXPORT(Get_elements)
EXPORT(Get_elements_x)
EXPORT(Get_count_c)
EXPORT(Get_elements_c)
