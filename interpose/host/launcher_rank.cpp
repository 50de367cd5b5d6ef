#include "interpose/host/launcher_rank.hpp"

#include <array>
#include <charconv>
#include <string_view>

namespace sluice {
namespace {

/// Those nearest to the process first: Slurm's variable is also in a job script that runs mpirun.
constexpr std::array<std::string_view, 7> variables = {
    "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "MV2_COMM_WORLD_RANK", "PALS_RANKID", "FLUX_TASK_RANK", "SLURM_PROCID"};

std::optional<int> number_in(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

}  // namespace

std::optional<int> rank_told_by_launcher(Environment environment) {
  for (const std::string_view variable : variables) {
    for (Environment entry = environment; entry && *entry; ++entry) {
      const std::string_view text = *entry;
      if (!text.starts_with(variable) || text.substr(variable.size(), 1) != "=") continue;
      if (const auto rank = number_in(text.substr(variable.size() + 1))) return rank;
    }
  }
  return std::nullopt;
}

}  // namespace sluice
