// libibverbs, loaded when it is first asked for: Sluice works where it is not installed.
//
// It is loaded into a namespace of its own (dlmopen), with a C library of its own, for three reasons:
//   * its memory does not come from the application's allocator. The helper thread and the fault handler open queue pairs and
//     register memory while the application may be stopped inside malloc, holding its lock, on a page that only they complete;
//   * its read, write, ioctl and munmap are not those that libsluice.so puts in front of the application's;
//   * the host MPI may use libibverbs too. Whether that one was told to keep registered pages from forked children
//     (ibv_fork_init) is no matter of this one, which never is: alias pages and the buffers of this transport are shared
//     mappings, which fork does not copy, and where a child must get a copy of an application page the kernel makes it at once
//     (copy-on-fork of pinned pages, Linux 5.12 and later).
//
// errno of its calls is that of its own C library: `error`.
//
// Threading: `get` any thread; the functions as libibverbs has it.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace sluice {

struct VerbsLibrary {
  /// Throws std::runtime_error that says why there is none; tries once.
  static const VerbsLibrary& get();

  decltype(&::ibv_get_device_list) get_device_list = nullptr;
  decltype(&::ibv_free_device_list) free_device_list = nullptr;
  decltype(&::ibv_get_device_name) get_device_name = nullptr;
  decltype(&::ibv_open_device) open_device = nullptr;
  decltype(&::ibv_close_device) close_device = nullptr;
  decltype(&::ibv_query_device) query_device = nullptr;
  decltype(&::ibv_query_port) query_port_of_old = nullptr;
  decltype(&::_ibv_query_gid_ex) query_gid_ex = nullptr;
  decltype(&::ibv_alloc_pd) alloc_pd = nullptr;
  decltype(&::ibv_dealloc_pd) dealloc_pd = nullptr;
  decltype(&::ibv_reg_mr) reg_mr = nullptr;
  decltype(&::ibv_dereg_mr) dereg_mr = nullptr;
  decltype(&::ibv_create_comp_channel) create_comp_channel = nullptr;
  decltype(&::ibv_destroy_comp_channel) destroy_comp_channel = nullptr;
  decltype(&::ibv_create_cq) create_cq = nullptr;
  decltype(&::ibv_destroy_cq) destroy_cq = nullptr;
  decltype(&::ibv_get_cq_event) get_cq_event = nullptr;
  decltype(&::ibv_ack_cq_events) ack_cq_events = nullptr;
  decltype(&::ibv_create_srq) create_srq = nullptr;
  decltype(&::ibv_destroy_srq) destroy_srq = nullptr;
  decltype(&::ibv_create_qp) create_qp = nullptr;
  decltype(&::ibv_modify_qp) modify_qp = nullptr;
  decltype(&::ibv_destroy_qp) destroy_qp = nullptr;
  decltype(&::ibv_get_async_event) get_async_event = nullptr;
  decltype(&::ibv_ack_async_event) ack_async_event = nullptr;
  decltype(&::ibv_wc_status_str) wc_status_str = nullptr;
  decltype(&::ibv_event_type_str) event_type_str = nullptr;
  int* (*errno_location)() = nullptr;

  /// errno after a call that failed.
  [[nodiscard]] int error() const { return *errno_location(); }
  /// 0, or an error number.
  int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr& attributes) const;
};

}  // namespace sluice
