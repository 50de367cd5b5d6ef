// Streams that are read from. stdio fills their buffers, and large requests of fread directly, by calls of its own.

#include "interpose/libc/next.hpp"
// The shape of the wrappers comes first.
#include <cstdarg>
#include <cwchar>

// What inlined getc_unlocked calls, and programs compiled with _FORTIFY_SOURCE or for ISO C; no header declares them.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {
int __uflow(FILE*);
size_t __fread_chk(void*, size_t, size_t, size_t, FILE*);
size_t __fread_unlocked_chk(void*, size_t, size_t, size_t, FILE*);
char* __fgets_chk(char*, size_t, int, FILE*);
ssize_t __getdelim(char**, size_t*, int, FILE*);
int __isoc99_scanf(const char*, ...);
int __isoc99_fscanf(FILE*, const char*, ...);
int __isoc99_vscanf(const char*, va_list);
int __isoc99_vfscanf(FILE*, const char*, va_list);
}
// NOLINTEND(bugprone-reserved-identifier)

using sluice::settle_product;
using sluice::settle_stream;
using sluice::settle_string;

LIBRARY_CALL(size_t, fread, (void* data, size_t size, size_t count, FILE* file), (data, size, count, file),
             settle_product(data, size, count, sluice::Access::write);
             settle_stream(file))
LIBRARY_CALL(size_t, fread_unlocked, (void* data, size_t size, size_t count, FILE* file), (data, size, count, file),
             settle_product(data, size, count, sluice::Access::write);
             settle_stream(file))
LIBRARY_CALL(size_t, __fread_chk, (void* data, size_t room, size_t size, size_t count, FILE* file),
             (data, room, size, count, file), settle_product(data, size, count, sluice::Access::write);
             settle_stream(file))
LIBRARY_CALL(size_t, __fread_unlocked_chk, (void* data, size_t room, size_t size, size_t count, FILE* file),
             (data, room, size, count, file), settle_product(data, size, count, sluice::Access::write);
             settle_stream(file))
LIBRARY_CALL(char*, fgets, (char* text, int room, FILE* file), (text, room, file), settle_stream(file))
LIBRARY_CALL(char*, fgets_unlocked, (char* text, int room, FILE* file), (text, room, file), settle_stream(file))
LIBRARY_CALL(char*, __fgets_chk, (char* text, size_t size, int room, FILE* file), (text, size, room, file), settle_stream(file))
LIBRARY_CALL(ssize_t, getline, (char** line, size_t* room, FILE* file), (line, room, file), settle_stream(file))
LIBRARY_CALL(ssize_t, getdelim, (char** line, size_t* room, int last, FILE* file), (line, room, last, file), settle_stream(file))
LIBRARY_CALL(ssize_t, __getdelim, (char** line, size_t* room, int last, FILE* file), (line, room, last, file),
             settle_stream(file))
LIBRARY_CALL(int, getc, (FILE * file), (file), settle_stream(file))
LIBRARY_CALL(int, fgetc, (FILE * file), (file), settle_stream(file))
LIBRARY_CALL(int, getchar, (), (), settle_stream(stdin))
LIBRARY_CALL(int, __uflow, (FILE * file), (file), settle_stream(file))
LIBRARY_CALL(wint_t, fgetwc, (FILE * file), (file), settle_stream(file))
LIBRARY_CALL(wchar_t*, fgetws, (wchar_t * text, int room, FILE* file), (text, room, file), settle_stream(file))

// NOLINTBEGIN(bugprone-macro-parentheses): prototypes
/// A variadic function, by way of the one that takes a list.
#define SCANNING_CALL(name, parameters, list_name, arguments, stream)     \
  extern "C" __attribute__((visibility("default"))) int name parameters { \
    if (sluice::watching()) [[unlikely]]                                  \
      settle_stream(stream);                                              \
    va_list list;                                                         \
    va_start(list, format);                                               \
    const int result = NEXT(list_name) arguments;                         \
    va_end(list);                                                         \
    return result;                                                        \
  }
// NOLINTEND(bugprone-macro-parentheses): prototypes
SCANNING_CALL(__isoc99_scanf, (const char* format, ...), __isoc99_vscanf, (format, list), stdin)
SCANNING_CALL(__isoc99_fscanf, (FILE * file, const char* format, ...), __isoc99_vfscanf, (file, format, list), file)
LIBRARY_CALL(int, __isoc99_vscanf, (const char* format, va_list list), (format, list), settle_stream(stdin))
LIBRARY_CALL(int, __isoc99_vfscanf, (FILE * file, const char* format, va_list list), (file, format, list), settle_stream(file))

LIBRARY_CALL(FILE*, fopen, (const char* path, const char* mode), (path, mode), settle_string(path))
LIBRARY_CALL(FILE*, fopen64, (const char* path, const char* mode), (path, mode), settle_string(path))
LIBRARY_CALL(FILE*, freopen, (const char* path, const char* mode, FILE* file), (path, mode, file), settle_string(path);
             sluice::hold_output(file))
LIBRARY_CALL(FILE*, freopen64, (const char* path, const char* mode, FILE* file), (path, mode, file), settle_string(path);
             sluice::hold_output(file))
