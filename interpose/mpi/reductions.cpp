#include "interpose/mpi/reductions.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>

#include "interpose/host/host.hpp"
#include "interpose/mpi/handle_table.hpp"

namespace sluice {
namespace {

/// Of which there are no reductions.
constexpr std::array<const char*, 3> other_operation_symbols = {"ompi_mpi_op_null", "ompi_mpi_op_replace", "ompi_mpi_op_no_op"};

/// In the order of ReduceOperation.
constexpr std::array<const char*, reduce_operations> operation_symbols = {
    "ompi_mpi_op_max", "ompi_mpi_op_min", "ompi_mpi_op_sum",  "ompi_mpi_op_prod", "ompi_mpi_op_land",   "ompi_mpi_op_band",
    "ompi_mpi_op_lor", "ompi_mpi_op_bor", "ompi_mpi_op_lxor", "ompi_mpi_op_bxor", "ompi_mpi_op_maxloc", "ompi_mpi_op_minloc",
};

using enum ElementKind;
using Kinds = std::span<const ElementKind>;

// Of a list, the kind that has the size of the type.
constexpr ElementKind signed_kinds[] = {int8, int16, int32, int64};
constexpr ElementKind unsigned_kinds[] = {uint8, uint16, uint32, uint64};
constexpr ElementKind real_kinds[] = {float32, float64};
constexpr ElementKind long_double_kind[] = {long_double};
constexpr ElementKind complex_kinds[] = {float_complex, double_complex};
constexpr ElementKind long_complex_kind[] = {long_double_complex};
constexpr ElementKind integer_pair[] = {int_int};
constexpr ElementKind real_pairs[] = {float_float, double_double};
constexpr ElementKind float_int_kind[] = {float_int};
constexpr ElementKind double_int_kind[] = {double_int};
constexpr ElementKind long_double_int_kind[] = {long_double_int};
constexpr ElementKind long_int_kind[] = {long_int};
constexpr ElementKind short_int_kind[] = {short_int};

/// What the host accepts of the operations that the kind has.
enum class Allowed : std::uint8_t { all, all_but_logical, logical };

struct NamedType {
  const char* symbol;
  Kinds kinds;
  Allowed allowed = Allowed::all;
};

// As the host takes them: its MPI_OFFSET is unsigned, its MPI_CHAR and MPI_BYTE are numbers. Of types that are missing here it
// has no reductions (MPI_WCHAR, MPI_PACKED), or of a representation that C++ has no name for (MPI_REAL16).
constexpr NamedType named_types[] = {
    {"ompi_mpi_char", signed_kinds},
    {"ompi_mpi_signed_char", signed_kinds},
    {"ompi_mpi_short", signed_kinds},
    {"ompi_mpi_int", signed_kinds},
    {"ompi_mpi_long", signed_kinds},
    {"ompi_mpi_long_long_int", signed_kinds},
    {"ompi_mpi_int8_t", signed_kinds},
    {"ompi_mpi_int16_t", signed_kinds},
    {"ompi_mpi_int32_t", signed_kinds},
    {"ompi_mpi_int64_t", signed_kinds},
    {"ompi_mpi_aint", signed_kinds},
    {"ompi_mpi_count", signed_kinds},
    {"ompi_mpi_unsigned_char", unsigned_kinds},
    {"ompi_mpi_byte", unsigned_kinds},
    {"ompi_mpi_character", unsigned_kinds},
    {"ompi_mpi_unsigned_short", unsigned_kinds},
    {"ompi_mpi_unsigned", unsigned_kinds},
    {"ompi_mpi_unsigned_long", unsigned_kinds},
    {"ompi_mpi_unsigned_long_long", unsigned_kinds},
    {"ompi_mpi_uint8_t", unsigned_kinds},
    {"ompi_mpi_uint16_t", unsigned_kinds},
    {"ompi_mpi_uint32_t", unsigned_kinds},
    {"ompi_mpi_uint64_t", unsigned_kinds},
    {"ompi_mpi_offset", unsigned_kinds},
    {"ompi_mpi_integer", signed_kinds, Allowed::all_but_logical},
    {"ompi_mpi_integer1", signed_kinds, Allowed::all_but_logical},
    {"ompi_mpi_integer2", signed_kinds, Allowed::all_but_logical},
    {"ompi_mpi_integer4", signed_kinds, Allowed::all_but_logical},
    {"ompi_mpi_integer8", signed_kinds, Allowed::all_but_logical},
    {"ompi_mpi_c_bool", unsigned_kinds, Allowed::logical},
    {"ompi_mpi_cxx_bool", unsigned_kinds, Allowed::logical},
    {"ompi_mpi_logical", unsigned_kinds, Allowed::logical},
    {"ompi_mpi_logical1", unsigned_kinds, Allowed::logical},
    {"ompi_mpi_logical2", unsigned_kinds, Allowed::logical},
    {"ompi_mpi_logical4", unsigned_kinds, Allowed::logical},
    {"ompi_mpi_logical8", unsigned_kinds, Allowed::logical},
    {"ompi_mpi_float", real_kinds},
    {"ompi_mpi_double", real_kinds},
    {"ompi_mpi_real", real_kinds},
    {"ompi_mpi_real4", real_kinds},
    {"ompi_mpi_real8", real_kinds},
    {"ompi_mpi_dblprec", real_kinds},
    {"ompi_mpi_long_double", long_double_kind},
    {"ompi_mpi_c_complex", complex_kinds},
    {"ompi_mpi_c_float_complex", complex_kinds},
    {"ompi_mpi_c_double_complex", complex_kinds},
    {"ompi_mpi_cxx_cplex", complex_kinds},
    {"ompi_mpi_cxx_dblcplex", complex_kinds},
    {"ompi_mpi_cplex", complex_kinds},
    {"ompi_mpi_dblcplex", complex_kinds},
    {"ompi_mpi_complex8", complex_kinds},
    {"ompi_mpi_complex16", complex_kinds},
    {"ompi_mpi_c_long_double_complex", long_complex_kind},
    {"ompi_mpi_cxx_ldblcplex", long_complex_kind},
    {"ompi_mpi_2int", integer_pair},
    {"ompi_mpi_2integer", integer_pair},
    {"ompi_mpi_2real", real_pairs},
    {"ompi_mpi_2dblprec", real_pairs},
    {"ompi_mpi_float_int", float_int_kind},
    {"ompi_mpi_double_int", double_int_kind},
    {"ompi_mpi_longdbl_int", long_double_int_kind},
    {"ompi_mpi_long_int", long_int_kind},
    {"ompi_mpi_short_int", short_int_kind},
};

bool is_logical(ReduceOperation operation) {
  return operation == ReduceOperation::land || operation == ReduceOperation::lor || operation == ReduceOperation::lxor;
}

/// The reductions of one operation, in the order of ElementKind.
using ByKind = std::array<std::optional<Reduction>, element_kinds>;

struct KnownType {
  ElementKind kind{};
  Allowed allowed{};
};

constinit std::array<ByKind, reduce_operations> reductions;
constinit std::array<KnownType, std::size(named_types)> known_types;
constinit HandleTable<ByKind> operation_table;
constinit HandleTable<const KnownType> type_table;
constinit HandleTable<const char> other_operations;  // their symbols

void open_operations() {
  for (std::size_t operation = 0; operation < reduce_operations; ++operation) {
    for (std::size_t kind = 0; kind < element_kinds; ++kind) {
      reductions[operation][kind] = Reduction::of(static_cast<ReduceOperation>(operation), static_cast<ElementKind>(kind));
    }
    if (const void* handle = host_symbol(operation_symbols[operation])) operation_table.insert(handle, &reductions[operation]);
  }
  for (const char* const symbol : other_operation_symbols) {
    if (const void* handle = host_symbol(symbol)) other_operations.insert(handle, symbol);
  }
}

void open_types() {
  for (std::size_t i = 0; i < std::size(named_types); ++i) {
    const auto type = static_cast<MPI_Datatype>(host_symbol(named_types[i].symbol));
    MPI_Count lower_bound = 0;
    MPI_Count extent = 0;
    if (!type || host().Type_get_extent_x(type, &lower_bound, &extent) != MPI_SUCCESS) continue;
    for (const ElementKind kind : named_types[i].kinds) {
      if (element_bytes(kind) != static_cast<std::size_t>(extent)) continue;
      known_types[i] = {kind, named_types[i].allowed};
      type_table.insert(type, &known_types[i]);
    }
  }
}

}  // namespace

void open_reductions() {
  open_operations();
  open_types();
}

const Reduction* reduction_of(MPI_Op operation, MPI_Datatype type) {
  const ByKind* const by_kind = operation_table.find(operation);
  const KnownType* const known = type_table.find(type);
  if (!by_kind || !known) return nullptr;
  const auto number = static_cast<ReduceOperation>(by_kind - reductions.data());
  if (known->allowed == (is_logical(number) ? Allowed::all_but_logical : Allowed::logical)) return nullptr;
  const std::optional<Reduction>& found = (*by_kind)[static_cast<std::size_t>(known->kind)];
  return found ? &*found : nullptr;
}

bool is_own_operation(MPI_Op operation) {
  return operation && !operation_table.find(operation) && !other_operations.find(operation);
}

}  // namespace sluice
