// The guard's mechanism on every Linux: closed pages are PROT_NONE, the SIGSEGV handler answers.
#pragma once

#include "runtime/guard/mechanism.hpp"

namespace sluice {

class AliasArena;

/// Sets the protection of those pages that still are blocks. Without an arena (tests), of all. False: the kernel has no mapping
/// left, and some are as they were.
bool set_protection_in_place(const AliasArena* arena, PageRange pages, int protection);

class MprotectMechanism final : public GuardMechanism {
 public:
  /// With an arena, pages are opened only where its blocks still are.
  explicit MprotectMechanism(const AliasArena* arena) : arena_(arena) {}

  bool close(PageRange pages) override;
  bool open(PageRange pages, Access allowed) override;
  [[nodiscard]] bool closes_by_protection() const override { return true; }
  /// A release splits one mapping in three at most.
  [[nodiscard]] std::size_t mappings_per_release() const override { return 2; }
  [[nodiscard]] bool hears_touches() const override;
  [[nodiscard]] bool kernel_waits() const override { return false; }

 private:
  const AliasArena* arena_;
};

}  // namespace sluice
