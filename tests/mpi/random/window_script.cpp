#include "window_script.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "prng.hpp"

namespace random_program {
namespace {

using Kind = WindowOperation::Kind;

constexpr std::size_t word = 8;  // stretches begin and end at words

WindowShape make_shape(Random& random, int ranks) {
  constexpr std::array<std::size_t, 8> words{0, 1, 8, 40, 512, 1025, 9000, 40000};
  constexpr std::array<int, 3> units{1, 4, 8};
  WindowShape shape;
  shape.allocated = random.chance(50) || ranks == 1;  // Open MPI 4.1 has no other kind in a job of one
  const bool is_even = random.chance(50);
  for (int rank = 0; rank < ranks; ++rank) {
    const bool as_before = is_even && rank != 0;
    shape.bytes.push_back(as_before ? shape.bytes[0] : word * random.pick(std::span<const std::size_t>(words)));
    shape.unit.push_back(as_before ? shape.unit[0] : random.pick(std::span<const int>(units)));
  }
  return shape;
}

/// Of Open MPI 4.1 long unsigned ones are compared as signed, and short ones are summed with saturation.
Combine combine_for(Random& random, Element element) {
  constexpr std::array<Combine, 3> bits{Combine::bit_xor, Combine::bit_or, Combine::bit_and};
  if (element == Element::int32) return random.chance(50) ? Combine::max : Combine::min;
  if (bytes_of(element) >= 4 && random.chance(60)) return Combine::sum;
  return random.pick(std::span<const Combine>(bits));
}

Element any_element(Random& random) {
  constexpr std::array<Element, 5> elements{Element::byte, Element::word16, Element::word32, Element::word64, Element::int32};
  return random.pick(std::span<const Element>(elements));
}

/// One stretch of a target's memory, and all that is done to it in the epoch.
class Stretch {
 public:
  struct Place {
    int target;
    std::size_t at;
    std::size_t bytes;
  };
  Stretch(Random& random, WindowEpoch& epoch, const WindowShape& shape, const Place& place)
      : random_(random),
        epoch_(epoch),
        ranks_(static_cast<int>(shape.bytes.size())),
        is_allocated_(shape.allocated),
        place_(place) {}

  void fill() {
    switch (random_.below(6)) {
      case 0:
      case 1:
        return add(Kind::put, random_.rank_below(ranks_), any_element(random_), Combine::replace);
      case 2:
        return by_some(Kind::get, any_element(random_), Combine::replace);
      case 3:
        return accumulate();
      case 4:
        return read_and_accumulate();
      default:
        return by_some(Kind::count, Element::word64, Combine::sum);
    }
  }

 private:
  void accumulate() {
    const Element element = any_element(random_);
    by_some(Kind::accumulate, element, combine_for(random_, element));
  }
  void read_and_accumulate() {
    const Element element = any_element(random_);
    add(Kind::get_accumulate, random_.rank_below(ranks_), element,
        random_.chance(30) ? Combine::replace : combine_for(random_, element));
  }
  void by_some(Kind kind, Element element, Combine combine) {
    for (int origin = 0; origin < ranks_; ++origin) {
      if (random_.chance(60)) add(kind, origin, element, combine);
    }
  }
  void add(Kind kind, int origin, Element element, Combine combine) {
    WindowOperation made;
    made.kind = kind;
    made.origin = origin;
    made.target = place_.target;
    made.at = place_.at;
    made.element = element;
    made.combine = combine;
    made.data = random_.next();
    if (kind == Kind::count) {
      made.count = 1;
    } else {
      // Open MPI 4.1 fetches other data than it should from what `MPI_Win_create` makes, where either type has gaps or much is
      // fetched.
      constexpr std::size_t most_fetched = 4096;
      const bool is_careful = kind == Kind::get_accumulate && !is_allocated_;
      const std::size_t room = (is_careful ? std::min(place_.bytes, most_fetched) : place_.bytes) / bytes_of(element);
      made.target_has_gaps = random_.chance(25) && !is_careful;
      made.origin_has_gaps = random_.chance(25) && !is_careful;
      made.by_request = random_.chance(25);
      made.count = made.target_has_gaps ? (room + 1) / 2 : room;
      if (random_.chance(5)) made.count = 0;
    }
    epoch_.operations.push_back(made);
  }

