// Where in the application an MPI call is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sluice {

/// An MPI call in the application: what release policy learns about, and what errors after release name.
///
/// One word, since every call passes it on. What is put on the stack in several stores and copied in one load has to wait until
/// all earlier stores have left the processor, and those into a ring wait for lines that a peer has read last: with two words and
/// a number that was half of the time of MPI_Isend in a window of small messages.
class CallSite {
 public:
  /// The function called, as a place in the list that name_calls was given.
  enum class Function : std::uint8_t {};

  constexpr CallSite() = default;
  explicit constexpr CallSite(std::uintptr_t return_address, Function function = {})
      : word_(return_address | static_cast<std::uint64_t>(function) << function_at) {}

  [[nodiscard]] constexpr std::uintptr_t return_address() const { return word_ & ((std::uint64_t{1} << function_at) - 1); }
  /// "MPI_Recv", for messages.
  [[nodiscard]] const char* function() const {
    const auto index = static_cast<std::size_t>(word_ >> function_at);
    return index < names_.size() ? names_[index] : "an MPI call";
  }

  /// The names must live on. Before there are threads that ask for one.
  static void name_calls(std::span<const char* const> names) { names_ = names; }

 private:
  static constexpr unsigned function_at = 56;  // no address in a program is longer, with five levels of page tables either

  inline static constinit std::span<const char* const> names_;

  std::uint64_t word_ = 0;
};

}  // namespace sluice
