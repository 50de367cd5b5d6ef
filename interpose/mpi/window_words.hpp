// The words of one window: a slot of those that are kept (runtime/window/words_pool.hpp), or a window of the host's of their own.
//
// Threading: one thread at a time.
#pragma once

#include <mpi.h>

#include <optional>
#include <span>
#include <vector>

#include "interpose/mpi/communicators.hpp"
#include "runtime/window/words_pool.hpp"

namespace sluice {

class WindowWords {
 public:
  explicit WindowWords(std::vector<WindowMember> members);
  /// What was offered or taken is free again. `free` is called before where words were taken.
  ~WindowWords();
  WindowWords(const WindowWords&) = delete;
  WindowWords& operator=(const WindowWords&) = delete;

  [[nodiscard]] const std::vector<WindowMember>& members() const { return members_; }
  [[nodiscard]] const WordsOffer& offer() const { return offer_; }
  /// The host has not refused yet to make any.
  [[nodiscard]] static bool are_to_be_had();
  /// After all have said what they offer, by rank. Collective where all of them have no slot: then the host makes memory. Any
  /// code but MPI_SUCCESS is that of all members: the host has refused.
  int take(const Communicator& communicator, std::span<const WordsOffer> offers);
  /// By rank.
  [[nodiscard]] const std::vector<WindowControl>& all() const { return words_; }
  /// Collective, after all have freed their window, or taken none.
  void free();

 private:
  int make_pool(const Communicator& communicator, std::uint64_t name);
  int make_own(const Communicator& communicator);
  void take_slot(std::size_t slot);

  const std::vector<WindowMember> members_;
  WordsOffer offer_;
  std::optional<std::size_t> slot_;
  MPI_Win own_{};
  std::vector<WindowControl> words_;
};

}  // namespace sluice
