// Collective calls with blocks and reductions, blocking and not, and what every rank must have afterwards.
#include <algorithm>
#include <numeric>
#include <span>

#include "lane.hpp"
#include "lane_call.hpp"

namespace random_program {

namespace {

void write_block(const Layout& layout, int displacement, const BlockSpec& block, Base base, std::byte* origin) {
  layout.scatter(contents_of(block.key, block.units * packed_bytes(base)), origin + displacement * layout.extent());
}

/// Where blocks lie: one behind the other, or in any order with gaps.
std::vector<int> places_of(const std::vector<int>& counts, bool may_have_gaps, Random& random) {
  std::vector<std::size_t> order(counts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (may_have_gaps && random.chance(50)) random.shuffle(order);
  std::vector<int> places(counts.size());
  int next = 0;
  for (const std::size_t index : order) {
    if (may_have_gaps) next += random.rank_below(3);
    places[index] = next;
    next += counts[index];
  }
  return places;
}

}  // namespace

std::shared_ptr<Lane::Side> Lane::make_side(const Call& call, const std::vector<BlockSpec>& blocks, bool is_receiver) {
  auto side = std::make_shared<Side>();
  side->layout = std::make_unique<Layout>(call.what.base, call.what.layout(call.rank, is_receiver));
  side->is_received = is_receiver;
  side->what = call.what;
  for (const BlockSpec& block : blocks) side->counts.push_back(static_cast<int>(side->layout->elements_for(block.units)));
  const bool has_places = !call.what.has_equal_blocks() && call.what.has_block_for_each(call.rank, call.ranks, is_receiver);
  side->displacements = places_of(side->counts, has_places, random_);
  std::ptrdiff_t bytes = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto elements = static_cast<std::size_t>(side->displacements[i] + side->counts[i]);
    if (side->counts[i] != 0) bytes = std::max(bytes, side->layout->upper(elements));
    side->byte_displacements.push_back(side->displacements[i] * static_cast<int>(side->layout->extent()));
    side->types.push_back(side->type());
  }
  const std::size_t alignment = call.what.base == Base::byte ? 1 : 8;
  side->slot = memory_.allocate(static_cast<std::size_t>(bytes), alignment, Memory::Placement::anywhere, random_);
  side->image.resize(side->slot.bytes);
  for (std::size_t i = 0; i < side->image.size(); ++i) side->image[i] = background_byte(side->slot.background, i);
  for (std::size_t i = 0; i < blocks.size(); ++i)
    write_block(*side->layout, side->displacements[i], blocks[i], call.what.base, side->image.data());
  return side;
}

/// What lies in it before the call.
void Lane::put(const Call& call, Side& side, const std::vector<BlockSpec>& blocks, std::size_t first) {
  for (std::size_t i = 0; i < blocks.size(); ++i)
    write_block(*side.layout, side.displacements[first + i], blocks[i], call.what.base, side.slot.origin);
}

void Lane::make_block_sides(Call& call) {
  using enum CollectiveKind;
  const auto given = call.what.given(call.rank, call.ranks);
  const auto got = call.what.got(call.rank, call.ranks);
  const bool is_gather = call.what.kind == gather || call.what.kind == gatherv;
  const bool is_scatter = call.what.kind == scatter || call.what.kind == scatterv;
  const bool is_in_place = call.what.is_in_place && (!(is_gather || is_scatter) || call.is_root());
  if (!given.empty() && (!is_in_place || is_scatter)) {
    call.given = make_side(call, given, false);
    put(call, *call.given, given, 0);
  }
  if (got.empty() || (is_in_place && is_scatter)) return;
  call.got = make_side(call, got, true);
  if (is_in_place) put(call, *call.got, given, given.size() == 1 ? call.rank : 0);
}

namespace {

/// What MPI is told of one side; of one that is not significant, nothing that could be used.
struct Told {
  Told(const std::shared_ptr<Lane::Side>& side, bool is_in_place)
      : base(side          ? side->slot.origin
             : is_in_place ? MPI_IN_PLACE
                           : nullptr),
        count(side ? side->count() : 0),
        type(side ? side->type() : MPI_BYTE),
        counts(side ? side->counts.data() : nullptr),
        places(side ? side->displacements.data() : nullptr),
        bytes(side ? side->byte_displacements.data() : nullptr),
        types(side ? side->types.data() : nullptr) {}

