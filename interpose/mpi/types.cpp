// MPI_Type_free: after it the handle may name another type.
#include "interpose/mpi/datatypes.hpp"
#include "interpose/mpi/entry.hpp"

namespace sluice::calls {
namespace {

int Type_free(CallSite, MPI_Datatype* type) {
  const TypeFree free(type ? *type : nullptr);
  return host().Type_free(type);
}

}  // namespace
}  // namespace sluice::calls

#include "exports.hpp"
EXPORT(Type_free)
