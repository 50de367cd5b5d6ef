// One rank's part of one lane: performs the events of the script that name this rank, and checks everything it receives.
//
// What is random here (which call waits, when a buffer is touched, where it lies) comes from a generator of the rank's own:
// it need not agree with the other side.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "collective.hpp"
#include "datatypes.hpp"
#include "memory.hpp"
#include "prng.hpp"
#include "script.hpp"

namespace random_program {

struct LaneOptions {
  int rank = 0;
  int lane = 0;
  std::uint64_t seed = 0;
  bool touching_threads = false;  // other threads may look at received buffers
  MPI_Comm own = MPI_COMM_NULL;   // this rank alone, no other lane: other threads may send on it as well
};

/// One buffer in use by a send or a receive.
struct Operation {
  const Transfer* transfer = nullptr;
  std::unique_ptr<Layout> layout;
  Slot slot;
  std::size_t elements = 0;
  bool from_bottom = false;
};

using OperationPointer = std::shared_ptr<Operation>;

/// A request that was started, and what to do once it is complete (the status may be absent).
struct Pending {
  MPI_Request request = MPI_REQUEST_NULL;
  bool persistent = false;
  bool wants_status = false;
  std::function<void(const MPI_Status*)> done;
};

class Lane {
 public:
  Lane(const LaneOptions& options, const Script& script, std::vector<MPI_Comm> communicators);
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  void run();
  /// Over every byte and status received, in no particular order.
  [[nodiscard]] std::uint64_t digest() const { return digest_; }

  struct Side;
  struct Call;

 private:
  // lane_events.cpp
  void perform(const Event& event);
  void perform_transfer(const Event& event);
  void perform_to_self(const Event& event);
  void perform_shift(const Event& event);
  void perform_chain(const Event& event);
  void perform_overwrite(const Event& event);
  void perform_ready(const Event& event);
  void perform_repeat(const Event& event);
  void perform_handed_on(const Event& event);
  void perform_wild(const Event& event);
  void perform_cancelled(const Event& event);
  void perform_collective(const Event& event);
  void perform_sum(MPI_Comm communicator, const std::vector<int>& members, bool nonblocking);
  void receive_wild(const Event& event);

  // lane_collectives.cpp, lane_reductions.cpp
  void perform_call(const Event& event);
  std::shared_ptr<Side> make_side(const Call& call, const std::vector<BlockSpec>& blocks, bool is_receiver);
  void put(const Call& call, Side& side, const std::vector<BlockSpec>& blocks, std::size_t first);
  void make_block_sides(Call& call);
  void make_call(Call& call);
  void make_rooted_call(Call& call);
  std::shared_ptr<Side> make_operand_side(const Collective& what, std::size_t bytes, const std::vector<std::byte>& before,
                                          std::vector<std::byte> after);
  void make_reduction_sides(Call& call, std::size_t element_bytes);
  void make_reduction(Call& call);
  void end_call(const Call& call);
  [[noreturn]] void fail_side(const Side& side, const std::string& complaint);
  void peek(const Side& side);
  void finish_side(const Side& side);
  void finish_some_late_side();

  // lane_messages.cpp
  OperationPointer prepare(const Transfer& transfer, bool receive, Memory::Placement placement = Memory::Placement::anywhere);
  void fill(const Operation& operation);
  void send(const Transfer& transfer);
  void send_blocking(const Transfer& transfer, const Operation& operation);
  MPI_Request start_send(const Transfer& transfer, const Operation& operation);
  void receive(const Transfer& transfer);
  MPI_Status receive_blocking(const Transfer& transfer, const Operation& operation);
  MPI_Request start_receive(const Transfer& transfer, const Operation& operation);
  MPI_Message matched_probe(const Transfer& transfer, MPI_Status& status);
  MPI_Status probe(const Transfer& transfer);
  void check_envelope(const Transfer& transfer, const Layout& layout, const MPI_Status& status);
  void remember_send(OperationPointer operation, MPI_Request request, bool persistent);
  void remember_receive(OperationPointer operation, MPI_Request request, bool persistent);

  // lane_checks.cpp: what becomes of a buffer that was received
  void received(OperationPointer operation, const MPI_Status* status);
  void peek(const Operation& operation);
  void verify(const Operation& operation);
  void verify_contents(const Operation& operation, const std::vector<std::byte>& packed);
  [[nodiscard]] std::vector<std::byte> image_of(const Operation& operation, const std::vector<std::byte>& packed) const;
  void finish(const Operation& operation);
  void finish_sent(const Operation& operation);
  void verify_some_late_buffer();
  void verify_late_buffers();
  void join_threads();
  void add_to_digest(const Transfer& transfer);

  // lane_uses.cpp: what else a program does with a buffer that it has received and not looked at
  void use(const Operation& operation);
  void use_memory(const Operation& operation);
  void put_out(const Operation& operation);
  void take_in(const Operation& operation);
  void give_back(const Operation& operation);
  void resize_slot(const Operation& operation);
  void drop(const Operation& operation);
  void forbid_writing(const Operation& operation);
  void show_child(const Operation& operation);
  void start_some_program(const Operation& operation);
  void touch_elsewhere(OperationPointer operation);
  void send_to_self(const Operation& operation);
  void expect_equal(const Operation& operation, std::span<const std::byte> found, std::span<const std::byte> expected,
                    const char* what);
  void expect_success(const Operation& operation, const std::string& complaint);
  void check_successors();

  // lane_waits.cpp
  void wait_for_some();
  void wait_for_all();
  void complete_all(std::vector<Pending>& pending);
  void complete_some(std::vector<Pending>& pending);
  MPI_Status complete(MPI_Request& request, bool persistent = false);
  void settle_completed(std::vector<Pending>& pending, const std::vector<std::size_t>& chosen,
                        const std::vector<std::size_t>& completed, const std::vector<MPI_Request>& requests,
                        const std::vector<MPI_Status>* statuses);

  [[noreturn]] void fail(const Transfer* transfer, const char* format, ...) __attribute__((format(printf, 3, 4)));
  void busy(unsigned microseconds);
  [[nodiscard]] MPI_Comm communicator(const Transfer& transfer) const { return communicators_[transfer.communicator]; }
  [[nodiscard]] int local_rank(std::size_t communicator, int world_rank) const;
  [[nodiscard]] bool is_member_with(std::size_t communicator, int world_rank) const;

  struct LateBuffer {
    OperationPointer operation;
    MPI_Status status;
    bool has_status;
  };

  LaneOptions options_;
  const Script& script_;
  std::vector<MPI_Comm> communicators_;
  Random random_;
  Memory memory_;
  std::size_t event_ = 0;
  std::uint64_t digest_ = 0;
  std::vector<Pending> outstanding_;
  std::vector<LateBuffer> late_;
  std::vector<std::shared_ptr<Side>> late_sides_;
  std::vector<Slot> successors_;             // memory taken where received buffers were given back
  std::vector<OperationPointer> forgotten_;  // sends whose request was freed: in use until the end of the job's seed
  std::jthread toucher_;
  OperationPointer touched_;
};

/// Contents that have this name.
std::vector<std::byte> contents_of(std::uint64_t key, std::size_t bytes);
/// Of a message, packed.
inline std::vector<std::byte> contents_of(const Transfer& transfer) { return contents_of(transfer.key, transfer.bytes()); }

}  // namespace random_program
