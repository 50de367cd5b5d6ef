// MPI_Accumulate and its kin on windows that Sluice carries. Inside a node the origin does it, while it holds the target's
// accumulate lock; between nodes the target does (runtime/far_target.hpp), and what follows is of those inside.
//
// A pair with padding that does not lie in one piece is packed, and combined by the host; what else no kernel is there for goes
// to the host's window of the same memory. All is done under the same lock.

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>

#include "interpose/mpi/distant_memory.hpp"
#include "interpose/mpi/element_types.hpp"
#include "interpose/mpi/program_operation.hpp"
#include "interpose/mpi/reductions.hpp"
#include "interpose/mpi/window_arguments.hpp"
#include "interpose/mpi/window_calls.hpp"
#include "runtime/far_window_calls.hpp"
#include "runtime/guard/user_memory.hpp"
#include "runtime/window/accumulate.hpp"

namespace sluice::window_calls {
namespace {

/// One side's type. A pair with padding is taken as a whole where all sides have that very type, and packed where they have not.
const FlatType* side(MPI_Datatype type, bool is_on_all_sides) {
  const FlatType* const flat = flat_type(type);
  const FlatType* const whole = flat && !flat->simple && is_on_all_sides ? whole_pair(type) : nullptr;
  return whole ? whole : flat;
}

/// nullptr: there is no kernel for it.
const Reduction* kernel_for(MPI_Op op, MPI_Datatype type, const FlatType* flat) {
  const Reduction* const reduction = reduction_of(op, type);
  return reduction && flat && flat->size == reduction->element_bytes() ? reduction : nullptr;
}

struct Combination {
  std::unique_ptr<ProgramOperation> packed;  // what `operation` calls where no kernel is there
  AccumulateOperation operation;
};

/// `target`: the side of that type. nullopt: nobody here knows how.
std::optional<Combination> combination_of(MPI_Op op, MPI_Datatype target_type, const FlatType* target) {
  if (op == predefined().replace) return Combination{nullptr, AccumulateOperation::replace()};
  if (op == predefined().no_op) return Combination{nullptr, AccumulateOperation::nothing()};
  if (const Reduction* whole = kernel_for(op, target_type, target))
    return Combination{nullptr, AccumulateOperation::reduce(*whole)};
  const MPI_Datatype element = element_type(target_type);
  const FlatType* const flat = element ? flat_type(element) : nullptr;
  if (!flat || !reduction_of(op, element)) return std::nullopt;
  if (const Reduction* single = kernel_for(op, element, flat)) return Combination{nullptr, AccumulateOperation::reduce(*single)};
  auto packed = std::make_unique<ProgramOperation>(op, element, *flat);
  const AccumulateOperation operation = AccumulateOperation::combine(*packed);
  return Combination{std::move(packed), operation};
}

/// The same in messages; nullopt likewise.
std::optional<FarOrigin::Combination> far_combination_of(MPI_Op op, MPI_Datatype target_type, const FlatType* target) {
  if (op == predefined().replace) return FarOrigin::Combination{FarOperation::replace};
  if (op == predefined().no_op) return FarOrigin::Combination{FarOperation::nothing};
  if (const Reduction* whole = kernel_for(op, target_type, target)) return FarOrigin::Combination{whole->code()};
  const MPI_Datatype element = element_type(target_type);
  const FlatType* const flat = element ? flat_type(element) : nullptr;
  const Reduction* const reduction = flat ? reduction_of(op, element) : nullptr;
  if (!reduction) return std::nullopt;
  return FarOrigin::Combination{.name = reduction->code(), .packs_pairs = flat->size != reduction->element_bytes()};
}

/// `origin`, `result`: nullptr where there is none. MPI_SUCCESS, or the error that the window is to raise.
int accumulate_far(FarWindowCalls& far, FarOrigin::Combination combination, const TargetArgument& target,
                   const BufferArgument* origin, const BufferArgument* result, Request** whole, const char* call) {
  if (target.buffer().bytes() == 0) return MPI_SUCCESS;
  FarBuffers buffers(far, target, call);
  std::optional<UserBuffer> operand;
  std::optional<UserBuffer> before;
  if (origin) operand = buffers.read(*origin);
  if (result) before = buffers.written(*result);
  const bool is_done = far.accumulate(target.rank(), combination, operand ? &*operand : nullptr, before ? &*before : nullptr,
                                      buffers.place(), whole);
  buffers.end();
  return is_done ? MPI_SUCCESS : MPI_ERR_RMA_RANGE;
}

int compare_and_swap_far(FarWindowCalls& far, const TargetArgument& target, const BufferArgument& new_value,
                         const BufferArgument& compared, const BufferArgument& result, const char* call) {
  FarBuffers buffers(far, target, call);
  const UserBuffer old_bytes = buffers.read(compared);
  const UserBuffer new_bytes = buffers.read(new_value);
  const bool is_done = far.compare_and_swap(target.rank(), old_bytes, new_bytes, buffers.written(result), buffers.place());
  buffers.end();
  return is_done ? MPI_SUCCESS : MPI_ERR_RMA_RANGE;
}

int raise_if(const Window& window, int code, const char* call) { return code == MPI_SUCCESS ? code : window.raise(code, call); }

template <typename OnHost>
int locked_on_host(Window& window, std::size_t rank, OnHost on_host) {
  const SharedSync::Accumulating lock(window.shared_sync(), rank);
  return on_host();
}

/// So much is brought here at a time: whole elements of any kind that has a kernel.
constexpr std::size_t most_piece_bytes = std::size_t{64} << 10;

/// The target's memory as packed bytes, one after the other.
class PackedTarget {
 public:
  explicit PackedTarget(const TargetArgument& target) {
    const UserBuffer places = target.buffer().user_buffer();
    if (target.is_mapped()) {
      reading_.emplace(places);
      writing_.emplace(places);
    } else {
      distant_.emplace(target.member(), places);
    }
  }
  [[nodiscard]] bool read(std::byte* to, std::size_t bytes) {
    return distant_ ? distant_->read(to, bytes) : reading_->pack({to, bytes}) == bytes;
  }
  [[nodiscard]] bool write(const std::byte* from, std::size_t bytes) {
    return distant_ ? distant_->write(from, bytes) : writing_->unpack({from, bytes}) == bytes;
  }

