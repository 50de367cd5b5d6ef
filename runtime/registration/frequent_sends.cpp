#include "runtime/registration/frequent_sends.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sluice {
namespace {

constexpr std::uint32_t not_ever = std::numeric_limits<std::uint32_t>::max();
/// A buffer that is to be used more often than this is not waited for.
constexpr double max_uses = 1e6;

}  // namespace

void FrequentSends::set_terms(const FrequentTerms& terms) {
  terms_ = terms;
  measured_ = true;
  const double least = terms.copy_per_byte > 0 ? std::ceil(terms.use / terms.copy_per_byte) : max_uses;
  min_bytes_ = least < max_uses ? std::max(least_gathered_bytes, static_cast<std::size_t>(least)) : never;
}

std::uint32_t FrequentSends::uses_needed(std::size_t bytes) const {
  if (share_ == 0) return min_uses;
  const double saved = terms_.copy_per_byte * static_cast<double>(bytes) - terms_.use;
  if (saved <= 0) return not_ever;
  const std::size_t pages = (bytes + page_bytes - 1) / page_bytes;
  const double needed = std::ceil(terms_.register_per_page * static_cast<double>(pages) / saved * share_ / 100);
  return needed < max_uses ? std::max(min_uses, static_cast<std::uint32_t>(needed)) : not_ever;
}

void FrequentSends::forget(ByteRange message) {
  if (BufferUseTable::Entry* const entry = table_.use(message.begin)) entry->uses = 0;
}

}  // namespace sluice
