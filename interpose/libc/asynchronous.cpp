// POSIX asynchronous input and output: threads of the C library read and write the buffers later, so these are completed when the
// operation is queued, and kept as they are until the program has asked for its result.

#include "interpose/libc/next.hpp"
// The shape of the wrappers comes first.
#include <aio.h>

#include "runtime/alias/kept_memory.hpp"

namespace sluice {
namespace {

template <typename Control>
void settle_control(const Control* control) {
  if (!control) return;
  settle(control, sizeof *control);
  settle(const_cast<const void*>(control->aio_buf), control->aio_nbytes);
}

template <typename Control>
void settle_list(const Control* const* list, int count) {
  for (int i = 0; list && i < count; ++i) settle_control(list[i]);
}

template <typename Control>
ByteRange buffer_of(const Control& control) {
  return ByteRange::of(const_cast<const void*>(control.aio_buf), control.aio_nbytes);
}

/// The kernel may be using the buffer from here until the program has asked for the result: its pages stay, and stay open.
template <typename Control>
void begin(const Control* control) {
  if (!control) return;
  kept_memory::begin_use(buffer_of(*control));
  settle_for_good(buffer_of(*control));
}

template <typename Control>
void begin(const Control* const* list, int count) {
  for (int i = 0; list && i < count; ++i) {
    if (list[i] && list[i]->aio_lio_opcode != LIO_NOP) begin(list[i]);
  }
}

/// Not queued after all, or the result is known.
template <typename Result, typename Control>
Result ended(Result result, const Control* control) {
  if (control) kept_memory::end_use(buffer_of(*control));
  return result;
}

template <typename Control, typename Call>
int queued(const Control* control, Call&& call) {
  begin(control);
  const int result = call();
  return result == 0 ? result : ended(result, control);
}

}  // namespace
}  // namespace sluice

using sluice::hold_output;
using sluice::settle_control;
using sluice::settle_list;

#define QUEUEING_CALL(name, control_type, ...)                                                 \
  extern "C" __attribute__((visibility("default"))) int name(control_type* control) noexcept { \
    if (sluice::watching()) [[unlikely]] {                                                     \
      __VA_ARGS__;                                                                             \
    }                                                                                          \
    return sluice::queued(control, [&] { return NEXT(name)(control); });                       \
  }
#define LISTING_CALL(name, control_type)                                                                      \
  extern "C" __attribute__((visibility("default"))) int name(int mode, control_type* const list[], int count, \
                                                             sigevent* event) noexcept {                      \
    if (sluice::watching()) [[unlikely]] {                                                                    \
      hold_output();                                                                                          \
      settle_list(list, count);                                                                               \
    }                                                                                                         \
    sluice::begin(list, count);                                                                               \
    return NEXT(name)(mode, list, count, event);                                                              \
  }

QUEUEING_CALL(aio_read, aiocb, settle_control(control))
QUEUEING_CALL(aio_read64, aiocb64, settle_control(control))
QUEUEING_CALL(aio_write, aiocb, hold_output(); settle_control(control))
QUEUEING_CALL(aio_write64, aiocb64, hold_output(); settle_control(control))
LISTING_CALL(lio_listio, aiocb)
LISTING_CALL(lio_listio64, aiocb64)

extern "C" __attribute__((visibility("default"))) ssize_t aio_return(aiocb* control) noexcept {
  return sluice::ended(NEXT(aio_return)(control), control);
}
extern "C" __attribute__((visibility("default"))) ssize_t aio_return64(aiocb64* control) noexcept {
  return sluice::ended(NEXT(aio_return64)(control), control);
}
