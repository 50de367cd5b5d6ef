// What an operation makes of two elements, in the words of C. For the translation units of one width each: everything here has
// internal linkage, since the linker would otherwise keep one width's code for all of them.
#pragma once

#include <cstdint>
#include <type_traits>

namespace sluice {
namespace {

#define SLUICE_REDUCE_INLINE inline __attribute__((always_inline))

// The lower rank's element comes first. Integers narrower than int are computed as unsigned, where overflow wraps.

struct Max {
  template <typename T>
  static SLUICE_REDUCE_INLINE T apply(T lower, T upper) {
    return upper > lower ? upper : lower;
  }
};

struct Min {
  template <typename T>
  static SLUICE_REDUCE_INLINE T apply(T lower, T upper) {
    return upper < lower ? upper : lower;
  }
};

struct Sum {
  template <typename T>
  static SLUICE_REDUCE_INLINE T apply(T lower, T upper) {
    return static_cast<T>(upper + lower);
  }
};

struct Product {
  template <typename T>
  static SLUICE_REDUCE_INLINE T apply(T lower, T upper) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(1U * upper * lower);
    } else {
      return upper * lower;
    }
  }
};

/// Two bytes at once, each by itself: no width multiplies bytes, and to widen them costs more.
struct ByteProducts {
  static SLUICE_REDUCE_INLINE std::uint16_t apply(std::uint16_t lower, std::uint16_t upper) {
    const unsigned first = (1U * upper * lower) & 0xFFU;
    const unsigned second = (upper >> 8U) * (lower & 0xFF00U);
    return static_cast<std::uint16_t>(first | second);
  }
};

struct LogicalAnd {
  template <typename T>
  static SLUICE_REDUCE_INLINE T apply(T lower, T upper) {
    return static_cast<T>((upper != 0) & (lower != 0));
  }
};

struct LogicalOr {
  template <typename T>
  static SLUICE_REDUCE_INLINE T apply(T lower, T upper) {
    return static_cast<T>((upper | lower) != 0);
  }
};

struct LogicalXor {
  template <typename T>
  static SLUICE_REDUCE_INLINE T apply(T lower, T upper) {
    return static_cast<T>((upper != 0) ^ (lower != 0));
  }
};

struct BitAnd {
  template <typename T>
  static SLUICE_REDUCE_INLINE T apply(T lower, T upper) {
    return static_cast<T>(upper & lower);
  }
};

struct BitOr {
  template <typename T>
  static SLUICE_REDUCE_INLINE T apply(T lower, T upper) {
    return static_cast<T>(upper | lower);
  }
};

struct BitXor {
  template <typename T>
  static SLUICE_REDUCE_INLINE T apply(T lower, T upper) {
    return static_cast<T>(upper ^ lower);
  }
};

template <typename Value, typename Index>
struct Pair {
  Value value;
  Index index;
};

/// The better value wins; of equal ones the lower index.
template <bool Greatest>
struct Location {
  template <typename Value>
  static SLUICE_REDUCE_INLINE bool lower_wins(Value lower, Value upper) {
    return Greatest ? lower > upper : lower < upper;
  }
  /// Without branches, which data of a program would mislead.
  template <typename P>
  static SLUICE_REDUCE_INLINE P apply(P lower, P upper) {
    const bool wins = lower_wins(lower.value, upper.value);
    const bool has_lower_index = (lower.value == upper.value) & !(upper.index < lower.index);
    return {wins ? lower.value : upper.value, (wins | has_lower_index) ? lower.index : upper.index};
  }
};

/// The same on pairs of two words of one size, of which compilers make vectors: the value by its bits, and the index, with the
/// padding behind it where the word is larger than an int. As little-endian processors lay them out.
template <bool Greatest, typename Value>
struct WordLocation {
  template <typename Word>
  static SLUICE_REDUCE_INLINE Word index_of(Word word) {
    constexpr unsigned padding = 8 * (sizeof(Word) - sizeof(int));
    return static_cast<Word>(static_cast<std::make_unsigned_t<Word>>(word) << padding);
  }
  template <typename Word>
  static SLUICE_REDUCE_INLINE Value value_of(Word word) {
    if constexpr (sizeof(Word) == sizeof(Value)) {
      return __builtin_bit_cast(Value, word);
    } else {
      return static_cast<Value>(word);  // padding behind it
    }
  }
  template <typename Word>
  static SLUICE_REDUCE_INLINE Pair<Word, Word> apply(Pair<Word, Word> lower, Pair<Word, Word> upper) {
    const Value lower_value = value_of(lower.value);
    const Value upper_value = value_of(upper.value);
    const bool wins = Location<Greatest>::lower_wins(lower_value, upper_value);
    const bool has_lower_index = (lower_value == upper_value) & !(index_of(upper.index) < index_of(lower.index));
    return {wins ? lower.value : upper.value, (wins | has_lower_index) ? lower.index : upper.index};
  }
};

}  // namespace
}  // namespace sluice