 private:
  std::optional<DistantMemory> distant_;
  std::optional<LayoutCursor> reading_;
  std::optional<LayoutCursor> writing_;
};

bool accumulate_in_pieces(Window& window, const AccumulateOperation& operation, const TargetArgument& target,
                          const std::byte* operand, std::byte* before) {
  const std::size_t bytes = target.buffer().bytes();
  const std::size_t piece_bytes = operation.whole_elements(most_piece_bytes);
  const auto piece = std::make_unique_for_overwrite<std::byte[]>(std::min(bytes, piece_bytes));
  PackedTarget memory(target);
  const SharedSync::Accumulating lock(window.shared_sync(), target.rank());
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t now = std::min(bytes - done, piece_bytes);
    if (!memory.read(piece.get(), now)) return false;
    operation.apply(operation.reads_operand() ? operand + done : nullptr, {piece.get(), now, byte_layout()},
                    before ? before + done : nullptr);
    if (operation.reads_operand() && !memory.write(piece.get(), now)) return false;
    done += now;
  }
  return true;
}

/// Both buffers are where the processor reaches them before the lock is taken, and nothing is waited for under it. False when
/// the target's memory could not be reached.
bool accumulate(Window& window, const AccumulateOperation& operation, const TargetArgument& target, const std::byte* operand,
                std::byte* before) {
  if (!target.is_mapped() || operation.takes_packed_only())
    return accumulate_in_pieces(window, operation, target, operand, before);
  const UserBuffer memory = target.buffer().user_buffer();
  const SharedSync::Accumulating lock(window.shared_sync(), target.rank());
  operation.apply(operand, memory, before);
  return true;
}

bool accumulate(Window& window, const AccumulateOperation& operation, const TargetArgument& target, const BufferArgument& origin,
                const char* call) {
  if (!operation.reads_operand()) return true;
  origin.settle(Access::read);
  const PackedOperand operand(origin, call);
  return accumulate(window, operation, target, operand.data(), nullptr);
}

bool get_accumulate(Window& window, const AccumulateOperation& operation, const TargetArgument& target,
                    const BufferArgument& origin, const BufferArgument& result, const char* call) {
  result.settle(Access::write);
  std::optional<PackedOperand> operand;
  if (operation.reads_operand()) {
    origin.settle(Access::read);
    operand.emplace(origin, call);
  }
  PackedResult before(result, call);
  if (!accumulate(window, operation, target, operand ? operand->data() : nullptr, before.data())) return false;
  before.deliver();
  return true;
}

int answer(const Window& window, bool is_done, const char* call) {
  return is_done ? MPI_SUCCESS : window.raise(MPI_ERR_RMA_RANGE, call);
}

constexpr std::size_t most_swapped_bytes = 16;

/// `found` may be either of the others.
bool compare_and_swap(Window& window, const TargetArgument& target, const std::byte* compared, const std::byte* new_value,
                      std::byte* found) {
  const std::size_t bytes = target.buffer().bytes();
  std::array<std::byte, most_swapped_bytes> was;
  std::byte* const place = target.is_mapped() ? target.buffer().address() : nullptr;
  std::optional<DistantMemory> memory;
  if (!place) memory.emplace(target.member(), target.buffer().user_buffer());
  {
    const SharedSync::Accumulating lock(window.shared_sync(), target.rank());
    if (place) std::memcpy(was.data(), place, bytes);
    if (memory && !memory->read(was.data(), bytes)) return false;
    if (std::memcmp(was.data(), compared, bytes) == 0) {
      if (place) std::memcpy(place, new_value, bytes);
      if (memory && !memory->write(new_value, bytes)) return false;
    }
  }
  std::memcpy(found, was.data(), bytes);
  return true;
}

/// As many bytes on all sides.
bool fits(const BufferArgument& own, const TargetArgument& target) { return own.bytes() == target.buffer().bytes(); }

template <typename OnHost>
int get_accumulate(Window& window, const BufferArgument& origin, const BufferArgument& result, const TargetArgument& target,
                   MPI_Datatype target_type, const FlatType* target_side, MPI_Op op, Request** whole, const char* call,
                   OnHost on_host) {
  const bool needs_operand = op != predefined().no_op;  // else the origin's arguments are not significant
  if ((needs_operand && !origin.valid()) || !result.valid() || !target.in_order()) return on_host();
  if (const int code = target.refusal(); code != MPI_SUCCESS) return window.raise(code, call);
  if ((needs_operand && !fits(origin, target)) || !fits(result, target)) return window.raise(MPI_ERR_TRUNCATE, call);
  if (FarWindowCalls* const far = window.far()) {
    const auto known = far_combination_of(op, target_type, target_side);
    if (!known) return on_host();
    return raise_if(window, accumulate_far(*far, *known, target, needs_operand ? &origin : nullptr, &result, whole, call), call);
  }
  const auto combination = combination_of(op, target_type, target_side);
  if (!combination) return locked_on_host(window, target.rank(), on_host);
  return answer(window, get_accumulate(window, combination->operation, target, origin, result, call), call);
}

int accumulate(Window& window, const void* origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint displacement,
               MPI_Count target_count, MPI_Datatype target_type, MPI_Op op, Request** whole) {
  constexpr auto* call = "MPI_Accumulate";
  const bool is_of_one_type = type == target_type;
  const FlatType* const target_side = side(target_type, is_of_one_type);
  const BufferArgument own(origin, count, is_of_one_type ? target_side : side(type, false));
  const TargetArgument target(window, rank, displacement, target_count, target_side);
  const auto on_host = [&] {
    return host().Accumulate(origin, host_count(count), type, rank, displacement, host_count(target_count), target_type, op,
                             window.handle());
  };
  if (!own.valid() || !target.in_order()) return on_host();
  if (const int code = target.refusal(); code != MPI_SUCCESS) return window.raise(code, call);
  if (!fits(own, target)) return window.raise(MPI_ERR_TRUNCATE, call);
  if (FarWindowCalls* const far = window.far()) {
    const auto known = far_combination_of(op, target_type, target_side);
    if (!known) return on_host();
    if (op == predefined().no_op) return MPI_SUCCESS;
    return raise_if(window, accumulate_far(*far, *known, target, &own, nullptr, whole, call), call);
  }
  const auto combination = combination_of(op, target_type, target_side);
  if (!combination) return locked_on_host(window, target.rank(), on_host);
  return answer(window, accumulate(window, combination->operation, target, own, call), call);
}

int get_accumulate(Window& window, const void* origin, MPI_Count count, MPI_Datatype type, void* result, MPI_Count result_count,
                   MPI_Datatype result_type, int rank, MPI_Aint displacement, MPI_Count target_count, MPI_Datatype target_type,
                   MPI_Op op, Request** whole) {
  const bool is_of_one_type = result_type == target_type && (op == predefined().no_op || type == target_type);
  const FlatType* const target_side = side(target_type, is_of_one_type);
  const auto side_of = [&](MPI_Datatype one) { return one == target_type ? target_side : side(one, is_of_one_type); };
  const BufferArgument own(origin, count, side_of(type));
  const BufferArgument before(result, result_count, side_of(result_type));
  const TargetArgument target(window, rank, displacement, target_count, target_side);
  return get_accumulate(window, own, before, target, target_type, target_side, op, whole, "MPI_Get_accumulate", [&] {
    return host().Get_accumulate(origin, host_count(count), type, result, host_count(result_count), result_type, rank,
                                 displacement, host_count(target_count), target_type, op, window.handle());
  });
}

}  // namespace

