// One-way latency and message rate of the shared-memory ring alone: two processes on two processors, no MPI, no engine.
// Prints the median and the best of many short batches, since a busy machine only ever makes a batch slower.
//
//   ring_bench [ring KB]
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <vector>

#include "runtime/copy/shared_copy.hpp"
#include "shmem/cache_hints.hpp"
#include "shmem/ring.hpp"

namespace {

using namespace sluice;
using Clock = std::chrono::steady_clock;

constexpr int batches = 400;
constexpr int rounds = 250;

struct Side {
  RingWriter out;
  RingReader in;
  std::vector<std::byte> buffer = std::vector<std::byte>(1 << 20);

  void send(std::size_t bytes) {
    std::byte* room = nullptr;
    while (!(room = out.reserve(bytes))) __builtin_ia32_pause();
    copy_to_shared(room, buffer.data(), bytes);
    WireHeader header;
    header.kind = MessageKind::eager;
    header.payload_bytes = static_cast<std::uint32_t>(bytes);
    out.publish(header, true);
  }

  void receive() {
    const auto copy = [&](const WireHeader&, std::span<const std::byte> payload) {
      std::memcpy(buffer.data(), payload.data(), payload.size());
    };
    while (in.take(copy) != RingReader::Found::message) {
      if (in.owes_room()) in.publish_head();
      __builtin_ia32_pause();
    }
    in.yield_room();
  }
};

void bind(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  sched_setaffinity(0, sizeof set, &set);
}

double nanoseconds(Clock::duration time) { return std::chrono::duration<double, std::nano>(time).count(); }

void print(const char* what, std::size_t bytes, std::vector<double>& samples) {
  std::sort(samples.begin(), samples.end());
  const double median = samples[samples.size() / 2];
  std::printf("%-10s %7zu B  best %8.1f ns  median %8.1f ns  %7.2f GB/s\n", what, bytes, samples[0], median,
              static_cast<double>(bytes) / samples[0]);
}

void ping_pong(Side& side, bool first, std::size_t bytes) {
  std::vector<double> samples;
  for (int batch = 0; batch < batches; batch++) {
    const auto start = Clock::now();
    for (int i = 0; i < rounds; i++) {
      if (first) side.send(bytes);
      side.receive();
      if (!first) side.send(bytes);
    }
    samples.push_back(nanoseconds(Clock::now() - start) / rounds / 2);
  }
  if (first) print("ping-pong", bytes, samples);
}

void stream(Side& side, bool first, std::size_t bytes) {
  std::vector<double> samples;
  for (int batch = 0; batch < batches / 4; batch++) {
    const auto start = Clock::now();
    for (int i = 0; i < rounds * 4; i++) first ? side.send(bytes) : side.receive();
    first ? side.receive() : side.send(8);
    samples.push_back(nanoseconds(Clock::now() - start) / rounds / 4);
  }
  if (first) print("stream", bytes, samples);
}

}  // namespace

int main(int count, char** arguments) {
  const std::size_t capacity = (count > 1 ? std::strtoul(arguments[1], nullptr, 10) : 128) * 1024;
  const std::size_t total = 2 * (capacity + page_bytes);
  void* memory = mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  std::byte* const base = static_cast<std::byte*>(memory);
  auto* controls = new (base) RingControl[2]();
  const auto buffer = [&](std::size_t i) { return base + page_bytes + i * capacity; };

  const pid_t child = fork();
  const bool first = child != 0;
  bind(first ? 0 : 1);
  const std::size_t lap = std::min(cache_hints::lap_bytes(2, true), capacity / 2);
  Side side{{&controls[first], buffer(first), capacity, lap, true}, {&controls[!first], buffer(!first), capacity, lap}};
  for (const std::size_t bytes : {0u, 8u, 32u, 64u, 256u, 512u, 1024u, 2048u, 4096u, 8192u, 16000u})
    ping_pong(side, first, bytes);
  for (const std::size_t bytes : {8u, 64u, 1024u, 4096u, 16000u}) stream(side, first, bytes);
  if (!first) _exit(0);
  waitpid(child, nullptr, 0);
  munmap(memory, total);
}
