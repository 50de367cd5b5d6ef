// Datatypes of random construction: every constructor of MPI-3.1, nested, with gaps, overlaps and backward displacements.
#pragma once

#include <mpi.h>

#include <random>
#include <string>
#include <vector>

namespace layout_check {

class TypeMaker {
 public:
  explicit TypeMaker(unsigned seed) : random_(seed) {}
  ~TypeMaker();
  TypeMaker(const TypeMaker&) = delete;
  TypeMaker& operator=(const TypeMaker&) = delete;

  /// A type made by up to `depth` constructors around predefined types; not committed. Freed by this object.
  MPI_Datatype make(unsigned depth);
  /// How the types made so far were constructed, innermost first.
  [[nodiscard]] const std::string& description() const { return description_; }
  int below(int limit) { return static_cast<int>(random_() % static_cast<unsigned>(limit)); }

 private:
  MPI_Datatype leaf();
  MPI_Datatype strided(MPI_Datatype inner);
  MPI_Datatype indexed(MPI_Datatype inner);
  MPI_Datatype structure(MPI_Datatype inner, unsigned depth);
  MPI_Datatype subarray(MPI_Datatype inner);
  MPI_Datatype darray(MPI_Datatype inner);
  MPI_Datatype altered(MPI_Datatype inner);
  std::vector<int> numbers(std::size_t count, int limit, int offset = 0);
  std::vector<MPI_Aint> addresses(std::size_t count);
  MPI_Datatype keep(int error, MPI_Datatype made, MPI_Datatype inner, const char* constructor);

  std::mt19937 random_;
  std::vector<MPI_Datatype> made_;
  std::string description_;
};

}  // namespace layout_check
