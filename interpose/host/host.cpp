#include "interpose/host/host.hpp"

#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <iterator>

#include "interpose/host/host_library.hpp"

namespace sluice {
namespace detail {

constinit HostTable host_table{};
constinit Predefined predefined_objects{};
constinit std::atomic<bool> host_resolved{false};

}  // namespace detail

namespace {

/// Of a function, and of the one that a host before MPI-4 may have instead.
struct HostName {
  const char* name;
  const char* older;
};
constexpr HostName host_names[] = {
#include "host_names.inc"
};
static_assert(sizeof(HostTable) == std::size(host_names) * sizeof(void*));

template <typename Object>
void find(Object& object, const char* name) {
  object = static_cast<Object>(host_symbol(name));
}

void find_predefined(Predefined& objects) {
  find(objects.comm_world, "ompi_mpi_comm_world");
  find(objects.comm_self, "ompi_mpi_comm_self");
  find(objects.comm_null, "ompi_mpi_comm_null");
  find(objects.group_null, "ompi_mpi_group_null");
  find(objects.request_null, "ompi_request_null");
  find(objects.message_null, "ompi_message_null");
  find(objects.message_no_proc, "ompi_message_no_proc");
  find(objects.datatype_null, "ompi_mpi_datatype_null");
  find(objects.byte, "ompi_mpi_byte");
  find(objects.packed, "ompi_mpi_packed");
  find(objects.integer, "ompi_mpi_int");
  find(objects.uint64, "ompi_mpi_uint64_t");
  find(objects.info_null, "ompi_mpi_info_null");
  find(objects.max, "ompi_mpi_op_max");
  find(objects.sum, "ompi_mpi_op_sum");
  find(objects.bit_or, "ompi_mpi_op_bor");
  find(objects.replace, "ompi_mpi_op_replace");
  find(objects.no_op, "ompi_mpi_op_no_op");
  find(objects.errors_are_fatal, "ompi_mpi_errors_are_fatal");
  find(objects.errors_return, "ompi_mpi_errors_return");
  find(objects.errors_abort, "ompi_mpi_errors_abort");
}

void resolve_everything() {
  auto* pointers = reinterpret_cast<void**>(&detail::host_table);
  const HostLibrary& library = HostLibrary::get();
  for (const HostName& wanted : host_names) {
    void* found = library.function(wanted.name);
    if (!found && wanted.older) found = library.function(wanted.older);
    *pointers++ = found ? found : reinterpret_cast<void*>(&detail::missing_call);
  }
  if (library.is_known()) find_predefined(detail::predefined_objects);
  detail::host_resolved.store(true, std::memory_order_release);
}

}  // namespace

int detail::missing_call() {
  std::fputs("sluice: this process calls an MPI function that no MPI library which is loaded has\n", stderr);
  std::abort();
}

void detail::resolve_host() {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, resolve_everything);
}

void* host_symbol(const char* name) { return HostLibrary::get().object(name); }

}  // namespace sluice
