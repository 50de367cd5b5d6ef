// Streams that are written to. stdio empties their buffers by calls of its own, so what it may write is completed here: the
// stream's buffer, and memory that goes past it. Formatted text is read by stdio itself, which waits on a closed page like any
// code.

#include "interpose/libc/next.hpp"
// The shape of the wrappers comes first.
#include <cstdarg>
#include <cwchar>

// What inlined putc_unlocked calls, and programs compiled with _FORTIFY_SOURCE; no header declares them.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
int __overflow(FILE*, int);
int __printf_chk(int, const char*, ...);
int __fprintf_chk(FILE*, int, const char*, ...);
int __vprintf_chk(int, const char*, va_list);
int __vfprintf_chk(FILE*, int, const char*, va_list);
int __dprintf_chk(int, int, const char*, ...);
int __vdprintf_chk(int, int, const char*, va_list);
}
// NOLINTEND(bugprone-reserved-identifier)

using sluice::hold_output;
using sluice::settle_product;
using sluice::settle_stream;

// NOLINTBEGIN(bugprone-macro-parentheses): prototypes
/// A variadic function, by way of the one that takes a list.
#define FORMATTED_CALL(name, parameters, last, list_name, arguments, ...) \
  extern "C" __attribute__((visibility("default"))) int name parameters { \
    if (sluice::watching()) [[unlikely]] {                                \
      __VA_ARGS__;                                                        \
    }                                                                     \
    va_list list;                                                         \
    va_start(list, last);                                                 \
    const int result = NEXT(list_name) arguments;                         \
    va_end(list);                                                         \
    return result;                                                        \
  }
// NOLINTEND(bugprone-macro-parentheses): prototypes

LIBRARY_CALL(size_t, fwrite, (const void* data, size_t size, size_t count, FILE* file), (data, size, count, file),
             hold_output(file);
             settle_product(data, size, count, sluice::Access::read))
LIBRARY_CALL(size_t, fwrite_unlocked, (const void* data, size_t size, size_t count, FILE* file), (data, size, count, file),
             hold_output(file);
             settle_product(data, size, count, sluice::Access::read))
LIBRARY_CALL(int, puts, (const char* text), (text), hold_output(stdout))
LIBRARY_CALL(int, fputs, (const char* text, FILE* file), (text, file), hold_output(file))
LIBRARY_CALL(int, fputs_unlocked, (const char* text, FILE* file), (text, file), hold_output(file))
LIBRARY_CALL(int, putchar, (int character), (character), hold_output(stdout))
LIBRARY_CALL(int, putc, (int character, FILE* file), (character, file), hold_output(file))
LIBRARY_CALL(int, fputc, (int character, FILE* file), (character, file), hold_output(file))
LIBRARY_CALL(int, __overflow, (FILE * file, int character), (file, character), hold_output(file))
LIBRARY_CALL(wint_t, fputwc, (wchar_t character, FILE* file), (character, file), hold_output(file))
LIBRARY_CALL(int, fputws, (const wchar_t* text, FILE* file), (text, file), hold_output(file))
LIBRARY_CALL(void, perror, (const char* text), (text), hold_output(stderr))

FORMATTED_CALL(printf, (const char* format, ...), format, vprintf, (format, list), hold_output(stdout))
FORMATTED_CALL(fprintf, (FILE * file, const char* format, ...), format, vfprintf, (file, format, list), hold_output(file))
FORMATTED_CALL(dprintf, (int file, const char* format, ...), format, vdprintf, (file, format, list), hold_output())
FORMATTED_CALL(__printf_chk, (int flag, const char* format, ...), format, __vprintf_chk, (flag, format, list),
               hold_output(stdout))
FORMATTED_CALL(__fprintf_chk, (FILE * file, int flag, const char* format, ...), format, __vfprintf_chk,
               (file, flag, format, list), hold_output(file))
FORMATTED_CALL(__dprintf_chk, (int file, int flag, const char* format, ...), format, __vdprintf_chk, (file, flag, format, list),
               hold_output())
LIBRARY_CALL(int, vprintf, (const char* format, va_list list), (format, list), hold_output(stdout))
LIBRARY_CALL(int, vfprintf, (FILE * file, const char* format, va_list list), (file, format, list), hold_output(file))
LIBRARY_CALL(int, vdprintf, (int file, const char* format, va_list list), (file, format, list), hold_output())
LIBRARY_CALL(int, __vprintf_chk, (int flag, const char* format, va_list list), (flag, format, list), hold_output(stdout))
LIBRARY_CALL(int, __vfprintf_chk, (FILE * file, int flag, const char* format, va_list list), (file, flag, format, list),
             hold_output(file))
LIBRARY_CALL(int, __vdprintf_chk, (int file, int flag, const char* format, va_list list), (file, flag, format, list),
             hold_output())

LIBRARY_CALL(int, fflush, (FILE * file), (file), hold_output(file))
LIBRARY_CALL(int, fflush_unlocked, (FILE * file), (file), hold_output(file))
LIBRARY_CALL(int, fclose, (FILE * file), (file), hold_output(file))
LIBRARY_CALL(int, pclose, (FILE * file), (file), hold_output(file))
// They empty the buffer first.
LIBRARY_CALL(int, fseek, (FILE * file, long offset, int origin), (file, offset, origin), hold_output(file))
LIBRARY_CALL(int, fseeko, (FILE * file, off_t offset, int origin), (file, offset, origin), hold_output(file))
LIBRARY_CALL(int, fseeko64, (FILE * file, off64_t offset, int origin), (file, offset, origin), hold_output(file))
LIBRARY_CALL(void, rewind, (FILE * file), (file), hold_output(file))