  void* base;
  int count;
  MPI_Datatype type;
  const int* counts;
  const int* places;
  const int* bytes;
  const MPI_Datatype* types;
};

}  // namespace

void Lane::make_rooted_call(Call& call) {
  using enum CollectiveKind;
  const int root = call.root();
  const Told given(call.given, call.what.is_in_place);
  const Told got(call.got, call.what.is_in_place);
  const Told& one = call.is_root() ? given : got;
  switch (call.what.kind) {
    case bcast:
      return call.make(MPI_Bcast, MPI_Ibcast, one.base, one.count, one.type, root);
    case gather:
      return call.make(MPI_Gather, MPI_Igather, given.base, given.count, given.type, got.base, got.count, got.type, root);
    case gatherv:
      return call.make(MPI_Gatherv, MPI_Igatherv, given.base, given.count, given.type, got.base, got.counts, got.places, got.type,
                       root);
    case scatter:
      return call.make(MPI_Scatter, MPI_Iscatter, given.base, given.count, given.type, got.base, got.count, got.type, root);
    default:
      return call.make(MPI_Scatterv, MPI_Iscatterv, given.base, given.counts, given.places, given.type, got.base, got.count,
                       got.type, root);
  }
}

void Lane::make_call(Call& call) {
  using enum CollectiveKind;
  const Told given(call.given, call.what.is_in_place);
  const Told got(call.got, call.what.is_in_place);
  switch (call.what.kind) {
    case barrier:
      return call.make(MPI_Barrier, MPI_Ibarrier);
    case allgather:
      return call.make(MPI_Allgather, MPI_Iallgather, given.base, given.count, given.type, got.base, got.count, got.type);
    case allgatherv:
      return call.make(MPI_Allgatherv, MPI_Iallgatherv, given.base, given.count, given.type, got.base, got.counts, got.places,
                       got.type);
    case alltoall:
      return call.make(MPI_Alltoall, MPI_Ialltoall, given.base, given.count, given.type, got.base, got.count, got.type);
    case alltoallv:
      return call.make(MPI_Alltoallv, MPI_Ialltoallv, given.base, given.counts, given.places, given.type, got.base, got.counts,
                       got.places, got.type);
    case alltoallw:
      return call.make(MPI_Alltoallw, MPI_Ialltoallw, given.base, given.counts, given.bytes, given.types, got.base, got.counts,
                       got.bytes, got.types);
    default:
      return make_rooted_call(call);
  }
}

void Lane::perform_call(const Event& event) {
  const auto members = script_.communicators[event.communicator].members(options_.rank);
  auto call = std::make_shared<Call>();
  call->what = event.call.in_group(*std::ranges::min_element(members));
  call->comm = communicators_[event.communicator];
  call->rank = static_cast<std::size_t>(local_rank(event.communicator, options_.rank));
  call->ranks = members.size();
  const bool is_late = event.call.key % members.size() == call->rank;
  busy(is_late ? event.sender_delay_us : event.receiver_delay_us);
  if (call->what.is_reduction()) {
    make_reduction(*call);
  } else {
    make_block_sides(*call);
    make_call(*call);
  }
  digest_ += combine(combine(call->what.key, call->rank), event_);
  if (!call->what.is_nonblocking) return end_call(*call);
  outstanding_.push_back({call->request, false, false, [this, call](const MPI_Status*) { end_call(*call); }});
}

void Lane::end_call(const Call& call) {
  if (call.given) finish_side(*call.given);
  if (!call.got) return;
  if (random_.chance(40)) return finish_side(*call.got);
  if (random_.chance(50)) peek(*call.got);
  late_sides_.push_back(call.got);
}

void Lane::fail_side(const Side& side, const std::string& complaint) {
  const Collective& call = side.what;
  fail(nullptr, "%s of call %d, reduction %d, base %d, nonblocking %d, in place %d: %s", side.is_received ? "result" : "operand",
       static_cast<int>(call.kind), static_cast<int>(call.reducing), static_cast<int>(call.base), call.is_nonblocking,
       call.is_in_place, complaint.c_str());
}

void Lane::peek(const Side& side) {
  if (side.image.empty()) return;
  const std::size_t at = random_.below(side.image.size());
  if (side.slot.origin[at] != side.image[at]) fail_side(side, "a byte is wrong: " + std::to_string(at));
}

void Lane::finish_side(const Side& side) {
  const std::span<const std::byte> found(side.slot.origin, side.image.size());
  if (!std::ranges::equal(side.image, found)) {
    const auto at = static_cast<std::size_t>(std::ranges::mismatch(side.image, found).in1 - side.image.begin());
    fail_side(side, "byte " + std::to_string(at) + " of " + std::to_string(side.image.size()) + " is " +
                        std::to_string(static_cast<int>(found[at])) + ", expected " +
                        std::to_string(static_cast<int>(side.image[at])));
  }
  if (!memory_.release(side.slot)) fail_side(side, "data beside it changed");
}

void Lane::finish_some_late_side() {
  if (late_sides_.empty()) return;
  std::swap(late_sides_[random_.below(late_sides_.size())], late_sides_.back());
  const auto side = std::move(late_sides_.back());
  late_sides_.pop_back();
  finish_side(*side);
}

}  // namespace random_program
