// What `sluice report --buffers` prints.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "tools/report/buffer_account.hpp"

namespace sluice {

/// `max_rows`: lines in each table.
[[nodiscard]] std::string buffers_as_text(const Trace& trace, const BufferTotals& totals, std::size_t max_rows);
[[nodiscard]] nlohmann::json buffers_as_json(const Trace& trace, const BufferTotals& totals);

/// From which use on a buffer with messages of that size was frequent, by what the job had measured last.
struct UsesNeeded {
  std::optional<std::uint32_t> goes_on;  // of MPI_Isend; nothing: never
  std::optional<std::uint32_t> waits;    // of MPI_Send
};
/// By the first rank that had measured anything; nothing where none had.
[[nodiscard]] std::optional<UsesNeeded> uses_needed(const BufferTotals& totals, std::uint64_t bytes);

}  // namespace sluice
