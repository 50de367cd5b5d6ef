// What `sluice info` tells of small messages that leave without their copy (FB): n, the number of uses from which on a buffer
// pays, by size of its messages, from what is measured on this machine.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "runtime/config/config.hpp"
#include "runtime/registration/frequent_sends.hpp"
#include "runtime/transport/rdma.hpp"
#include "verbs/device.hpp"

namespace sluice {

struct FrequentUses {
  std::optional<FrequentTerms> terms;
  std::string source;       // with which adapter, or why nothing is measured and what holds then
  std::size_t share = 0;    // SLUICE_FREQUENT_SHARE, percent
  std::size_t longest = 0;  // small message
};

/// As a job measures them when its first buffer comes back, in memory of this process. Nothing where no memory can be registered.
[[nodiscard]] std::optional<FrequentTerms> measure_frequent_terms(Rdma& adapter);

/// Of a machine without an adapter, whose description or fault is `adapter`.
[[nodiscard]] FrequentUses unmeasured_uses(const Config& config, const std::string& fault);
/// Measured now.
[[nodiscard]] FrequentUses measured_uses(const Config& config, const VerbsDevice& device);

[[nodiscard]] std::string as_text(const FrequentUses& uses);
[[nodiscard]] nlohmann::json as_json(const FrequentUses& uses);

}  // namespace sluice
