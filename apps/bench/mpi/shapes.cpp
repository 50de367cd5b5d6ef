#include "shapes.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace bench {
namespace {

int min_one(std::size_t number) { return static_cast<int>(std::max<std::size_t>(number, 1)); }

/// Frees what a type was made of; the type keeps what it needs.
MPI_Datatype made_of(MPI_Datatype part, MPI_Datatype whole) {
  MPI_Type_free(&part);
  return whole;
}

MPI_Datatype resized(MPI_Datatype part, MPI_Aint extent) {
  MPI_Datatype type;
  MPI_Type_create_resized(part, 0, extent, &type);
  return made_of(part, type);
}

MPI_Datatype contiguous(int count, MPI_Datatype of) {
  MPI_Datatype type;
  MPI_Type_contiguous(count, of, &type);
  return type;
}

MPI_Datatype vector(std::size_t count, int block, int stride, MPI_Datatype of) {
  MPI_Datatype type;
  MPI_Type_vector(min_one(count), block, stride, of, &type);
  return type;
}

/// Blocks of 1 to 7 numbers, 1 to 5 apart.
MPI_Datatype indexed(std::size_t bytes) {
  std::vector<int> lengths;
  std::vector<int> places;
  int place = 0;
  for (std::size_t packed = 0; packed < bytes; packed += static_cast<std::size_t>(lengths.back()) * sizeof(int)) {
    lengths.push_back(1 + static_cast<int>(lengths.size() * 5 % 7));
    places.push_back(place);
    place += lengths.back() + 1 + static_cast<int>(lengths.size() * 3 % 5);
  }
  MPI_Datatype type;
  MPI_Type_indexed(static_cast<int>(lengths.size()), lengths.data(), places.data(), MPI_INT, &type);
  return type;
}

MPI_Datatype indexed_blocks(std::size_t bytes) {
  std::vector<int> places;
  for (std::size_t i = 0; i < std::max<std::size_t>(bytes / (4 * sizeof(double)), 1); ++i)
    places.push_back(static_cast<int>(i * 6 + i % 2));
  MPI_Datatype type;
  MPI_Type_create_indexed_block(static_cast<int>(places.size()), 4, places.data(), MPI_DOUBLE, &type);
  return type;
}

/// A number, a gap, three more.
MPI_Datatype structure(std::size_t) {
  constexpr std::array lengths{1, 3};
  constexpr std::array<MPI_Aint, 2> places{0, 8};
  const std::array<MPI_Datatype, 2> types{MPI_INT, MPI_DOUBLE};
  MPI_Datatype type;
  MPI_Type_create_struct(2, lengths.data(), places.data(), types.data(), &type);
  return type;
}

MPI_Datatype particle(std::size_t) {
  constexpr std::array lengths{3, 1, 3};
  constexpr std::array<MPI_Aint, 3> places{0, 24, 32};
  const std::array<MPI_Datatype, 3> types{MPI_DOUBLE, MPI_INT, MPI_FLOAT};
  MPI_Datatype type;
  MPI_Type_create_struct(3, lengths.data(), places.data(), types.data(), &type);
  return resized(type, 48);
}

MPI_Datatype face(std::size_t bytes) {
  const int rows = min_one(bytes / (16 * sizeof(double)));
  const std::array<int, 2> sizes{rows, 64};
  const std::array<int, 2> part{rows, 16};
  const std::array<int, 2> start{0, 24};
  MPI_Datatype type;
  MPI_Type_create_subarray(2, sizes.data(), part.data(), start.data(), MPI_ORDER_C, MPI_DOUBLE, &type);
  return type;
}

MPI_Datatype box(std::size_t bytes) {
  const int planes = min_one(bytes / (6 * 6 * sizeof(double)));
  const std::array<int, 3> sizes{planes, 8, 8};
  const std::array<int, 3> part{planes, 6, 6};
  const std::array<int, 3> start{0, 1, 1};
  MPI_Datatype type;
  MPI_Type_create_subarray(3, sizes.data(), part.data(), start.data(), MPI_ORDER_C, MPI_DOUBLE, &type);
  return type;
}

constexpr std::array all{
    Shape{"contiguous", [](std::size_t) { return contiguous(3, MPI_DOUBLE); }},
    Shape{"vector_8_of_16", [](std::size_t bytes) { return vector(bytes / 8, 1, 2, MPI_DOUBLE); }},
    Shape{"vector_64_of_128", [](std::size_t bytes) { return vector(bytes / 64, 8, 16, MPI_DOUBLE); }},
    Shape{"vector_8_of_1K",
          [](std::size_t bytes) { return vector(std::min<std::size_t>(bytes, 256 << 10) / 8, 1, 128, MPI_DOUBLE); }},
    Shape{"vector_1K_of_4K", [](std::size_t bytes) { return vector(bytes / 1024, 128, 512, MPI_DOUBLE); }},
    Shape{"indexed", indexed},
    Shape{"indexed_block", indexed_blocks},
    Shape{"struct", structure},
    Shape{"struct_resized", particle},
    Shape{"resized_24_of_32", [](std::size_t) { return resized(contiguous(3, MPI_DOUBLE), 32); }},
    Shape{"resized_28_of_40", [](std::size_t) { return resized(contiguous(7, MPI_INT), 40); }},
    Shape{"resized_4_of_8", [](std::size_t) { return resized(contiguous(1, MPI_INT), 8); }},
    Shape{"resized_200_of_256", [](std::size_t) { return resized(contiguous(25, MPI_DOUBLE), 256); }},
    Shape{"subarray_2d", face},
    Shape{"subarray_3d", box},
};

}  // namespace

std::span<const Shape> shapes() { return all; }

Typed::Typed(const Shape& shape, std::size_t bytes) : type_(shape.make(bytes)) {
  MPI_Type_commit(&type_);
  int size = 0;
  MPI_Type_size(type_, &size);
  count_ = min_one(bytes / static_cast<std::size_t>(size));
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(type_, &lower, &extent);
  MPI_Aint true_lower = 0;
  MPI_Aint true_extent = 0;
  MPI_Type_get_true_extent(type_, &true_lower, &true_extent);
  span_ = static_cast<std::size_t>(extent * (count_ - 1) + true_lower + true_extent);
}

Typed::~Typed() { MPI_Type_free(&type_); }

}  // namespace bench
