// Counts what a piece of code does, instruction by instruction: the calling thread runs it with the processor's trap flag set,
// and a signal handler looks at each instruction before it is executed.
//
// Counted are: instructions of this program's own code that lock the memory bus (a lock prefix, xchg with memory, mfence), and
// entries of pthread_mutex_lock; branches of its own code to an address that is not known when it is linked (virtual functions,
// pointers to functions; also jumps by a table, which a compiler may make of a switch); entries of the functions that allocate
// memory; and system calls. Plain loads and stores of atomic variables look like any other and are not counted, nor is what the
// libraries do inside.
//
// One thread at a time.
#pragma once

#include <cstddef>

namespace sluice {

struct StepCounts {
  std::size_t instructions = 0;
  std::size_t locked = 0;
  std::size_t indirect = 0;
  std::size_t allocations = 0;
  std::size_t system_calls = 0;
};

namespace step_counter {
void start();
StepCounts stop();
}  // namespace step_counter

template <class Work>
StepCounts count_steps(Work&& work) {
  step_counter::start();
  work();
  return step_counter::stop();
}

}  // namespace sluice
