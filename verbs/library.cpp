#include "verbs/library.hpp"

#include <dlfcn.h>

#include <cstring>
#include <stdexcept>
#include <string>

namespace sluice {
namespace {

constexpr const char* file_name = "libibverbs.so.1";

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (!function) throw std::runtime_error(std::string(file_name) + " has no " + name + ": it is too old");
}

VerbsLibrary load() {
  void* const library = ::dlmopen(LM_ID_NEWLM, file_name, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char* const why = ::dlerror();
    throw std::runtime_error(why ? why : std::string(file_name) + " cannot be loaded");
  }
  VerbsLibrary functions;
  find(library, "ibv_get_device_list", functions.get_device_list);
  find(library, "ibv_free_device_list", functions.free_device_list);
  find(library, "ibv_get_device_name", functions.get_device_name);
  find(library, "ibv_open_device", functions.open_device);
  find(library, "ibv_close_device", functions.close_device);
  find(library, "ibv_query_device", functions.query_device);
  find(library, "ibv_query_port", functions.query_port_of_old);
  find(library, "_ibv_query_gid_ex", functions.query_gid_ex);
  find(library, "ibv_alloc_pd", functions.alloc_pd);
  find(library, "ibv_dealloc_pd", functions.dealloc_pd);
  find(library, "ibv_reg_mr", functions.reg_mr);
  find(library, "ibv_dereg_mr", functions.dereg_mr);
  find(library, "ibv_create_comp_channel", functions.create_comp_channel);
  find(library, "ibv_destroy_comp_channel", functions.destroy_comp_channel);
  find(library, "ibv_create_cq", functions.create_cq);
  find(library, "ibv_destroy_cq", functions.destroy_cq);
  find(library, "ibv_get_cq_event", functions.get_cq_event);
  find(library, "ibv_ack_cq_events", functions.ack_cq_events);
  find(library, "ibv_create_srq", functions.create_srq);
  find(library, "ibv_destroy_srq", functions.destroy_srq);
  find(library, "ibv_create_qp", functions.create_qp);
  find(library, "ibv_modify_qp", functions.modify_qp);
  find(library, "ibv_destroy_qp", functions.destroy_qp);
  find(library, "ibv_get_async_event", functions.get_async_event);
  find(library, "ibv_ack_async_event", functions.ack_async_event);
  find(library, "ibv_wc_status_str", functions.wc_status_str);
  find(library, "ibv_event_type_str", functions.event_type_str);
  find(library, "__errno_location", functions.errno_location);
  return functions;
}

}  // namespace

const VerbsLibrary& VerbsLibrary::get() {
  static const VerbsLibrary library = load();
  return library;
}

int VerbsLibrary::query_port(ibv_context* context, std::uint8_t port, ibv_port_attr& attributes) const {
  std::memset(&attributes, 0, sizeof attributes);
  if (const verbs_context* extended = verbs_get_ctx_op(context, query_port)) {
    return extended->query_port(context, port, &attributes, sizeof attributes);
  }
  return query_port_of_old(context, port, reinterpret_cast<_compat_ibv_port_attr*>(&attributes));
}

}  // namespace sluice
