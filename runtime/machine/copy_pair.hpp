// Two threads on two processors that hand memory to each other, to measure copies between them: what a copy costs whose target
// the other processor read last, and what reading it costs the other one then.
//
// The caller is one side and stays where it is; the partner is a thread that spins until it gets a job. Of a job only `job_`
// passes from the caller to the partner, by `given_` (release, acquire), and its result back by `done_`.
//
// Where somebody else uses the partner's processor an answer may take long: waits end at the deadline of the pair, and then
// nothing that was measured is to be believed.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <thread>

#include "runtime/copy/copy_engine.hpp"

namespace sluice {

/// One load of every line, as a program that uses what it has received.
void read_lines(const std::byte* memory, std::size_t bytes);
/// One store into each.
void write_lines(std::byte* memory, std::size_t bytes);
/// Some 10 µs of arithmetic that fills all of a core's units and uses no memory.
void compute();

/// Of an array of measurements; the upper one of the two where their number is even.
template <class Values>
[[nodiscard]] auto middle(Values values) {
  const auto half = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), half, values.end());
  return *half;
}

class CopyPair {
 public:
  struct Job {
    enum class What : std::uint8_t { nothing, read, write, copy, compute, leave } what = What::nothing;
    std::byte* memory = nullptr;  // read, written, or the target
    const std::byte* source = nullptr;
    std::size_t bytes = 0;
    CopyFunction copy = nullptr;
  };

  /// The partner runs on this processor if the process may; -1: wherever the kernel puts it. Throws std::system_error when
  /// there can be no thread.
  CopyPair(int processor, std::uint64_t deadline_ns);
  ~CopyPair();
  CopyPair(const CopyPair&) = delete;
  CopyPair& operator=(const CopyPair&) = delete;

  /// Gives the partner a job, after it has done the last.
  void begin(const Job& job);
  /// Until it is done; false: not before the deadline.
  [[nodiscard]] bool await();
  [[nodiscard]] bool run(const Job& job) {
    begin(job);
    return await();
  }

 private:
  void partner(int processor);

  std::uint64_t deadline_ns_;
  std::uint32_t jobs_ = 0;
  Job job_;
  alignas(64) std::atomic<std::uint32_t> given_{0};
  alignas(64) std::atomic<std::uint32_t> done_{0};
  std::thread thread_;
};

/// Whether the two processors are threads of one core: then arithmetic takes longer where both do it, two halves of a copy gain
/// nothing, and no line ever leaves the cache. Virtual machines do not tell it of theirs, and it changes by the second. Takes 1
/// ms. Nothing where the deadline came first.
[[nodiscard]] std::optional<bool> share_a_core(CopyPair& pair);

/// The same by what was measured: how long a line takes there and back, and how much longer arithmetic takes beside the partner's
/// than beside one that waits for a job (the middle of some pairs of trials).
[[nodiscard]] bool is_of_one_core(std::uint64_t round_trip_ns, double slower);

}  // namespace sluice
