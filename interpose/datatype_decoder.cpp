#include "interpose/datatype_decoder.hpp"

#include <array>
#include <cstddef>

#include "interpose/datatype_arrays.hpp"
#include "interpose/host.hpp"

namespace sluice {
namespace {

using LayoutPointer = std::shared_ptr<const Layout>;

// Named by their neighbours: mpi.h hides them from programs that do not ask for MPI-1, but old binaries may report them.
constexpr int combiner_hvector_integer = MPI_COMBINER_HVECTOR - 1;
constexpr int combiner_hindexed_integer = MPI_COMBINER_HINDEXED - 1;
constexpr int combiner_struct_integer = MPI_COMBINER_STRUCT - 1;

/// The pair types of MPI_MINLOC and MPI_MAXLOC that have gaps: a value, then an int where the compiler aligns it.
struct PaddedPair {
  const char* symbol;
  std::size_t value_bytes;
  std::ptrdiff_t index_offset;
};

template <typename Value>
constexpr PaddedPair padded_pair(const char* symbol) {
  struct Pair {
    Value value;
    int index;
  };
  return {symbol, sizeof(Value), offsetof(Pair, index)};
}

constexpr std::array padded_pairs = {padded_pair<double>("ompi_mpi_double_int"), padded_pair<long>("ompi_mpi_long_int"),
                                     padded_pair<short>("ompi_mpi_short_int"), padded_pair<long double>("ompi_mpi_longdbl_int")};

std::size_t host_size(MPI_Datatype type) {
  MPI_Count size = 0;
  host().Type_size_x(type, &size);
  return static_cast<std::size_t>(size);
}

std::ptrdiff_t host_extent(MPI_Datatype type) {
  MPI_Count lower_bound = 0;
  MPI_Count extent = 0;
  host().Type_get_extent_x(type, &lower_bound, &extent);
  return static_cast<std::ptrdiff_t>(extent);
}

/// The types that programs do not make. All but the padded pairs are gapless; MPI_LB and MPI_UB have no bytes.
LayoutPointer predefined_layout(MPI_Datatype type) {
  const std::size_t size = host_size(type);
  const std::ptrdiff_t extent = host_extent(type);
  LayoutBuilder builder;
  if (size != 0 && extent != static_cast<std::ptrdiff_t>(size)) {
    const PaddedPair* found = nullptr;
    for (const PaddedPair& pair : padded_pairs) {
      if (host_symbol(pair.symbol) == type && size == pair.value_bytes + sizeof(int)) found = &pair;
    }
    if (!found) return nullptr;
    builder.add({0, found->value_bytes});
    builder.add({found->index_offset, sizeof(int)});
  } else {
    builder.add({0, size});
  }
  return builder.finish(extent);
}

/// Equally spaced blocks of `length` elements each.
void add_vector(LayoutBuilder& builder, const LayoutPointer& element, int count, int length, std::ptrdiff_t stride) {
  LayoutBuilder block;
  block.add(element, 0, element->extent(), static_cast<std::size_t>(length));
  builder.add(block.finish(0), 0, stride, static_cast<std::size_t>(count));
}

/// Blocks of different lengths, or all of the one length, at the displacements that `place` gives in bytes.
template <typename Place>
void add_blocks(LayoutBuilder& builder, const LayoutPointer& element, std::span<const int> lengths, std::size_t count,
                Place place) {
  for (std::size_t i = 0; i < count; ++i) {
    const int length = lengths.size() == 1 ? lengths[0] : lengths[i];
    builder.add(element, place(i), element->extent(), static_cast<std::size_t>(length));
  }
}

/// Constructors of one element type whose first argument is a number of blocks. False: none of these.
bool add_blocks_of_one_type(LayoutBuilder& builder, const TypeContents& made, const LayoutPointer& element) {
  const std::span integers(made.integers);
  const int number = integers[0];
  const auto count = static_cast<std::size_t>(number);
  const std::ptrdiff_t extent = element->extent();
  const auto in_bytes = [&](std::size_t i) { return static_cast<std::ptrdiff_t>(made.addresses[i]); };
  switch (made.combiner) {
    case MPI_COMBINER_CONTIGUOUS:
      builder.add(element, 0, extent, count);
      return true;
    case MPI_COMBINER_VECTOR:
      add_vector(builder, element, number, integers[1], integers[2] * extent);
      return true;
    case MPI_COMBINER_HVECTOR:
      add_vector(builder, element, number, integers[1], in_bytes(0));
      return true;
    case combiner_hvector_integer:
      add_vector(builder, element, number, integers[1], integers[2]);
      return true;
    case MPI_COMBINER_INDEXED:
      add_blocks(builder, element, integers.subspan(1), count, [&](auto i) { return integers[1 + count + i] * extent; });
      return true;
    case MPI_COMBINER_HINDEXED:
      add_blocks(builder, element, integers.subspan(1), count, in_bytes);
      return true;
    case combiner_hindexed_integer:
      add_blocks(builder, element, integers.subspan(1), count, [&](auto i) { return integers[1 + count + i]; });
      return true;
    case MPI_COMBINER_INDEXED_BLOCK:
      add_blocks(builder, element, integers.subspan(1, 1), count, [&](auto i) { return integers[2 + i] * extent; });
      return true;
    case MPI_COMBINER_HINDEXED_BLOCK:
      add_blocks(builder, element, integers.subspan(1, 1), count, in_bytes);
      return true;
    default:
      return false;
  }
}

void add_members(LayoutBuilder& builder, const TypeContents& made, const std::vector<LayoutPointer>& members) {
  const bool in_integers = made.combiner == combiner_struct_integer;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::ptrdiff_t place = in_integers ? made.integers[1 + members.size() + i] : made.addresses[i];
    builder.add(members[i], place, members[i]->extent(), static_cast<std::size_t>(made.integers[1 + i]));
  }
}

}  // namespace

