// The micro-benchmarks of RV (sections 4.1.1 and 4.2.2) on the model of an adapter: the processes of one adapter and those of
// another exchange messages, all at the same time, again and again. Time is the model's, so a figure is the same in each run, on
// any machine.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/config/config.hpp"
#include "tests/unit/support/model_adapter.hpp"

namespace sluice {

/// What a process starts, in this order, before it waits for all of it.
struct ExchangeOperation {
  bool is_send = false;
  Rank peer{};
};
using ExchangeStep = std::vector<ExchangeOperation>;
/// The steps of one exchange of a process, by its rank and the number of processes.
using ExchangePattern = std::vector<ExchangeStep> (*)(std::size_t self, std::size_t processes);

/// Everybody with the one that has its place on the other adapter: Irecv, Isend, Waitall.
std::vector<ExchangeStep> bowtie_pattern(std::size_t self, std::size_t processes);
/// MPI_Alltoall as the paper writes it out: everybody with all, itself too, four at a time.
std::vector<ExchangeStep> alltoall_pattern(std::size_t self, std::size_t processes);

struct ModelExchange {
  ExchangePattern pattern = bowtie_pattern;
  Rendezvous protocol{};
  std::size_t bytes = 0;
  /// Receives are posted so long before the sends of the same exchange, which a process spends on its own; it begins that when
  /// all have ended the exchange before. 0: everybody goes on by itself, and receives are posted in the order of the pattern.
  AdapterKnobs::Nanoseconds ahead = 0;
  bool equal_last = false;  // every message ends with the byte that putnr puts there before: its worst case
  int warm_up = 4;
  int trials = 16;
};

/// RV's machine as far as the paper tells, table 1: 6.79 GB/s, 16 processes on an adapter. It says that a notification takes
/// hundreds of cycles at 2.6 GHz; of the cost of control messages only that it is multiplied by the number of processes. That
/// cost is chosen so that the first of the paper's figures nearly comes out (24.6 %); the others follow from it. Latency is
/// what adapters of those years are known for.
AdapterKnobs machine_of_rv();

/// Of one exchange, from start to end on each process, in the mean, ns, without the time that receives are posted ahead. Two
/// adapters take part.
double nanoseconds_of(const ModelExchange& exchange, const AdapterKnobs& knobs = machine_of_rv());

}  // namespace sluice
