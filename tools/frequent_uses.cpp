#include "tools/frequent_uses.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "runtime/alias/alias_blocks.hpp"
#include "runtime/alias/watched_memory.hpp"
#include "runtime/config/config_value.hpp"
#include "runtime/process/mapping_budget.hpp"
#include "runtime/registration/frequent_probe.hpp"
#include "runtime/registration/job_registrations.hpp"

namespace sluice {

namespace {

/// Registers memory, and no more: nothing is sent.
class AdapterMemory final : public Rdma {
 public:
  explicit AdapterMemory(const VerbsDevice& device) : device_(device) {}

  bool register_memory(ByteRange bytes, Registration& registration) override {
    return device_.register_memory(bytes, registration);
  }
  void deregister(const Registration& registration) override { device_.deregister(registration); }
  bool write(Peer, std::span<const std::byte>, std::uint32_t, RemoteMemory, std::uint64_t) override { return false; }
  bool read(Peer, std::span<std::byte>, std::uint32_t, RemoteMemory, std::uint64_t) override { return false; }
  [[nodiscard]] bool places_in_order() const override { return true; }
  [[nodiscard]] std::size_t largest_transfer() const override { return device_.port().max_msg_sz; }

 private:
  const VerbsDevice& device_;
};

/// A process in which nobody else has anything to do with the memory that is measured.
class Nobody final : public AliasBlocks::Others {
 public:
  [[nodiscard]] bool holds_writers_up() const override { return true; }
  [[nodiscard]] bool guards(ByteRange) const override { return false; }
  [[nodiscard]] bool pins(PageRange) const override { return false; }
  [[nodiscard]] bool are_written_by_peers(PageRange) const override { return false; }
  [[nodiscard]] bool may_reach_memory() const override { return false; }
  void hold_signals() override {}
  void tell_trace() override {}
};

struct Row {
  std::size_t bytes = 0;
  std::optional<std::uint32_t> n;              // the paper's
  std::optional<std::uint32_t> becomes_after;  // a share of it
};

std::vector<Row> rows(const FrequentUses& uses) {
  constexpr unsigned whole = 100;
  constexpr std::size_t shortest = 512;  // as the paper's table 2
  const auto needed = [&](std::size_t bytes, unsigned share) {
    FrequentSends sends(share);
    sends.set_terms(*uses.terms);
    const std::uint32_t number = sends.uses_needed(bytes);
    return number == std::numeric_limits<std::uint32_t>::max() ? std::nullopt : std::optional(number);
  };
  std::vector<Row> found;
  for (std::size_t bytes = shortest; uses.terms && bytes <= uses.longest; bytes *= 2)
    found.push_back({bytes, needed(bytes, whole), needed(bytes, static_cast<unsigned>(uses.share))});
  return found;
}

nlohmann::json number_or_null(const std::optional<std::uint32_t>& number) {
  return number ? nlohmann::json(*number) : nlohmann::json();
}

std::string as_text(const Row& row) {
  if (!row.n) return fmt::format("            {:>6}: never\n", show_bytes(row.bytes));
  return fmt::format("            {:>6}: n = {}, registered with use {}\n", show_bytes(row.bytes), *row.n,
                     row.becomes_after.value_or(*row.n));
}

FrequentUses of(const Config& config) {
  return {.terms = {}, .source = {}, .share = config.frequent_share, .longest = config.eager_limit};
}

}  // namespace

std::optional<FrequentTerms> measure_frequent_terms(Rdma& adapter) {
  AliasArena arena(MappingBudget::share_of(MappingBudget::granted_to_a_process(), 0));
  Nobody others;
  AliasBlocks blocks(&arena, others);
  if (!blocks.usable()) return std::nullopt;
  constexpr std::size_t unlimited = ~std::size_t{0};
  JobRegistrations registrations(&arena, {unlimited, unlimited});
  // Of a job, whose wrappers tell the ends of memory.
  watched_memory::set_usable(true);
  FrequentProbe probe;
  return probe.measure({arena, blocks, registrations, adapter});
}

FrequentUses unmeasured_uses(const Config& config, const std::string& fault) {
  FrequentUses uses = of(config);
  uses.source = fmt::format("all are copied, and nothing is measured: {}", fault);
  return uses;
}

FrequentUses measured_uses(const Config& config, const VerbsDevice& device) {
  if (config.frequent_sends == FrequentChoice::off) return unmeasured_uses(config, "SLUICE_FREQUENT_SENDS=off");
  if (config.keeps_pages()) return unmeasured_uses(config, config.why_pages_are_kept());
  FrequentUses uses = of(config);
  if (config.frequent_share == 0) {
    uses.source = "each buffer is registered with its second use: SLUICE_FREQUENT_SHARE=0 measures nothing";
    return uses;
  }
  AdapterMemory memory(device);
  uses.terms = measure_frequent_terms(memory);
  if (!uses.terms) return unmeasured_uses(config, "no memory can be registered with the adapter");
  uses.source = fmt::format("measured now with {}; a job measures anew, and learns what MPI_Send waits", device.description());
  return uses;
}

std::string as_text(const FrequentUses& uses) {
  std::string text = fmt::format("small sends: {}\n", uses.source);
  if (!uses.terms) return text;
  text += fmt::format(
      "            a copy takes C = {:.3f} ns a byte, a use of registered memory V = {:.0f} ns, registering R = {:.0f} ns a "
      "page\n",
      uses.terms->copy_per_byte, uses.terms->use, uses.terms->register_per_page);
  text += fmt::format("            pays from n = R / (C - V) uses on; registered with {} % of these:\n", uses.share);
  for (const Row& row : rows(uses)) text += as_text(row);
  return text;
}

nlohmann::json as_json(const FrequentUses& uses) {
  nlohmann::json sizes = nlohmann::json::array();
  for (const Row& row : rows(uses))
    sizes.push_back(
        {{"bytes", row.bytes}, {"n", number_or_null(row.n)}, {"registered_with_use", number_or_null(row.becomes_after)}});
  nlohmann::json terms;
  if (uses.terms) {
    terms = {{"copy_ns_per_byte", uses.terms->copy_per_byte},
             {"use_ns", uses.terms->use},
             {"register_ns_per_page", uses.terms->register_per_page}};
  }
  return {{"source", uses.source}, {"share", uses.share}, {"terms", terms}, {"sizes", sizes}};
}

}  // namespace sluice
