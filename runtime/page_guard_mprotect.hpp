// The guard's mechanism on every Linux: closed pages are PROT_NONE, the SIGSEGV handler answers.
#pragma once

#include "runtime/page_guard_mechanism.hpp"

namespace sluice {

class AliasArena;

class MprotectMechanism final : public GuardMechanism {
 public:
  /// With an arena, pages are opened only where its blocks still are.
  explicit MprotectMechanism(const AliasArena* arena) : arena_(arena) {}

  bool close(PageRange pages) override;
  bool open(PageRange pages) override;
  /// A release splits one mapping in three at most.
  [[nodiscard]] std::size_t mappings_per_release() const override { return 2; }
  [[nodiscard]] bool hears_touches() const override;
  [[nodiscard]] bool kernel_waits() const override { return false; }

 private:
  const AliasArena* arena_;
};

}  // namespace sluice
