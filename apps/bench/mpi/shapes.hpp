// The shapes of memory that datatypes describe, one for each way to make a type, with gaps that are small and large, inside an
// element and at its end.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>

namespace bench {

struct Shape {
  const char* name;
  MPI_Datatype (*make)(std::size_t bytes);  // not committed; `bytes`: of the message, for a type that is all of it
};

std::span<const Shape> shapes();

/// Elements of a shape that have about so many packed bytes together.
class Typed {
 public:
  Typed(const Shape& shape, std::size_t bytes);
  ~Typed();
  Typed(const Typed&) = delete;
  Typed& operator=(const Typed&) = delete;

  [[nodiscard]] MPI_Datatype type() const { return type_; }
  [[nodiscard]] int count() const { return count_; }
  /// Bytes from the first to the last one.
  [[nodiscard]] std::size_t span() const { return span_; }

 private:
  MPI_Datatype type_;
  int count_;
  std::size_t span_;
};

}  // namespace bench