  Random& random_;
  WindowEpoch& epoch_;
  const int ranks_;
  const bool is_allocated_;
  const Place place_;
};

WindowEpoch make_epoch(Random& random, const std::vector<WindowShape>& windows, int ranks) {
  constexpr std::array<Sync, 5> ways{Sync::fence, Sync::start, Sync::lock_shared, Sync::lock_exclusive, Sync::lock_all};
  WindowEpoch epoch;
  epoch.window = random.below(windows.size());
  epoch.sync = random.pick(std::span<const Sync>(ways));
  epoch.beside_messages = random.chance(30);
  epoch.flushes = random.chance(20);
  const WindowShape& shape = windows[epoch.window];
  for (int target = 0; target < ranks; ++target) {
    const std::size_t end = shape.bytes[static_cast<std::size_t>(target)];
    for (std::size_t at = 0; at < end && random.chance(80);) {
      const std::size_t most = std::min(end - at, word << random.below(15));
      const std::size_t bytes = word * random.between(1, most / word);
      Stretch(random, epoch, shape, {.target = target, .at = at, .bytes = bytes}).fill();
      at += bytes + word * random.below(3);
    }
  }
  random.shuffle(epoch.operations);
  return epoch;
}

std::uint64_t load(const std::byte* from, Element element) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, bytes_of(element));  // of the lower bytes
  return value;
}

std::uint64_t combined(Combine combine, std::uint64_t old, std::uint64_t operand) {
  const auto as_signed = [](std::uint64_t value) { return static_cast<std::int32_t>(static_cast<std::uint32_t>(value)); };
  switch (combine) {
    case Combine::sum:
      return old + operand;
    case Combine::bit_xor:
      return old ^ operand;
    case Combine::bit_or:
      return old | operand;
    case Combine::bit_and:
      return old & operand;
    case Combine::max:
      return as_signed(old) > as_signed(operand) ? old : operand;
    case Combine::min:
      return as_signed(old) < as_signed(operand) ? old : operand;
    case Combine::replace:
      return operand;
  }
  return operand;
}

}  // namespace

std::size_t bytes_of(Element element) {
  switch (element) {
    case Element::byte:
      return 1;
    case Element::word16:
      return 2;
    case Element::word32:
    case Element::int32:
      return 4;
    case Element::word64:
      return 8;
  }
  return 1;
}

std::uint64_t value_of(const WindowOperation& operation, std::size_t index) {
  if (operation.kind == Kind::count) return 1;
  const std::uint64_t value = scramble(operation.data + index);
  const std::size_t unused_bits = 8 * (word - bytes_of(operation.element));
  return value << unused_bits >> unused_bits;
}

WindowScript make_window_script(std::uint64_t seed, int ranks) {
  Random random(scramble(seed) + static_cast<std::uint64_t>(ranks));
  WindowScript script;
  script.is_reversed = random.chance(30);
  for (std::size_t n = random.between(1, 3); n != 0; --n) script.windows.push_back(make_shape(random, ranks));
  for (std::size_t n = random.between(4, 12); n != 0; --n) script.epochs.push_back(make_epoch(random, script.windows, ranks));
  return script;
}

WindowMemory first_memory(const WindowShape& shape, std::uint64_t seed) {
  WindowMemory memory;
  for (std::size_t rank = 0; rank < shape.bytes.size(); ++rank) {
    memory.emplace_back(shape.bytes[rank]);
    Random random(scramble(seed) + rank);
    for (std::byte& byte : memory.back()) byte = static_cast<std::byte>(random.next());
  }
  return memory;
}

std::vector<std::uint64_t> apply(const WindowOperation& operation, WindowMemory& memory) {
  std::vector<std::uint64_t> found;
  const std::size_t step = bytes_of(operation.element) * (operation.target_has_gaps ? 2 : 1);
  std::byte* place = memory[static_cast<std::size_t>(operation.target)].data() + operation.at;
  for (std::size_t i = 0; i < operation.count; ++i, place += step) {
    const std::uint64_t old = load(place, operation.element);
    found.push_back(old);
    if (operation.kind == Kind::get) continue;
    const std::uint64_t value = combined(operation.combine, old, value_of(operation, i));
    std::memcpy(place, &value, bytes_of(operation.element));
  }
  return found;
}

}  // namespace random_program