int combiner_of(MPI_Datatype type) {
  int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
  host().Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  return combiner;
}

bool is_predefined(int combiner) {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
         combiner == MPI_COMBINER_F90_INTEGER;
}

TypeDecoder::~TypeDecoder() {
  for (MPI_Datatype handle : handles_) host().Type_free(&handle);
}

TypeContents TypeDecoder::contents(MPI_Datatype type) {
  TypeContents made;
  int integers = 0, addresses = 0, types = 0;
  host().Type_get_envelope(type, &integers, &addresses, &types, &made.combiner);
  if (is_predefined(made.combiner)) return made;
  made.integers.resize(static_cast<std::size_t>(integers));
  made.addresses.resize(static_cast<std::size_t>(addresses));
  made.types.resize(static_cast<std::size_t>(types));
  host().Type_get_contents(type, integers, addresses, types, made.integers.data(), made.addresses.data(), made.types.data());
  for (MPI_Datatype inner : made.types) {
    if (!is_predefined(combiner_of(inner))) handles_.push_back(inner);
  }
  return made;
}

LayoutPointer TypeDecoder::decode(MPI_Datatype type) {
  const auto known = decoded_.find(type);
  if (known != decoded_.end()) return known->second;
  LayoutPointer layout = construct(type);
  if (layout && layout->size() != host_size(type)) layout = nullptr;
  decoded_.emplace(type, layout);
  return layout;
}

LayoutPointer TypeDecoder::construct(MPI_Datatype type) {
  const TypeContents made = contents(type);
  if (is_predefined(made.combiner)) return predefined_layout(type);
  std::vector<LayoutPointer> members;
  for (MPI_Datatype inner : made.types) {
    members.push_back(decode(inner));
    if (!members.back()) return nullptr;
  }
  LayoutBuilder builder;
  switch (made.combiner) {
    case MPI_COMBINER_DUP:
      return members[0];
    case MPI_COMBINER_RESIZED:
      builder.add(members[0], 0, 0, 1);
      break;
    case MPI_COMBINER_SUBARRAY:
      builder.add(subarray_layout(made.integers, members[0]), 0, 0, 1);
      break;
    case MPI_COMBINER_DARRAY:
      builder.add(darray_layout(made.integers, members[0]), 0, 0, 1);
      break;
    case MPI_COMBINER_STRUCT:
    case combiner_struct_integer:
      add_members(builder, made, members);
      break;
    default:
      if (!add_blocks_of_one_type(builder, made, members[0])) return nullptr;
  }
  return builder.finish(host_extent(type));
}

}  // namespace sluice