int Accumulate(Window& window, const void* origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint displacement,
               MPI_Count target_count, MPI_Datatype target_type, MPI_Op op) {
  return accumulate(window, origin, count, type, rank, displacement, target_count, target_type, op, nullptr);
}

int Get_accumulate(Window& window, const void* origin, MPI_Count count, MPI_Datatype type, void* result, MPI_Count result_count,
                   MPI_Datatype result_type, int rank, MPI_Aint displacement, MPI_Count target_count, MPI_Datatype target_type,
                   MPI_Op op) {
  return get_accumulate(window, origin, count, type, result, result_count, result_type, rank, displacement, target_count,
                        target_type, op, nullptr);
}

int Fetch_and_op(Window& window, const void* origin, void* result, MPI_Datatype type, int rank, MPI_Aint displacement,
                 MPI_Op op) {
  const FlatType* const flat = side(type, true);
  const BufferArgument own(origin, 1, flat);
  const BufferArgument before(result, 1, flat);
  const TargetArgument target(window, rank, displacement, 1, flat);
  return get_accumulate(window, own, before, target, type, flat, op, nullptr, "MPI_Fetch_and_op",
                        [&] { return host().Fetch_and_op(origin, result, type, rank, displacement, op, window.handle()); });
}

int Compare_and_swap(Window& window, const void* origin, const void* compared, void* result, MPI_Datatype type, int rank,
                     MPI_Aint displacement) {
  constexpr auto* call = "MPI_Compare_and_swap";
  const BufferArgument own(origin, 1, type);
  const BufferArgument expected(compared, 1, type);
  const BufferArgument before(result, 1, type);
  const TargetArgument target(window, rank, displacement, 1, type);
  const bool in_order = own.valid() && expected.valid() && before.valid() && target.in_order() && own.simple();
  if (!in_order || own.bytes() > most_swapped_bytes)
    return host().Compare_and_swap(origin, compared, result, type, rank, displacement, window.handle());
  if (const int code = target.refusal(); code != MPI_SUCCESS) return window.raise(code, call);
  if (FarWindowCalls* const far = window.far())
    return raise_if(window, compare_and_swap_far(*far, target, own, expected, before, call), call);
  own.settle(Access::read);
  expected.settle(Access::read);
  before.settle(Access::write);
  const PackedOperand new_value(own, call);
  const PackedOperand old_value(expected, call);
  PackedResult got(before, call);
  if (!compare_and_swap(window, target, old_value.data(), new_value.data(), got.data()))
    return window.raise(MPI_ERR_RMA_RANGE, call);
  got.deliver();
  return MPI_SUCCESS;
}

int Raccumulate(Window& window, const void* origin, MPI_Count count, MPI_Datatype type, int rank, MPI_Aint displacement,
                MPI_Count target_count, MPI_Datatype target_type, MPI_Op op, MPI_Request* request) {
  Request* whole = nullptr;
  const int code = accumulate(window, origin, count, type, rank, displacement, target_count, target_type, op, &whole);
  if (code == MPI_SUCCESS) *request = window.handle_for(whole);
  return code;
}

int Rget_accumulate(Window& window, const void* origin, MPI_Count count, MPI_Datatype type, void* result, MPI_Count result_count,
                    MPI_Datatype result_type, int rank, MPI_Aint displacement, MPI_Count target_count, MPI_Datatype target_type,
                    MPI_Op op, MPI_Request* request) {
  Request* whole = nullptr;
  const int code = get_accumulate(window, origin, count, type, result, result_count, result_type, rank, displacement,
                                  target_count, target_type, op, &whole);
  if (code == MPI_SUCCESS) *request = window.handle_for(whole);
  return code;
}

}  // namespace sluice::window_calls
