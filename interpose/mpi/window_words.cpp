#include "interpose/mpi/window_words.hpp"

#include <atomic>
#include <cstring>
#include <utility>

#include "interpose/mpi/entry.hpp"
#include "interpose/mpi/shared_memory.hpp"

namespace sluice {
namespace {

/// Its memory stays until the end of the process, and so do the host's windows that have it.
WordsPools& pools() {
  static WordsPools& kept = *new WordsPools;
  return kept;
}

/// The host may have been told to do without windows of shared memory (OMPI_MCA_osc=rdma). Then there are no words.
constinit std::atomic<bool> host_refuses{false};

/// What the host has to say of a call comes back, whatever handler the program has set.
class ErrorsReturn {
 public:
  explicit ErrorsReturn(MPI_Comm comm) : comm_(comm) {
    host().Comm_get_errhandler(comm_, &before_);
    host().Comm_set_errhandler(comm_, predefined().errors_return);
  }
  ~ErrorsReturn() {
    host().Comm_set_errhandler(comm_, before_);
    host().Errhandler_free(&before_);
  }
  ErrorsReturn(const ErrorsReturn&) = delete;
  ErrorsReturn& operator=(const ErrorsReturn&) = delete;

 private:
  const MPI_Comm comm_;
  MPI_Errhandler before_{};
};

/// Collective: memory of each member that all have mapped, zeros.
int make(const Communicator& communicator, std::size_t bytes, MPI_Win* window, std::vector<std::byte*>* memories) {
  const SharedMemoryInfo shared(predefined().info_null);
  void* own = nullptr;
  const ErrorsReturn errors(communicator.handle);
  const int code = host().Win_allocate_shared(static_cast<MPI_Aint>(bytes), 1, shared.get(), communicator.handle, &own, window);
  if (code != MPI_SUCCESS) {
    host_refuses.store(true, std::memory_order_relaxed);
    return code;
  }
  std::memset(own, 0, bytes);
  for (int rank = 0; rank < communicator.size; ++rank) memories->push_back(shared_base(*window, rank));
  return host().Barrier(communicator.handle);
}

}  // namespace

WindowWords::WindowWords(std::vector<WindowMember> members)
    : members_(std::move(members)), offer_(pools().offer(members_, static_cast<std::uint32_t>(session().world_rank()) + 1)) {}

bool WindowWords::are_to_be_had() { return !host_refuses.load(std::memory_order_relaxed); }

WindowWords::~WindowWords() {
  if (!slot_) pools().withdraw(offer_);
}

int WindowWords::take(const Communicator& communicator, std::span<const WordsOffer> offers) {
  const WordsChoice choice = choose_words(offers);
  switch (choice.kind) {
    case WordsChoice::Kind::slot:
      take_slot(choice.slot);
      return MPI_SUCCESS;
    case WordsChoice::Kind::new_pool:
      return make_pool(communicator, choice.pool);
    case WordsChoice::Kind::alone:
      break;
  }
  pools().withdraw(std::exchange(offer_, {}));
  return make_own(communicator);
}

int WindowWords::make_pool(const Communicator& communicator, std::uint64_t name) {
  MPI_Win kept{};
  std::vector<std::byte*> memories;
  const int code = make(communicator, WordsPools::slots * WordsPools::slot_bytes(members_.size()), &kept, &memories);
  if (code != MPI_SUCCESS) return code;
  offer_ = pools().add(name, members_, static_cast<std::size_t>(communicator.rank), std::move(memories));
  take_slot(0);
  return MPI_SUCCESS;
}

int WindowWords::make_own(const Communicator& communicator) {
  std::vector<std::byte*> memories;
  const int code = make(communicator, WindowControl::bytes(members_.size()), &own_, &memories);
  for (std::byte* const memory : memories) words_.emplace_back(memory);
  return code;
}

void WindowWords::take_slot(std::size_t slot) {
  words_ = pools().take(offer_, slot);
  slot_ = slot;
}

void WindowWords::free() {
  words_.clear();
  if (slot_) {
    pools().give_back(offer_.pool, *slot_);
  } else if (own_ != MPI_Win{}) {
    host().Win_free(&own_);
  }
}

}  // namespace sluice
