#include "datatypes.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "prng.hpp"

namespace random_program {

namespace {

struct Piece {  // `units` units one after the other, the first at `position` units (or bytes) from the origin
  std::ptrdiff_t position = 0;
  int units = 0;
};

struct Unit {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  bool owned = false;
  std::ptrdiff_t extent = 0;
  std::vector<Block> blocks;
};

Unit make_record(bool packed) {
  const std::array<int, 3> lengths{1, 1, 4};
  const std::array<MPI_Datatype, 3> types{MPI_INT, MPI_DOUBLE, MPI_CHAR};
  const std::array<MPI_Aint, 3> offsets = packed ? std::array<MPI_Aint, 3>{0, 4, 12} : std::array<MPI_Aint, 3>{0, 8, 16};
  Unit unit{MPI_DATATYPE_NULL, true, packed ? 16 : 24, {{offsets[0], 4}, {offsets[1], 8}, {offsets[2], 4}}};
  MPI_Datatype raw = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(3, lengths.data(), offsets.data(), types.data(), &raw);
  MPI_Type_create_resized(raw, 0, unit.extent, &unit.type);
  MPI_Type_free(&raw);
  return unit;
}

Unit make_unit(Base base, Random& random) {
  if (base == Base::record) return make_record(random.chance(50));
  static constexpr std::array<std::ptrdiff_t, 4> bytes{1, 2, 4, 8};
  const std::array<MPI_Datatype, 4> types{MPI_BYTE, MPI_SHORT, MPI_INT, MPI_DOUBLE};
  const auto index = static_cast<std::size_t>(base);
  return {types[index], false, bytes[index], {{0, static_cast<std::size_t>(bytes[index])}}};
}

std::vector<Piece> equal_pieces(int units, int length, std::ptrdiff_t stride) {
  std::vector<Piece> pieces;
  for (int done = 0; done < units; done += length) pieces.push_back({done / length * stride, length});
  return pieces;
}

int some_divisor(int units, Random& random) {
  std::vector<int> divisors;
  for (int d = 1; d <= units; ++d) {
    if (units % d == 0 && units / d <= 64) divisors.push_back(d);
  }
  return divisors[random.below(divisors.size())];
}

/// Pieces of different lengths with gaps between them, in any order in memory.
std::vector<Piece> irregular_pieces(int units, Random& random, bool equal_lengths) {
  const int length = equal_lengths ? some_divisor(units, random) : 0;
  std::vector<Piece> pieces;
  std::ptrdiff_t position = static_cast<std::ptrdiff_t>(random.below(3));
  for (int done = 0; done < units;) {
    const int max_length = std::max(1, std::min(units - done, units / 4 + 1));
    const int piece = equal_lengths ? length : static_cast<int>(random.between(1, static_cast<std::size_t>(max_length)));
    pieces.push_back({position, piece});
    position += piece + static_cast<std::ptrdiff_t>(random.below(3));
    done += piece;
  }
  if (random.chance(40)) random.shuffle(pieces);
  return pieces;
}

/// Builds the type and, beside it, the same thing as pieces with positions in bytes.
class TypeBuilder {
 public:
  TypeBuilder(const Unit& unit, int units, Random& random) : unit_(unit), units_(units), random_(random) {}

  MPI_Datatype build(LayoutKind kind);

  std::vector<Piece> pieces;   // positions in bytes
  std::ptrdiff_t extent = -1;  // -1: from the lowest to the highest byte

 private:
  MPI_Datatype vector(bool in_bytes);
  MPI_Datatype indexed(LayoutKind kind);
  MPI_Datatype subarray();
  MPI_Datatype resized();
  void keep(std::vector<Piece> found, std::ptrdiff_t unit_of_position);

  const Unit& unit_;
  int units_;
  Random& random_;
};

void TypeBuilder::keep(std::vector<Piece> found, std::ptrdiff_t unit_of_position) {
  pieces = std::move(found);
  for (auto& piece : pieces) piece.position *= unit_of_position;
}

MPI_Datatype TypeBuilder::build(LayoutKind kind) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  switch (kind) {
    case LayoutKind::plain:
    case LayoutKind::contiguous:
      keep({{0, units_}}, 1);
      MPI_Type_contiguous(units_, unit_.type, &type);
      return type;
    case LayoutKind::vector:
      return vector(false);
    case LayoutKind::hvector:
      return vector(true);
    case LayoutKind::subarray:
      return subarray();
    case LayoutKind::resized:
      return resized();
    default:
      return indexed(kind);
  }
}

MPI_Datatype TypeBuilder::vector(bool in_bytes) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const int length = some_divisor(units_, random_);
  const auto stride = static_cast<std::ptrdiff_t>(length) + static_cast<std::ptrdiff_t>(random_.below(4));
  if (in_bytes) {
    const std::ptrdiff_t bytes = stride * unit_.extent + (unit_.extent == 1 ? static_cast<std::ptrdiff_t>(random_.below(5)) : 8);
    keep(equal_pieces(units_, length, bytes), 1);
    MPI_Type_create_hvector(units_ / length, length, bytes, unit_.type, &type);
  } else {
    keep(equal_pieces(units_, length, stride), unit_.extent);
    MPI_Type_vector(units_ / length, length, static_cast<int>(stride), unit_.type, &type);
  }
  return type;
}

