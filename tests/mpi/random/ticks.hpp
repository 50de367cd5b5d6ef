// A timer whose signal interrupts the program every other millisecond, as a profiler does.
#pragma once

namespace random_program {

class Ticks {
 public:
  Ticks();
  ~Ticks();
  Ticks(const Ticks&) = delete;
  Ticks& operator=(const Ticks&) = delete;
};

}  // namespace random_program
