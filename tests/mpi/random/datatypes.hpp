// Derived datatypes with a description of their own, so that where each byte belongs is known without asking MPI.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "script.hpp"

namespace random_program {

struct Block {
  std::ptrdiff_t offset = 0;
  std::size_t bytes = 0;
};

/// A committed type and where the bytes of an element lie, in the order of the packed stream. Owns the type.
class Layout {
 public:
  Layout(Base base, const LayoutSpec& spec);
  ~Layout();
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;

  [[nodiscard]] MPI_Datatype type() const { return type_; }
  [[nodiscard]] std::size_t element_bytes() const { return element_bytes_; }
  [[nodiscard]] std::ptrdiff_t extent() const { return extent_; }
  [[nodiscard]] std::size_t elements_for(std::size_t units) const { return (units + units_ - 1) / units_; }

  /// The bytes that `elements` elements span around their origin: [lower, upper).
  [[nodiscard]] std::ptrdiff_t lower() const { return lower_; }
  [[nodiscard]] std::ptrdiff_t upper(std::size_t elements) const;

  void scatter(std::span<const std::byte> packed, std::byte* origin) const;

  /// What MPI_Get_count and MPI_Get_elements must answer for a message of this many bytes.
  [[nodiscard]] int expected_count(std::size_t bytes) const;
  [[nodiscard]] int expected_elements(std::size_t bytes) const;

 private:
  Base base_;
  std::size_t units_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  bool owned_ = true;
  std::vector<Block> blocks_;
  std::ptrdiff_t extent_ = 0;
  std::ptrdiff_t lower_ = 0;
  std::ptrdiff_t upper_ = 0;
  std::size_t element_bytes_ = 0;
};

/// `count` elements of `layout` at `origin`, as MPI_BOTTOM, 1 and a type with an absolute address.
MPI_Datatype make_absolute(const Layout& layout, std::size_t count, std::byte* origin);

}  // namespace random_program