MPI_Datatype TypeBuilder::indexed(LayoutKind kind) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const auto found = irregular_pieces(units_, random_, kind == LayoutKind::indexed_block);
  std::vector<int> lengths;
  std::vector<int> positions;
  std::vector<MPI_Aint> offsets;
  for (const auto& piece : found) {
    lengths.push_back(piece.units);
    positions.push_back(static_cast<int>(piece.position));
    offsets.push_back(piece.position * unit_.extent);
  }
  const int count = static_cast<int>(found.size());
  const std::vector<MPI_Datatype> types(found.size(), unit_.type);
  switch (kind) {
    case LayoutKind::indexed:
      MPI_Type_indexed(count, lengths.data(), positions.data(), unit_.type, &type);
      break;
    case LayoutKind::indexed_block:
      MPI_Type_create_indexed_block(count, lengths[0], positions.data(), unit_.type, &type);
      break;
    case LayoutKind::hindexed:
      MPI_Type_create_hindexed(count, lengths.data(), offsets.data(), unit_.type, &type);
      break;
    default:
      MPI_Type_create_struct(count, lengths.data(), offsets.data(), types.data(), &type);
      break;
  }
  keep(found, unit_.extent);
  return type;
}

MPI_Datatype TypeBuilder::subarray() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const int columns = some_divisor(units_, random_);
  const std::array<int, 2> part{units_ / columns, columns};
  const std::array<int, 2> start{random_.rank_below(3), random_.rank_below(3)};
  const std::array<int, 2> whole{part[0] + start[0] + random_.rank_below(2), part[1] + start[1] + random_.rank_below(3)};
  MPI_Type_create_subarray(2, whole.data(), part.data(), start.data(), MPI_ORDER_C, unit_.type, &type);
  auto found = equal_pieces(units_, columns, whole[1]);
  for (auto& piece : found) piece.position += std::ptrdiff_t{start[0]} * whole[1] + start[1];
  keep(std::move(found), unit_.extent);
  extent = std::ptrdiff_t{whole[0]} * whole[1] * unit_.extent;
  return type;
}

MPI_Datatype TypeBuilder::resized() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  keep({{0, units_}}, 1);
  const auto padding = 8 * static_cast<std::ptrdiff_t>(random_.below(4));
  const auto lower_bound = -8 * static_cast<std::ptrdiff_t>(random_.below(2));
  extent = (units_ * unit_.extent + padding + 7) / 8 * 8;
  MPI_Type_contiguous(units_, unit_.type, &inner);
  MPI_Type_create_resized(inner, lower_bound, extent, &type);
  MPI_Type_free(&inner);
  return type;
}

}  // namespace

Layout::Layout(Base base, const LayoutSpec& spec) : base_(base), units_(spec.units_per_element) {
  Random random(spec.seed);
  const Unit unit = make_unit(base, random);
  TypeBuilder builder(unit, static_cast<int>(units_), random);
  type_ = builder.build(spec.kind);
  MPI_Type_commit(&type_);
  for (const auto& piece : builder.pieces) {
    for (int i = 0; i < piece.units; ++i) {
      for (const auto& block : unit.blocks) {
        const std::ptrdiff_t offset = piece.position + i * unit.extent + block.offset;
        const bool joins =
            !blocks_.empty() && blocks_.back().offset + static_cast<std::ptrdiff_t>(blocks_.back().bytes) == offset;
        joins ? blocks_.back().bytes += block.bytes : (blocks_.push_back({offset, block.bytes}), std::size_t{0});
      }
    }
  }
  lower_ = std::ranges::min_element(blocks_, {}, &Block::offset)->offset;
  for (const auto& block : blocks_) {
    upper_ = std::max(upper_, block.offset + static_cast<std::ptrdiff_t>(block.bytes));
    element_bytes_ += block.bytes;
  }
  MPI_Aint lower_bound = 0;
  MPI_Type_get_extent(type_, &lower_bound, &extent_);
  if (builder.extent >= 0 && builder.extent != extent_) MPI_Abort(MPI_COMM_WORLD, 4);
  if (unit.owned) {
    MPI_Datatype unit_type = unit.type;
    MPI_Type_free(&unit_type);
  }
}

Layout::~Layout() { MPI_Type_free(&type_); }

std::ptrdiff_t Layout::upper(std::size_t elements) const {
  return elements == 0 ? lower_ : upper_ + static_cast<std::ptrdiff_t>(elements - 1) * extent_;
}

void Layout::scatter(std::span<const std::byte> packed, std::byte* origin) const {
  std::byte* element = origin;
  while (!packed.empty()) {
    for (const auto& block : blocks_) {
      const std::size_t bytes = std::min(block.bytes, packed.size());
      if (bytes > 0) std::memcpy(element + block.offset, packed.data(), bytes);
      packed = packed.subspan(bytes);
    }
    element += extent_;
  }
}

int Layout::expected_count(std::size_t bytes) const {
  return bytes % element_bytes_ == 0 ? static_cast<int>(bytes / element_bytes_) : MPI_UNDEFINED;
}

int Layout::expected_elements(std::size_t bytes) const {
  return static_cast<int>(base_ == Base::record ? bytes / 16 * 6 : bytes / packed_bytes(base_));
}

MPI_Datatype make_absolute(const Layout& layout, std::size_t count, std::byte* origin) {
  MPI_Aint address = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  const int length = static_cast<int>(count);
  MPI_Get_address(origin, &address);
  MPI_Type_create_hindexed(1, &length, &address, layout.type(), &type);
  MPI_Type_commit(&type);
  return type;
}

}  // namespace random_program
