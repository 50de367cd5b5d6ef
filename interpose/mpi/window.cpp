#include "interpose/mpi/window.hpp"

#include <array>
#include <cstdio>
#include <numeric>
#include <utility>

#include "interpose/mpi/entry.hpp"
#include "interpose/mpi/handle_table.hpp"
#include "interpose/mpi/handles.hpp"
#include "interpose/mpi/shared_memory.hpp"
#include "interpose/mpi/window_calls.hpp"

namespace sluice {
namespace {

constinit HandleTable<Window> windows;

/// The host's fatal handler would blame MPI_Win_call_errhandler; say first which call it was.
void name_call_if_fatal(MPI_Win window, int code, const char* function) {
  MPI_Errhandler handler{};
  if (host().Win_get_errhandler(window, &handler) != MPI_SUCCESS) return;
  const bool fatal = handler == predefined().errors_are_fatal;
  host().Errhandler_free(&handler);
  if (!fatal) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  host().Error_string(code, text.data(), &length);
  std::fprintf(stderr, "sluice: rank %d: %s: %s\n", session().world_rank(), function, text.data());
}

bool is_allocated(const Window& window) { return window.kind().call == Window::Kind::allocate; }

}  // namespace

namespace detail {

constinit std::atomic<std::size_t> carried_windows{0};

Window* find_window(MPI_Win window) { return windows.find(window); }

}  // namespace detail

Window::Window(MPI_Win handle, std::unique_ptr<WindowWords> words, int self, Kind kind, std::vector<Memory> memories)
    : handle_(handle),
      words_(std::move(words)),
      memories_(std::move(memories)),
      kind_(std::move(kind)),
      shared_(std::in_place, words_->all(), static_cast<std::size_t>(self), static_cast<SharedSync::Host&>(*this)) {
  if (kind_.call == Kind::create) brought_.add(memory(self).base, memory(self).bytes);
  enter();
}

Window::Window(MPI_Win handle, ContextId id, Communicator& communicator, Kind kind, std::vector<Memory> memories)
    : handle_(handle), communicator_(&communicator), memories_(std::move(memories)), kind_(std::move(kind)) {
  const Context& members = *communicator.context;
  FarWindowCalls::Opening opening{.id = id, .members = members, .is_dynamic = kind_.call == Kind::create_dynamic};
  if (!opening.is_dynamic) {
    const Memory& own = memory(static_cast<int>(members.self()));
    brought_.add(own.base, own.bytes);
    opening.exposed = ByteRange::of(own.base, own.bytes);
  }
  far_ = std::make_unique<FarWindowCalls>(engine(), opening);
  enter();
}

MPI_Request Window::handle_for(Request* whole) const {
  return whole ? handle_for_collective(whole, *communicator_) : handle_for_no_process(false);
}

void Window::enter() {
  host().Win_get_group(handle_, &group_);
  windows.insert(handle_, this);
  detail::carried_windows.fetch_add(1, std::memory_order_relaxed);
}

void Window::close() {
  windows.erase(handle_, this);
  detail::carried_windows.fetch_sub(1, std::memory_order_relaxed);
  far_.reset();
  brought_.take_all_back();
  host().Group_free(&group_);
  if (words_) words_->free();
}

bool Window::wait(WindowWait& wait, std::uint64_t limit_ns) { return Engine::Windows(engine()).wait(wait, limit_ns); }

void Window::wake(std::size_t member) { Engine::Windows(engine()).wake(words_->members()[member]); }

/// Nobody else knows yet where it is.
void Window::attach(const void* base, std::size_t bytes) {
  brought_.add(base, bytes);
  if (far_) far_->expose(ByteRange::of(base, bytes));
}

void Window::detach(const void* base) {
  if (far_) far_->withdraw(base);
  brought_.take_back(base);
}

std::optional<WindowSync::Members> Window::members_of(MPI_Group group) const {
  int size = 0;
  if (!group || group == predefined().group_null || host().Group_size(group, &size) != MPI_SUCCESS) return std::nullopt;
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  std::vector<int> translated(ranks.size(), MPI_UNDEFINED);
  if (host().Group_translate_ranks(group, size, ranks.data(), group_, translated.data()) != MPI_SUCCESS) return std::nullopt;
  WindowSync::Members members;
  for (const int rank : translated) {
    if (!has_rank(rank)) return std::nullopt;
    members.push_back(static_cast<std::size_t>(rank));
  }
  return members;
}

int Window::raise(int code, const char* function) const {
  name_call_if_fatal(handle_, code, function);
  host().Win_call_errhandler(handle_, code);
  return code;
}

void call_it_allocated(MPI_Win window) {
  int* flavor = nullptr;
  int found = 0;
  const int code = host().Win_get_attr(window, MPI_WIN_CREATE_FLAVOR, static_cast<void*>(&flavor), &found);
  if (code == MPI_SUCCESS && found != 0) *flavor = MPI_WIN_FLAVOR_ALLOCATE;
}

namespace window_calls {

int Win_get_attr(const Window& window, int key, void* value, int* found) {
  static int flavor = MPI_WIN_FLAVOR_ALLOCATE;  // the program gets its address; MPICH tells that of a copy made anew
  const int code = host().Win_get_attr(window.handle(), key, value, found);
  if (code == MPI_SUCCESS && key == MPI_WIN_CREATE_FLAVOR && is_allocated(window)) *static_cast<int**>(value) = &flavor;
  return code;
}

int Win_get_info(const Window& window, MPI_Info* info) {
  const int code = host().Win_get_info(window.handle(), info);
  if (code == MPI_SUCCESS && is_allocated(window)) SharedMemoryInfo::give_back(*info, window.kind().asked_layout);
  return code;
}

int Win_attach(Window& window, void* base, MPI_Aint size) {
  if (size > 0) engine().memory().settle(ByteRange::of(base, static_cast<std::size_t>(size)), Access::write);
  const int code = host().Win_attach(window.handle(), base, size);
  if (code == MPI_SUCCESS) window.attach(base, static_cast<std::size_t>(size));
  return code;
}

int Win_detach(Window& window, const void* base) {
  const int code = host().Win_detach(window.handle(), base);
  if (code == MPI_SUCCESS) window.detach(base);
  return code;
}

}  // namespace window_calls

int free_window(MPI_Win* window) {
  const MPI_Win handle = window ? *window : nullptr;
  Window* const carried = handle ? carried_window(handle) : nullptr;
  // The program's delete callbacks may use it. When they refuse, it stays as it is.
  const int code = host_activity().freed(host().Win_free(window), handle);
  if (carried && code == MPI_SUCCESS) {
    carried->close();
    delete carried;
  }
  return code;
}

}  // namespace sluice
