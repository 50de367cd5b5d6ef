// When a received buffer is touched, and what must be in it.
#include <algorithm>
#include <array>
#include <cstring>

#include "lane.hpp"

namespace random_program {

std::vector<std::byte> contents_of(std::uint64_t key, std::size_t size) {
  std::vector<std::byte> bytes(size);
  std::uint64_t counter = key;
  for (std::size_t i = 0; i < bytes.size(); i += sizeof counter) {
    counter += 0x9e3779b97f4a7c15ULL;
    const std::uint64_t word = (counter ^ (counter >> 29)) * 0xbf58476d1ce4e5b9ULL;
    std::memcpy(bytes.data() + i, &word, std::min(sizeof word, bytes.size() - i));
  }
  return bytes;
}

/// The application goes on after its receive: it looks at the data at once, partly, later, or from another thread.
void Lane::received(OperationPointer operation, const MPI_Status* status) {
  const auto check_now = [&] {
    if (status != nullptr) check_envelope(*operation->transfer, *operation->layout, *status);
    finish(*operation);
  };
  const std::size_t choice = random_.below(13);
  if (!memory_.rewrite_some_cell(random_)) fail(operation->transfer, "data beside a receive buffer changed");
  if (choice < 4) return check_now();
  if (choice < 7) {
    if (status != nullptr && random_.chance(50)) check_envelope(*operation->transfer, *operation->layout, *status);
    return use(*operation);
  }
  if (choice < 9 && options_.touching_threads) {
    if (status != nullptr) check_envelope(*operation->transfer, *operation->layout, *status);
    return touch_elsewhere(std::move(operation));
  }
  if (choice < 11) peek(*operation);
  late_.push_back({std::move(operation), status != nullptr ? *status : MPI_Status{}, status != nullptr});
}

/// A few bytes only, in no particular order; the rest stays untouched for now.
void Lane::peek(const Operation& operation) {
  const Transfer& transfer = *operation.transfer;
  if (transfer.units == 0 || operation.layout->element_bytes() != packed_bytes(transfer.base)) return;
  if (operation.layout->upper(2) != static_cast<std::ptrdiff_t>(2 * packed_bytes(transfer.base))) return;  // gaps
  const auto expected = contents_of(transfer);
  for (const std::size_t at : {expected.size() - 1, expected.size() / 2, random_.below(expected.size())}) {
    if (operation.slot.origin[at] != expected[at]) fail(&transfer, "byte %zu of %zu is wrong", at, expected.size());
  }
}

void Lane::verify(const Operation& operation) { verify_contents(operation, contents_of(*operation.transfer)); }

/// What must be in the whole slot: the message, and everything that it does not cover unchanged.
std::vector<std::byte> Lane::image_of(const Operation& operation, const std::vector<std::byte>& packed) const {
  const Slot& slot = operation.slot;
  std::vector<std::byte> image(slot.bytes);
  for (std::size_t i = 0; i < image.size(); ++i) image[i] = background_byte(slot.background, i);
  operation.layout->scatter(packed, image.data());
  return image;
}

void Lane::verify_contents(const Operation& operation, const std::vector<std::byte>& packed) {
  const Slot& slot = operation.slot;
  const auto image = image_of(operation, packed);
  if (std::ranges::equal(image, std::span(slot.origin, slot.bytes))) return;
  const auto first = std::ranges::mismatch(image, std::span(slot.origin, slot.bytes));
  const auto at = static_cast<std::size_t>(first.in1 - image.begin());
  std::size_t wrong = 0;
  std::size_t last = at;
  for (std::size_t i = at; i < image.size(); ++i) {
    if (image[i] == slot.origin[i]) continue;
    ++wrong;
    last = i;
  }
  fail(operation.transfer, "byte %zu of %zu at %p is 0x%02x, expected 0x%02x (background 0x%02x); %zu bytes differ, the last %zu",
       at, image.size(), static_cast<void*>(slot.origin + at), static_cast<unsigned>(*first.in2),
       static_cast<unsigned>(*first.in1), static_cast<unsigned>(background_byte(slot.background, at)), wrong, last);
}

void Lane::add_to_digest(const Transfer& transfer) {
  std::uint64_t hash = combine(transfer.key, transfer.bytes());
  hash = combine(hash, static_cast<std::uint64_t>(transfer.source));
  digest_ += combine(hash, static_cast<std::uint64_t>(transfer.tag));
}

void Lane::finish(const Operation& operation) {
  verify(operation);
  add_to_digest(*operation.transfer);
  if (!memory_.release(operation.slot)) fail(operation.transfer, "data beside a buffer changed");
}

/// A send leaves its buffer as it was.
void Lane::finish_sent(const Operation& operation) {
  if (random_.chance(50)) verify(operation);
  if (!memory_.release(operation.slot)) fail(operation.transfer, "data beside a send buffer changed");
}

void Lane::verify_some_late_buffer() {
  if (late_.empty()) return;
  const auto chosen = late_.begin() + static_cast<std::ptrdiff_t>(random_.below(late_.size()));
  const LateBuffer late = std::move(*chosen);
  late_.erase(chosen);
  if (late.has_status && random_.chance(50)) check_envelope(*late.operation->transfer, *late.operation->layout, late.status);
  finish(*late.operation);
}

void Lane::verify_late_buffers() {
  while (!late_.empty()) verify_some_late_buffer();
  while (!late_sides_.empty()) finish_some_late_side();
}

void Lane::join_threads() {
  if (!touched_) return;
  toucher_.join();
  add_to_digest(*touched_->transfer);
  if (!memory_.release(touched_->slot)) fail(touched_->transfer, "data beside a buffer changed");
  touched_ = nullptr;
}

}  // namespace random_program
