#include "lane.hpp"

#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

namespace random_program {

Lane::Lane(const LaneOptions& options, const Script& script, std::vector<MPI_Comm> communicators)
    : options_(options),
      script_(script),
      communicators_(std::move(communicators)),
      random_(combine(combine(options.seed, static_cast<std::uint64_t>(options.lane)),
                      1000 + static_cast<std::uint64_t>(options.rank))),
      memory_(options.lane) {}

Lane::~Lane() {
  for (const auto& operation : forgotten_) memory_.release(operation->slot);
}

void Lane::run() {
  for (event_ = 0; event_ < script_.events.size(); ++event_) {
    perform(script_.events[event_]);
    if (random_.chance(35)) wait_for_some();
    if (random_.chance(25)) verify_some_late_buffer();
    if (random_.chance(25)) finish_some_late_side();
    if (!memory_.rewrite_some_cell(random_)) fail(nullptr, "data beside a buffer changed");
  }
}

void Lane::fail(const Transfer* transfer, const char* format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const auto& event = script_.events[event_];
  std::fprintf(stderr, "FAILED seed %lu rank %d lane %d event %zu (%s): %s\n", static_cast<unsigned long>(options_.seed),
               options_.rank, options_.lane, event_, describe(event.kind), text);
  if (transfer != nullptr) {
    std::fprintf(stderr,
                 "  message %d -> %d communicator %zu tag %d, %zu bytes, base %d, send call %d, receive call %d, layouts %d %d, "
                 "any source %d, any tag %d\n",
                 transfer->source, transfer->destination, transfer->communicator, transfer->tag, transfer->bytes(),
                 static_cast<int>(transfer->base), static_cast<int>(transfer->send_call),
                 static_cast<int>(transfer->receive_call), static_cast<int>(transfer->send_layout.kind),
                 static_cast<int>(transfer->receive_layout.kind), static_cast<int>(transfer->any_source),
                 static_cast<int>(transfer->any_tag));
  }
  std::fflush(nullptr);
  std::_Exit(3);
}

/// Work of the application: half of the time it computes, else it sleeps.
void Lane::busy(unsigned microseconds) {
  if (microseconds == 0) return;
  if (microseconds > 1 && options_.rank % 2 == 0) {
    usleep(microseconds);
    return;
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(microseconds);
  while (std::chrono::steady_clock::now() < end) sched_yield();
}

int Lane::local_rank(std::size_t communicator, int world_rank) const {
  return script_.communicators[communicator].local[static_cast<std::size_t>(world_rank)];
}

bool Lane::is_member_with(std::size_t communicator, int world_rank) const {
  const auto& color = script_.communicators[communicator].color;
  return color[static_cast<std::size_t>(world_rank)] == color[static_cast<std::size_t>(options_.rank)];
}

}  // namespace random_program
