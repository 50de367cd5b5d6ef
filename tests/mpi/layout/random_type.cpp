#include "random_type.hpp"

#include <array>

#include "interpose/host/host.hpp"

namespace layout_check {
namespace {

// Open MPI 4.1 packs two kinds of types otherwise than the standard says. They are not made here:
// vectors with a stride of -1 (taken for contiguous), and structures with members that have no bytes but move the
// bounds (likewise).
bool has_bytes(MPI_Datatype type) {
  MPI_Count size = 0;
  PMPI_Type_size_x(type, &size);
  return size != 0;
}

}  // namespace

TypeMaker::~TypeMaker() {
  for (MPI_Datatype& type : made_) PMPI_Type_free(&type);
}

/// Some rare combinations are refused by the host itself (a distributed array of an element without bytes).
MPI_Datatype TypeMaker::keep(int error, MPI_Datatype made, MPI_Datatype inner, const char* constructor) {
  if (error != MPI_SUCCESS) return inner;
  made_.push_back(made);
  description_ += std::string(" ") + constructor;
  return made;
}

std::vector<int> TypeMaker::numbers(std::size_t count, int limit, int offset) {
  std::vector<int> list(count);
  for (int& number : list) number = below(limit) + offset;
  return list;
}

std::vector<MPI_Aint> TypeMaker::addresses(std::size_t count) {
  std::vector<MPI_Aint> list(count);
  for (MPI_Aint& address : list) address = below(400) - 100;
  return list;
}

MPI_Datatype TypeMaker::leaf() {
  const std::array types = {MPI_CHAR,
                            MPI_SHORT,
                            MPI_INT,
                            MPI_DOUBLE,
                            MPI_LONG_DOUBLE,
                            MPI_FLOAT_INT,
                            MPI_DOUBLE_INT,
                            MPI_LONG_INT,
                            MPI_SHORT_INT,
                            MPI_LONG_DOUBLE_INT,
                            MPI_2INT,
                            MPI_C_FLOAT_COMPLEX,
                            MPI_2INTEGER,
                            MPI_INTEGER,
                            MPI_DOUBLE_COMPLEX,
                            MPI_BYTE,
                            MPI_C_BOOL,
                            MPI_UINT16_T,
                            MPI_WCHAR,
                            MPI_C_LONG_DOUBLE_COMPLEX,
                            MPI_2REAL,
                            MPI_AINT,
                            MPI_PACKED,
                            MPI_LOGICAL};
  const int choice = below(static_cast<int>(types.size()) + 3);
  if (choice < static_cast<int>(types.size())) {
    const MPI_Datatype type = types[static_cast<std::size_t>(choice)];
    std::array<char, MPI_MAX_OBJECT_NAME> name{};
    int length = 0;
    PMPI_Type_get_name(type, name.data(), &length);
    description_ += std::string(" ") + name.data();
    return type;
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (choice % 3 == 0) PMPI_Type_create_f90_real(12, 100, &type);
  if (choice % 3 == 1) PMPI_Type_create_f90_complex(5, 20, &type);
  if (choice % 3 == 2) PMPI_Type_create_f90_integer(8, &type);
  description_ += " f90";
  return type;
}

MPI_Datatype TypeMaker::strided(MPI_Datatype inner) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  int error = MPI_SUCCESS;
  int stride = below(12) - 5;
  int byte_stride = below(300) - 100;
  if (stride == -1) stride = -6;
  if (byte_stride == -1) byte_stride = -101;
  switch (below(3)) {
    case 0:
      error = PMPI_Type_contiguous(below(9) * (below(8) == 0 ? 20 : 1), inner, &made);
      return keep(error, made, inner, "contiguous");
    case 1:
      error = PMPI_Type_vector(below(6), below(4), stride, inner, &made);
      return keep(error, made, inner, "vector");
    default:
      error = PMPI_Type_create_hvector(below(40), below(4), byte_stride, inner, &made);
      return keep(error, made, inner, "hvector");
  }
}

MPI_Datatype TypeMaker::indexed(MPI_Datatype inner) {
  const auto count = static_cast<std::size_t>(below(7));
  const int number = static_cast<int>(count);
  MPI_Datatype made = MPI_DATATYPE_NULL;
  int error = MPI_SUCCESS;
  switch (below(4)) {
    case 0:
      error = PMPI_Type_indexed(number, numbers(count, 4).data(), numbers(count, 30, -10).data(), inner, &made);
      return keep(error, made, inner, "indexed");
    case 1:
      error = PMPI_Type_create_hindexed(number, numbers(count, 4).data(), addresses(count).data(), inner, &made);
      return keep(error, made, inner, "hindexed");
    case 2:
      error = PMPI_Type_create_indexed_block(number, below(4), numbers(count, 30, -10).data(), inner, &made);
      return keep(error, made, inner, "indexed_block");
    default:
      error = PMPI_Type_create_hindexed_block(number, below(4), addresses(count).data(), inner, &made);
      return keep(error, made, inner, "hindexed_block");
  }
}

MPI_Datatype TypeMaker::structure(MPI_Datatype inner, unsigned depth) {
  std::vector<MPI_Datatype> members{has_bytes(inner) ? inner : leaf()};
  for (int more = below(3); more > 0; --more) {
    const MPI_Datatype member = make(depth);
    members.push_back(has_bytes(member) ? member : leaf());
  }
  std::vector<int> lengths = numbers(members.size(), 4);
  std::vector<MPI_Aint> places = addresses(members.size());
  if (below(4) == 0) {  // the markers of MPI-1, as old binaries still pass them
    members.push_back(static_cast<MPI_Datatype>(sluice::host_symbol(below(2) == 0 ? "ompi_mpi_lb" : "ompi_mpi_ub")));
    lengths.push_back(1);
    places.push_back(below(2) == 0 ? -130 : 450);
  }
  MPI_Datatype made = MPI_DATATYPE_NULL;
  const int error =
      PMPI_Type_create_struct(static_cast<int>(members.size()), lengths.data(), places.data(), members.data(), &made);
  return keep(error, made, inner, "struct");
}

MPI_Datatype TypeMaker::subarray(MPI_Datatype inner) {
  const auto dimensions = static_cast<std::size_t>(1 + below(4));
  const std::vector<int> sizes = numbers(dimensions, 5, 1);
  std::vector<int> subsizes(dimensions), starts(dimensions);
  for (std::size_t i = 0; i < dimensions; ++i) {
    subsizes[i] = 1 + below(sizes[i]);
    starts[i] = below(sizes[i] - subsizes[i] + 1);
  }
  MPI_Datatype made = MPI_DATATYPE_NULL;
  const int error = PMPI_Type_create_subarray(static_cast<int>(dimensions), sizes.data(), subsizes.data(), starts.data(),
                                              below(2) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN, inner, &made);
  return keep(error, made, inner, "subarray");
}

MPI_Datatype TypeMaker::darray(MPI_Datatype inner) {
  const auto dimensions = static_cast<std::size_t>(1 + below(3));
  const std::vector<int> sizes = numbers(dimensions, 9, 1);
  std::vector<int> grid(dimensions, 1), distributions(dimensions, MPI_DISTRIBUTE_NONE);
  std::vector<int> arguments(dimensions, MPI_DISTRIBUTE_DFLT_DARG);
  int processes = 1;
  for (std::size_t i = 0; i < dimensions; ++i) {
    if (below(3) == 0) continue;
    grid[i] = 1 + below(3);
    processes *= grid[i];
    distributions[i] = below(2) == 0 ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC;
    const int share = (sizes[i] + grid[i] - 1) / grid[i];
    if (below(2) == 0) arguments[i] = (distributions[i] == MPI_DISTRIBUTE_BLOCK ? share : 1) + below(3);
  }
  MPI_Datatype made = MPI_DATATYPE_NULL;
  const int error =
      PMPI_Type_create_darray(processes, below(processes), static_cast<int>(dimensions), sizes.data(), distributions.data(),
                              arguments.data(), grid.data(), below(2) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN, inner, &made);
  return keep(error, made, inner, "darray");
}

MPI_Datatype TypeMaker::altered(MPI_Datatype inner) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  if (below(2) == 0) {
    const int error = PMPI_Type_dup(inner, &made);
    return keep(error, made, inner, "dup");
  }
  const int error = PMPI_Type_create_resized(inner, below(60) - 30, below(300), &made);
  return keep(error, made, inner, "resized");
}

MPI_Datatype TypeMaker::make(unsigned depth) {
  if (depth == 0) return leaf();
  const MPI_Datatype inner = make(depth - 1);
  switch (below(6)) {
    case 0:
      return strided(inner);
    case 1:
      return indexed(inner);
    case 2:
      return structure(inner, depth - 1);
    case 3:
      return subarray(inner);
    case 4:
      return darray(inner);
    default:
      return altered(inner);
  }
}

}  // namespace layout_check
