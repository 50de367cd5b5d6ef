#include "interpose/mpi/datatype_decoder.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "interpose/host/host.hpp"
#include "interpose/mpi/datatype_arrays.hpp"

namespace sluice {
namespace {

using LayoutPointer = std::shared_ptr<const Layout>;

// Named by their neighbours: mpi.h hides them from programs that do not ask for MPI-1, but old binaries may report them.
constexpr int combiner_hvector_integer = MPI_COMBINER_HVECTOR - 1;
constexpr int combiner_hindexed_integer = MPI_COMBINER_HINDEXED - 1;
constexpr int combiner_hindexed_block_integer = -1;  // of Sluice alone
constexpr int combiner_struct_integer = MPI_COMBINER_STRUCT - 1;
/// A pair of a value and an index (MPI-4.1); the header of Open MPI 4.1 does not have it.
constexpr int combiner_value_index = MPI_COMBINER_HINDEXED_BLOCK + 1;

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
void add_vector(LayoutBuilder& builder, const LayoutPointer& element, MPI_Count count, MPI_Count length, std::ptrdiff_t stride) {
  LayoutBuilder block;
  block.add(element, 0, element->extent(), static_cast<std::size_t>(length));
  builder.add(block.finish(0), 0, stride, static_cast<std::size_t>(count));
}

/// Blocks of different lengths, or all of the one length, at the displacements that `place` gives in bytes.
template <typename Place>
void add_blocks(LayoutBuilder& builder, const LayoutPointer& element, std::span<const MPI_Count> lengths, std::size_t count,
                Place place) {
  for (std::size_t i = 0; i < count; ++i) {
    const MPI_Count length = lengths.size() == 1 ? lengths[0] : lengths[i];
    builder.add(element, place(i), element->extent(), static_cast<std::size_t>(length));
  }
}

/// The constructor that has its displacements in bytes among the integers, as one with large counts does.
int without_addresses(int combiner) {
  switch (combiner) {
    case MPI_COMBINER_HVECTOR:
      return combiner_hvector_integer;
    case MPI_COMBINER_HINDEXED:
      return combiner_hindexed_integer;
    case MPI_COMBINER_HINDEXED_BLOCK:
      return combiner_hindexed_block_integer;
    default:
      return combiner;
  }
}

/// Constructors of one element type whose first argument is a number of blocks. False: none of these.
bool add_blocks_of_one_type(LayoutBuilder& builder, const TypeContents& made, const LayoutPointer& element) {
  if (made.integers.empty()) return false;
  const std::span integers(made.integers);
  const MPI_Count number = integers[0];
  const auto count = static_cast<std::size_t>(number);
  const std::ptrdiff_t extent = element->extent();
  const auto in_bytes = [&](std::size_t i) { return static_cast<std::ptrdiff_t>(made.addresses[i]); };
  const int combiner = made.large ? without_addresses(made.combiner) : made.combiner;
  switch (combiner) {
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
    case combiner_hindexed_block_integer:
      add_blocks(builder, element, integers.subspan(1, 1), count, [&](auto i) { return integers[2 + i]; });
      return true;
    default:
      return false;
  }
}

void add_members(LayoutBuilder& builder, const TypeContents& made, const std::vector<LayoutPointer>& members) {
  const bool in_integers = made.large || made.combiner == combiner_struct_integer;
  for (std::size_t i = 0; i < members.size(); ++i) {
    const std::ptrdiff_t place = in_integers ? made.integers[1 + members.size() + i] : made.addresses[i];
    builder.add(members[i], place, members[i]->extent(), static_cast<std::size_t>(made.integers[1 + i]));
  }
}

/// The form with large counts tells of every type; the other refuses those that were made with large counts.
TypeEnvelope envelope_of(MPI_Datatype type) {
  TypeEnvelope found;
  if (host_has(host().Type_get_envelope_c)) {
    host().Type_get_envelope_c(type, &found.integers, &found.addresses, &found.counts, &found.types, &found.combiner);
    return found;
  }
  int integers = 0, addresses = 0, types = 0;
  host().Type_get_envelope(type, &integers, &addresses, &types, &found.combiner);
  found.integers = integers;
  found.addresses = addresses;
  found.types = types;
  return found;
}

/// Where the counts of a constructor stand among its integers: of the arrays, between those that are no counts; otherwise there
/// are no others.
std::size_t place_of_counts(int combiner) {
  if (combiner == MPI_COMBINER_SUBARRAY) return 1;  // behind the number of dimensions
  return combiner == MPI_COMBINER_DARRAY ? 3 : 0;   // behind processes, rank and dimensions
}

}  // namespace

int combiner_of(MPI_Datatype type) { return envelope_of(type).combiner; }

bool is_predefined(int combiner) {
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL || combiner == MPI_COMBINER_F90_COMPLEX ||
         combiner == MPI_COMBINER_F90_INTEGER || combiner == combiner_value_index;
}

TypeDecoder::~TypeDecoder() {
  for (MPI_Datatype handle : handles_) host().Type_free(&handle);
}

TypeContents TypeDecoder::contents(MPI_Datatype type) {
  const TypeEnvelope envelope = envelope_of(type);
  TypeContents made;
  made.combiner = envelope.combiner;
  made.large = envelope.counts != 0;
  if (is_predefined(made.combiner)) return made;
  std::vector<int> integers(static_cast<std::size_t>(envelope.integers));
  made.addresses.resize(static_cast<std::size_t>(envelope.addresses));
  made.types.resize(static_cast<std::size_t>(envelope.types));
  std::vector<MPI_Count> counts(static_cast<std::size_t>(envelope.counts));
  if (made.large) {
    host().Type_get_contents_c(type, envelope.integers, envelope.addresses, envelope.counts, envelope.types, integers.data(),
                               made.addresses.data(), counts.data(), made.types.data());
  } else {
    host().Type_get_contents(type, static_cast<int>(integers.size()), static_cast<int>(made.addresses.size()),
                             static_cast<int>(made.types.size()), integers.data(), made.addresses.data(), made.types.data());
  }
  made.integers.assign(integers.begin(), integers.end());
  const std::size_t place = std::min(place_of_counts(made.combiner), integers.size());
  made.integers.insert(made.integers.begin() + static_cast<std::ptrdiff_t>(place), counts.begin(), counts.end());
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
