#include "runtime/guard/touches.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>

#include "runtime/base/clock.hpp"
#include "runtime/process/stall_clock.hpp"

namespace sluice {

TouchThreads::TouchThreads(TouchAnswerer& answerer, const FaultDescriptor& faults)
    : answerer_(answerer), faults_(faults), stopping_(eventfd(0, EFD_CLOEXEC)) {
  if (!stopping_) throw std::system_error(errno, std::generic_category(), "eventfd");
  // The application's signals are none of these threads' business, but a fault of their own must be reported.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigdelset(&all, SIGSEGV);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    first_ = std::thread([this] { run(); });
    second_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    stop();
    throw;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TouchThreads::~TouchThreads() { stop(); }

void TouchThreads::stop() {
  stopped_.store(true, std::memory_order_relaxed);
  const std::uint64_t one = 1;
  if (stopping_) syscall(SYS_write, stopping_.get(), &one, sizeof one);
  for (std::thread* thread : {&first_, &second_}) {
    if (thread->joinable()) thread->join();
  }
}

void TouchThreads::abandon() {
  for (std::thread* thread : {&first_, &second_}) {
    if (thread->joinable()) thread->detach();
  }
}

void TouchThreads::run() {
  pthread_setname_np(pthread_self(), "sluice-touch");
  while (attend()) drive();
}

bool TouchThreads::attend() {
  const std::lock_guard role(attending_);
  std::array<std::uintptr_t, 16> pages;
  while (wait_for_touches()) {
    bool drive = false;
    for (const std::uintptr_t page : faults_.read(pages)) {
      if (!answerer_.answer_touch(page)) drive |= enter(page);
    }
    if (drive) return true;
  }
  return false;
}

bool TouchThreads::wait_for_touches() const {
  std::array<pollfd, 2> files{{{faults_.get(), POLLIN, 0}, {stopping_.get(), POLLIN, 0}}};
  // The bare call: poll() is intercepted.
  while (syscall(SYS_poll, files.data(), files.size(), -1) < 0 && errno == EINTR) {
  }
  return files[1].revents == 0;
}

bool TouchThreads::enter(std::uintptr_t page) {
  const std::lock_guard lock(waits_lock_);
  const auto same = [&](const Wait& wait) { return wait.page == page; };
  if (std::none_of(waits_.begin(), waits_.end(), same)) {
    waits_.push_back({page, now_ns()});
    detail::stall_clock.begin(waits_.back().since);
  }
  return !std::exchange(driven_, true);
}

void TouchThreads::drive() {
  for (unsigned attempt = 0; anybody_waits(); ++attempt) answerer_.progress(attempt);
}

/// Strikes the pages that were opened. One that is closed again by another release meanwhile is driven a while in vain.
bool TouchThreads::anybody_waits() {
  const std::lock_guard lock(waits_lock_);
  std::uint64_t now = 0;
  std::erase_if(waits_, [&](const Wait& wait) {
    if (answerer_.is_closed_page(wait.page)) return false;
    if (now == 0) now = now_ns();
    answerer_.note_wait(wait.since, now);
    return true;
  });
  driven_ = !waits_.empty() && !stopped_.load(std::memory_order_relaxed);
  return driven_;
}

}  // namespace sluice
