#include "interpose/session/node_calibration.hpp"

#include <chrono>
#include <cstdio>
#include <thread>
#include <type_traits>

#include "interpose/host/host.hpp"
#include "runtime/machine/calibration_file.hpp"

namespace sluice {
namespace {

constexpr std::chrono::microseconds nap{100};

struct Told {
  Calibration calibration;
  bool is_final = true;
};
static_assert(std::is_trivially_copyable_v<Told>);

/// MPI_Bcast of a host may spin, on the processor that the measurement wants.
void wait_asleep(MPI_Request request) {
  for (int done = 0; done == 0;) {
    host().Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0) std::this_thread::sleep_for(nap);
  }
}

}  // namespace

Calibration agree_on_calibration(const std::string& setting, MPI_Comm node) {
  const bool first = rank_in(node) == 0;
  Told told;
  if (first) {
    const CalibrationInForce stored = stored_calibration(setting);
    told = {stored.calibration, !stored.may_measure()};
    if (!stored.warning.empty()) std::fprintf(stderr, "sluice: warning: %s; it is measured anew\n", stored.warning.c_str());
  }
  host().Bcast(&told, sizeof told, predefined().byte, 0, node);
  if (told.is_final) return told.calibration;
  if (first) told.calibration = find_calibration(setting).calibration;
  MPI_Request request = predefined().request_null;
  host().Ibcast(&told, sizeof told, predefined().byte, 0, node, &request);
  wait_asleep(request);
  return told.calibration;
}

}  // namespace sluice
