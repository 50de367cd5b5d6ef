#include "runtime/engine/statistics.hpp"

namespace sluice {

const char* describe(Fallback reason) {
  switch (reason) {
    case Fallback::wildcard_unmatched:
      return "wildcard receive, message not known yet";
    case Fallback::not_contiguous:
      return "datatype with gaps, message there or gaps too wide";
    case Fallback::host_outstanding:
      return "host operations in flight";
    case Fallback::foreign_handler:
      return "application handles SIGSEGV";
    case Fallback::call_site_never_pays:
      return "call site whose releases never pay";
    case Fallback::not_eligible:
      return "buffer cannot be an alias block";
    case Fallback::not_worth:
      return "rest arrives sooner than a release costs";
    case Fallback::guard_refused:
      return "protection refused or too many releases";
    case Fallback::mode_matched_only:
      return "not matched yet (SLUICE_RELEASE=matched)";
    case Fallback::concurrent_calls:
      return "not matched yet (MPI_THREAD_MULTIPLE)";
    case Fallback::other_copy:
      return "message not carried by single copy of the sender";
    case Fallback::write_refused:
      return "peer could not write into this process's memory";
    case Fallback::read_refused:
      return "cross-memory attach failed";
    case Fallback::send_not_offered:
      return "send from a buffer that was no alias block";
    case Fallback::send_answered:
      return "send whose receiver has come";
    case Fallback::registration_refused:
      return "memory could not be registered";
    case Fallback::rtr_open:
      return "announced, sender not yet asked to wait or not answered";
    case Fallback::page_closed:
      return "read by the receiver stopped at a page under guard";
    case Fallback::errors_return:
      return "not matched yet, and error handler returns";
    case Fallback::shared_window:
      return "not matched yet, and a shared window is open";
    case Fallback::count:
      break;
  }
  return "";
}

}  // namespace sluice
