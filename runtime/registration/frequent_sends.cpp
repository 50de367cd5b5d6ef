#include "runtime/registration/frequent_sends.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sluice {
namespace {

constexpr std::uint32_t not_ever = std::numeric_limits<std::uint32_t>::max();
/// A buffer that is to be used more often than this is not waited for.
constexpr double max_uses = 1e6;

std::size_t pages_of(std::size_t bytes) { return (bytes + page_bytes - 1) / page_bytes; }

/// As soon as a copy costs more than a use.
std::size_t min_bytes_for(double use, double copy_per_byte) {
  const double needed = copy_per_byte > 0 ? std::ceil(use / copy_per_byte) : max_uses;
  return needed < max_uses ? std::max(FrequentSends::min_sge_bytes, static_cast<std::size_t>(needed)) : FrequentSends::never;
}

}  // namespace

void FrequentSends::set_terms(const FrequentTerms& terms) {
  terms_ = terms;
  wait_use_ = terms.use;
  measured_ = true;
  correct_terms();
}

void FrequentSends::correct_terms() {
  if (!measured_ || share_ == 0) return;
  if (copies_.are_enough()) terms_.copy_per_byte = copies_.median();
  if (registrations_.are_enough()) terms_.register_per_page = registrations_.median();
  if (rest_.are_enough()) {
    if (gathered_.are_enough()) terms_.use = std::max(0.0, gathered_.median() - rest_.median());
    if (waited_.are_enough()) wait_use_ = std::max(0.0, waited_.median() - rest_.median());
  }
  for (const Call call : {Call::goes_on, Call::waits}) {
    min_bytes_[static_cast<std::size_t>(call)] = min_bytes_for(use_of(call), terms_.copy_per_byte);
  }
}

double FrequentSends::use_of(Call call) const { return call == Call::waits ? wait_use_ : terms_.use; }

std::uint32_t FrequentSends::uses_needed(std::size_t bytes, Call call) const {
  if (share_ == 0) return min_uses;
  const double saved = terms_.copy_per_byte * static_cast<double>(bytes) - use_of(call);
  if (saved <= 0) return not_ever;
  const double needed = std::ceil(terms_.register_per_page * static_cast<double>(pages_of(bytes)) / saved * share_ / 100);
  return needed < max_uses ? std::max(min_uses, static_cast<std::uint32_t>(needed)) : not_ever;
}

bool FrequentSends::is_time_to_measure() {
  if (++uses_since_refusal_ < uses_to_wait_) return false;
  uses_since_refusal_ = 0;
  uses_to_wait_ = std::min(2 * uses_to_wait_, max_uses_to_wait);
  return true;
}

void FrequentSends::note_copied(std::size_t bytes, double copy, double whole) {
  copies_.add(copy / static_cast<double>(bytes));
  rest_.add(whole - copy);
  correct_terms();
}

void FrequentSends::note_gathered(Call call, double whole) {
  (call == Call::waits ? waited_ : gathered_).add(whole);
  correct_terms();
}

void FrequentSends::note_registered(std::size_t bytes, double took) {
  registrations_.add(took / static_cast<double>(pages_of(bytes)));
  correct_terms();
}

}  // namespace sluice
