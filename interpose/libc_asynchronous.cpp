// POSIX asynchronous input and output: threads of the C library read and write the buffers later, so these are completed when the
// operation is queued.

#include "interpose/libc_next.hpp"
// The shape of the wrappers comes first.
#include <aio.h>

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

}  // namespace
}  // namespace sluice

using sluice::hold_output;
using sluice::settle_control;
using sluice::settle_list;

LIBRARY_CALL(int, aio_read, (aiocb * control) noexcept, (control), settle_control(control))
LIBRARY_CALL(int, aio_read64, (aiocb64 * control) noexcept, (control), settle_control(control))
LIBRARY_CALL(int, aio_write, (aiocb * control) noexcept, (control), hold_output(); settle_control(control))
LIBRARY_CALL(int, aio_write64, (aiocb64 * control) noexcept, (control), hold_output(); settle_control(control))
LIBRARY_CALL(int, lio_listio, (int mode, aiocb* const list[], int count, sigevent* event) noexcept, (mode, list, count, event),
             hold_output();
             settle_list(list, count))
LIBRARY_CALL(int, lio_listio64, (int mode, aiocb64* const list[], int count, sigevent* event) noexcept,
             (mode, list, count, event), hold_output();
             settle_list(list, count))
