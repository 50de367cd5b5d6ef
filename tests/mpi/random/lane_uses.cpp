// What else a program does with a buffer that it has received and not looked at: hands it to the kernel, to a child or to another
// thread, gives its memory back, changes what the memory is.
#include <malloc.h>

#include <algorithm>

#include "children.hpp"
#include "io_channels.hpp"
#include "lane.hpp"
#include "owned_memory.hpp"

namespace random_program {

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t buffered = 4096;  // about what a stream copies through a buffer of its own

std::size_t some_chunk_bytes(std::size_t bytes, Random& random) {
  return random.chance(50) ? bytes : random.between(std::min(bytes, buffered / 2), bytes);
}

}  // namespace

void Lane::use(const Operation& operation) {
  const Slot& slot = operation.slot;
  if (slot.bytes == 0) return finish(operation);
  const std::size_t choice = random_.below(100);
  if (choice < 4) return show_child(operation);
  if (choice < 5) return start_some_program(operation);
  if (slot.owned() && choice < 60) return use_memory(operation);
  random_.chance(65) ? put_out(operation) : take_in(operation);
}

void Lane::use_memory(const Operation& operation) {
  const std::size_t choice = random_.below(10);
  if (choice < 4) return give_back(operation);
  if (choice < 6 || operation.slot.owner == Slot::Owner::heap) return resize_slot(operation);
  choice < 8 ? drop(operation) : forbid_writing(operation);
}

/// The whole slot, or a part of it, goes out; what comes out at the other end must be the message.
void Lane::put_out(const Operation& operation) {
  const Slot& slot = operation.slot;
  const auto channel = static_cast<Channel>(random_.below(static_cast<std::size_t>(Channel::count)));
  const auto image = image_of(operation, contents_of(*operation.transfer));
  const std::size_t start = random_.chance(50) ? 0 : random_.below(slot.bytes);
  const std::size_t bytes = random_.chance(50) ? slot.bytes - start : random_.between(1, slot.bytes - start);
  std::vector<std::byte> found(bytes);
  expect_success(operation, pass_through(channel, {slot.origin + start, bytes}, found, some_chunk_bytes(bytes, random_)));
  expect_equal(operation, found, std::span(image).subspan(start, bytes), "what was put out");
  finish(operation);
}

/// Input overwrites a part of the message that nobody has looked at; the rest is still the message.
void Lane::take_in(const Operation& operation) {
  const Slot& slot = operation.slot;
  const auto channel = static_cast<Channel>(random_.below(static_cast<std::size_t>(Channel::count)));
  auto image = image_of(operation, contents_of(*operation.transfer));
  const std::size_t start = random_.chance(50) ? 0 : random_.below(slot.bytes);
  const std::size_t bytes = random_.chance(50) ? slot.bytes - start : random_.between(1, slot.bytes - start);
  std::vector<std::byte> fresh(bytes);
  std::ranges::generate(fresh, [this] { return static_cast<std::byte>(random_.next()); });
  std::ranges::copy(fresh, image.begin() + static_cast<std::ptrdiff_t>(start));
  expect_success(operation, pass_through(channel, fresh, {slot.origin + start, bytes}, some_chunk_bytes(bytes, random_)));
  expect_equal(operation, {slot.origin, slot.bytes}, image, "a buffer after input into it");
  add_to_digest(*operation.transfer);
  if (!memory_.release(slot)) fail(operation.transfer, "data beside a buffer changed");
}

/// Without a look. What is there next belongs to the program: the message must never appear in it.
void Lane::give_back(const Operation& operation) {
  add_to_digest(*operation.transfer);
  successors_.push_back(replace(operation.slot));
  if (random_.chance(10)) malloc_trim(0);
}

void Lane::resize_slot(const Operation& operation) {
  const auto image = image_of(operation, contents_of(*operation.transfer));
  Slot slot = operation.slot;
  const std::size_t bytes =
      random_.chance(50) ? random_.between(1, slot.bytes) : slot.bytes + random_.below(slot.bytes + 4 * page);
  const std::size_t kept = std::min(bytes, slot.bytes);
  resize(slot, bytes, random_.chance(50));
  expect_equal(operation, {slot.origin, kept}, std::span(image).first(kept), "a resized buffer");
  add_to_digest(*operation.transfer);
  memory_.release(slot);
}

