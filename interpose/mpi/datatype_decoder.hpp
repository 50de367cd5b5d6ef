// Decodes a datatype into a layout, by what MPI_Type_get_envelope and MPI_Type_get_contents tell of its construction.
#pragma once

#include <mpi.h>

#include <memory>
#include <unordered_map>
#include <vector>

#include "runtime/datatype/layout.hpp"

namespace sluice {

/// The arguments of the call that made a type. Those of a constructor with large counts are brought into the order that they have
/// without: displacements in bytes are then among the integers, as they are for Fortran's constructors.
struct TypeContents {
  int combiner = MPI_COMBINER_NAMED;
  bool large = false;
  std::vector<MPI_Count> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;
};

/// How many arguments of each kind MPI tells of.
struct TypeEnvelope {
  MPI_Count integers = 0, addresses = 0, counts = 0, types = 0;
  int combiner = MPI_COMBINER_NAMED;
};

/// True for types that exist without having been made by the program; they are never freed.
bool is_predefined(int combiner);
int combiner_of(MPI_Datatype type);

/// Decodes one type and the types that it is made of, each once however often it occurs.
class TypeDecoder {
 public:
  TypeDecoder() = default;
  ~TypeDecoder();  // returns the handles that the host gave
  TypeDecoder(const TypeDecoder&) = delete;
  TypeDecoder& operator=(const TypeDecoder&) = delete;

  /// nullptr when the construction is not understood.
  std::shared_ptr<const Layout> decode(MPI_Datatype type);

 private:
  std::shared_ptr<const Layout> construct(MPI_Datatype type);
  TypeContents contents(MPI_Datatype type);

  std::unordered_map<MPI_Datatype, std::shared_ptr<const Layout>> decoded_;
  std::vector<MPI_Datatype> handles_;  // derived types that the host handed out
};

}  // namespace sluice
