// Compares the kernels of reductions with the host's MPI_Reduce_local, bit for bit: each predefined operation with each
// predefined type, special values among random ones, lengths and alignments of all kinds, in place or not.
//
// Usage: reduction_check plain|vectors, one process.
//
//   plain    the host's own functions: no difference
//   vectors  the host as it is. Where it has vector loops, they differ from those functions, as reduce_kernel.hpp says: sums of 8
//            and 16 bits that overflow, and the greater or lesser of NaNs and zeros, are not compared
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "interpose/mpi/reductions.hpp"
#include "operands.hpp"

namespace {

using namespace sluice;
using namespace reduction_check;

struct Operation {
  const char* name;
  MPI_Op op;
};

struct Type {
  const char* name;
  MPI_Datatype type;
};

#define NAMED(handle) \
  { #handle, handle }

const Operation operations[] = {NAMED(MPI_MAX),  NAMED(MPI_MIN),  NAMED(MPI_SUM),    NAMED(MPI_PROD),
                                NAMED(MPI_LAND), NAMED(MPI_BAND), NAMED(MPI_LOR),    NAMED(MPI_BOR),
                                NAMED(MPI_LXOR), NAMED(MPI_BXOR), NAMED(MPI_MAXLOC), NAMED(MPI_MINLOC)};

const Type types[] = {
    NAMED(MPI_CHAR),
    NAMED(MPI_SIGNED_CHAR),
    NAMED(MPI_UNSIGNED_CHAR),
    NAMED(MPI_BYTE),
    NAMED(MPI_PACKED),
    NAMED(MPI_WCHAR),
    NAMED(MPI_SHORT),
    NAMED(MPI_UNSIGNED_SHORT),
    NAMED(MPI_INT),
    NAMED(MPI_UNSIGNED),
    NAMED(MPI_LONG),
    NAMED(MPI_UNSIGNED_LONG),
    NAMED(MPI_LONG_LONG),
    NAMED(MPI_UNSIGNED_LONG_LONG),
    NAMED(MPI_INT8_T),
    NAMED(MPI_UINT8_T),
    NAMED(MPI_INT16_T),
    NAMED(MPI_UINT16_T),
    NAMED(MPI_INT32_T),
    NAMED(MPI_UINT32_T),
    NAMED(MPI_INT64_T),
    NAMED(MPI_UINT64_T),
    NAMED(MPI_AINT),
    NAMED(MPI_OFFSET),
    NAMED(MPI_COUNT),
    NAMED(MPI_FLOAT),
    NAMED(MPI_DOUBLE),
    NAMED(MPI_LONG_DOUBLE),
    NAMED(MPI_C_BOOL),
    NAMED(MPI_CXX_BOOL),
    NAMED(MPI_C_COMPLEX),
    NAMED(MPI_C_FLOAT_COMPLEX),
    NAMED(MPI_C_DOUBLE_COMPLEX),
    NAMED(MPI_C_LONG_DOUBLE_COMPLEX),
    NAMED(MPI_CXX_FLOAT_COMPLEX),
    NAMED(MPI_CXX_DOUBLE_COMPLEX),
    NAMED(MPI_CXX_LONG_DOUBLE_COMPLEX),
    NAMED(MPI_FLOAT_INT),
    NAMED(MPI_DOUBLE_INT),
    NAMED(MPI_LONG_DOUBLE_INT),
    NAMED(MPI_LONG_INT),
    NAMED(MPI_SHORT_INT),
    NAMED(MPI_2INT),
    NAMED(MPI_LOGICAL),
    NAMED(MPI_LOGICAL1),
    NAMED(MPI_LOGICAL2),
    NAMED(MPI_LOGICAL4),
    NAMED(MPI_LOGICAL8),
    NAMED(MPI_CHARACTER),
    NAMED(MPI_INTEGER),
    NAMED(MPI_INTEGER1),
    NAMED(MPI_INTEGER2),
    NAMED(MPI_INTEGER4),
    NAMED(MPI_INTEGER8),
    NAMED(MPI_REAL),
    NAMED(MPI_REAL4),
    NAMED(MPI_REAL8),
    NAMED(MPI_REAL16),
    NAMED(MPI_DOUBLE_PRECISION),
    NAMED(MPI_COMPLEX),
    NAMED(MPI_COMPLEX8),
    NAMED(MPI_COMPLEX16),
    NAMED(MPI_COMPLEX32),
    NAMED(MPI_DOUBLE_COMPLEX),
    NAMED(MPI_2REAL),
    NAMED(MPI_2DOUBLE_PRECISION),
    NAMED(MPI_2INTEGER),
    NAMED(MPI_2COMPLEX),
    NAMED(MPI_2DOUBLE_COMPLEX),
};

constexpr std::size_t lengths[] = {1, 2, 3, 5, 7, 8, 9, 15, 17, 31, 32, 33, 63, 65, 100, 129, 1000};
constexpr std::size_t margin = 64;
constexpr std::size_t max_bytes = 32 * 1000 + 2 * margin;

bool has_vectors = false;

[[noreturn]] void complain(const Type& type, const Operation& operation, const char* what) {
  std::printf("reduction_check: %s of %s: %s\n", operation.name, type.name, what);
  std::exit(1);
}

/// Types that the host reduces, and no kernel does: their representation is no C++ type's, or MPI does not define the operation.
bool may_be_unknown(const std::string& type, const Operation& operation) {
  if (type == "MPI_REAL16" || type == "MPI_COMPLEX32") return true;
  const bool is_logical = operation.op == MPI_LAND || operation.op == MPI_LOR || operation.op == MPI_LXOR;
  if (type.starts_with("MPI_LOGICAL")) return !is_logical;
  return type.starts_with("MPI_INTEGER") && is_logical;
}

/// An element on which the host's vector loops differ from its own functions. And these of 4.1 take an unsigned long for a long.
bool is_excused(const Type& type, const Operation& operation, const Part& part, const std::byte* lower, const std::byte* upper) {
  const bool chooses = operation.op == MPI_MAX || operation.op == MPI_MIN;
  if (chooses && type.type == MPI_UNSIGNED_LONG) return (integer_at(lower, part) ^ integer_at(upper, part)) < 0;
  if (!has_vectors) return false;
  if (chooses) {
    return is_nan(lower, part) || is_nan(upper, part) || (is_zero(lower, part) && is_zero(upper, part));
  }
  if (operation.op != MPI_SUM || part.type == Part::Class::real || part.bytes > 2) return false;
  const std::int64_t sum = integer_at(lower, part) + integer_at(upper, part);
  const std::int64_t values = std::int64_t{1} << (8 * part.bytes);
  const std::int64_t least = part.type == Part::Class::signed_integer ? -values / 2 : 0;
  return sum < least || sum >= least + values;
}

class Check {
 public:
  Check(const Type& type, const Operation& operation, const Reduction& reduction, ElementKind kind)
      : type_(type),
        operation_(operation),
        reduction_(reduction),
        parts_(parts_of(kind, type.type == MPI_C_BOOL || type.type == MPI_CXX_BOOL)) {}

  void run(std::size_t elements, std::size_t lower_at, std::size_t upper_at) {
    alignas(64) static std::byte lower[max_bytes], upper[max_bytes], host[max_bytes], own[max_bytes];
    const std::size_t bytes = elements * reduction_.element_bytes();
    maker_.fill(lower + lower_at, elements, reduction_.element_bytes(), parts_);
    maker_.fill(upper + upper_at, elements, reduction_.element_bytes(), parts_);
    std::memcpy(host + upper_at, upper + upper_at, bytes);
    if (PMPI_Reduce_local(lower + lower_at, host + upper_at, static_cast<int>(elements), type_.type, operation_.op) !=
        MPI_SUCCESS) {
      complain(type_, operation_, "the host refuses");
    }
    reduction_.combine(lower + lower_at, upper + upper_at, own + lower_at, elements);
    compare(elements, lower + lower_at, upper + upper_at, host + upper_at, own + lower_at);
    std::memcpy(own, upper + upper_at, bytes);
    reduction_.combine(lower + lower_at, own, own, elements);
    compare(elements, lower + lower_at, upper + upper_at, host + upper_at, own);
    std::memcpy(own, lower + lower_at, bytes);
    reduction_.combine(own, upper + upper_at, own, elements);
    compare(elements, lower + lower_at, upper + upper_at, host + upper_at, own);
  }

 private:
  void compare(std::size_t elements, const std::byte* lower, const std::byte* upper, const std::byte* host,
               const std::byte* own) {
    for (std::size_t i = 0; i < elements; ++i) {
      const std::size_t at = i * reduction_.element_bytes();
      for (const Part& part : parts_) {
        if (are_equal(host + at, own + at, part) || is_excused(type_, operation_, part, lower + at, upper + at)) continue;
        std::printf("element %zu of %zu, at byte %zu of it\n", i, elements, part.offset);
        show("lower", lower + at);
        show("upper", upper + at);
        show("host ", host + at);
        show("own  ", own + at);
        complain(type_, operation_, "results differ");
      }
    }
  }

  void show(const char* name, const std::byte* element) {
    std::printf("%s", name);
    for (std::size_t i = 0; i < reduction_.element_bytes(); ++i) std::printf(" %02x", static_cast<unsigned>(element[i]));
    std::printf("\n");
  }

  const Type& type_;
  const Operation& operation_;
  const Reduction& reduction_;
  std::vector<Part> parts_;
  OperandMaker maker_{1};
};

/// 1: compared, 0: neither knows it.
int check(const Type& type, const Operation& operation) {
  const Reduction* const reduction = reduction_of(operation.op, type.type);
  if (!reduction) {
    alignas(16) std::byte one[64]{};
    alignas(16) std::byte other[64]{};
    const bool host_knows = PMPI_Reduce_local(one, other, 1, type.type, operation.op) == MPI_SUCCESS;
    if (host_knows && !may_be_unknown(type.name, operation)) complain(type, operation, "only the host knows it");
    return 0;
  }
  Check check(type, operation, *reduction, static_cast<ElementKind>(reduction->code() & 0xFF));
  for (const std::size_t elements : lengths) {
    for (const std::size_t at : {0u, 16u, 4u, 1u}) check.run(elements, at, at * 3 % margin);
  }
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  has_vectors = argc > 1 && std::string(argv[1]) == "vectors";
  if (!has_vectors) setenv("OMPI_MCA_op", "^avx", 1);
  PMPI_Init(&argc, &argv);
  PMPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  open_reductions();
  int compared = 0;
  for (const Type& type : types) {
    for (const Operation& operation : operations) {
      compared += check(type, operation);
    }
  }
  if (reduction_of(MPI_REPLACE, MPI_INT) || reduction_of(MPI_OP_NULL, MPI_INT) || reduction_of(MPI_SUM, MPI_DATATYPE_NULL)) {
    std::printf("reduction_check: something was found that is none\n");
    return 1;
  }
  std::printf("%d operations on types compared\n", compared);
  PMPI_Finalize();
  return 0;
}