void Lane::drop(const Operation& operation) {
  const Slot& slot = operation.slot;
  drop_contents(slot, random_.chance(50));
  busy(static_cast<unsigned>(random_.below(300)));
  expect_equal(operation, {slot.origin, slot.bytes}, std::vector<std::byte>(slot.bytes), "a buffer whose pages were dropped");
  add_to_digest(*operation.transfer);
  memory_.release(slot);
}

void Lane::forbid_writing(const Operation& operation) {
  set_writable(operation.slot, false);
  busy(static_cast<unsigned>(random_.below(300)));
  verify(operation);
  set_writable(operation.slot, true);
  finish(operation);
}

void Lane::show_child(const Operation& operation) {
  const Slot& slot = operation.slot;
  expect_success(operation, child_sees({slot.origin, slot.bytes}, image_of(operation, contents_of(*operation.transfer))));
  finish(operation);
}

void Lane::start_some_program(const Operation& operation) {
  expect_success(operation, start_program(static_cast<Started>(random_.below(static_cast<std::size_t>(Started::count)))));
  finish(operation);
}

/// Another thread works with the buffer, while this one goes on and receives into the neighbouring bytes.
void Lane::touch_elsewhere(OperationPointer operation) {
  join_threads();
  touched_ = std::move(operation);
  enum class Work : std::uint8_t { look, copy, output, message };
  const auto work = static_cast<Work>(random_.below(options_.own != MPI_COMM_NULL ? 4 : 3));
  const auto channel = static_cast<Channel>(random_.below(static_cast<std::size_t>(Channel::count)));
  toucher_ = std::jthread([this, work, channel, touched = touched_] {
    const std::span<std::byte> bytes{touched->slot.origin, touched->slot.bytes};
    std::vector<std::byte> found(bytes.size());
    if (work == Work::copy) std::ranges::copy(bytes, found.begin());
    if (work == Work::output) expect_success(*touched, pass_through(channel, bytes, found, bytes.size()));
    if (work == Work::copy || work == Work::output) {
      expect_equal(*touched, found, image_of(*touched, contents_of(*touched->transfer)), "what another thread copied");
    }
    if (work == Work::message) send_to_self(*touched);
    verify(*touched);
  });
}

void Lane::send_to_self(const Operation& operation) {
  const Slot& slot = operation.slot;
  std::vector<std::byte> found(slot.bytes);
  const int bytes = static_cast<int>(slot.bytes);
  MPI_Sendrecv(slot.origin, bytes, MPI_BYTE, 0, 1, found.data(), bytes, MPI_BYTE, 0, 1, options_.own, MPI_STATUS_IGNORE);
  expect_equal(operation, found, image_of(operation, contents_of(*operation.transfer)), "what another thread sent");
}

void Lane::expect_equal(const Operation& operation, std::span<const std::byte> found, std::span<const std::byte> expected,
                        const char* what) {
  const auto [wrong, right] = std::ranges::mismatch(found, expected);
  if (wrong == found.end()) return;
  fail(operation.transfer, "%s: byte %td of %zu is 0x%02x, expected 0x%02x (owner %d, at %p)", what, wrong - found.begin(),
       found.size(), static_cast<unsigned>(*wrong), static_cast<unsigned>(*right), static_cast<int>(operation.slot.owner),
       static_cast<void*>(operation.slot.origin));
}

void Lane::expect_success(const Operation& operation, const std::string& complaint) {
  if (!complaint.empty()) fail(operation.transfer, "%s", complaint.c_str());
}

void Lane::check_successors() {
  for (const Slot& slot : successors_) {
    for (std::size_t i = 0; i < slot.bytes; ++i) {
      if (slot.origin[i] == background_byte(slot.background, i)) continue;
      fail(nullptr, "byte %zu of %zu is 0x%02x in memory at %p that was taken where a received buffer was given back", i,
           slot.bytes, static_cast<unsigned>(slot.origin[i]), static_cast<void*>(slot.origin));
    }
    memory_.release(slot);
  }
  successors_.clear();
}

}  // namespace random_program
