#include "runtime/copy/copy_kernels.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#ifdef SLUICE_X86_COPIES
#include <immintrin.h>
#endif

namespace sluice::copy_kernels {

void library(std::byte* target, const std::byte* source, std::size_t bytes) { std::memcpy(target, source, bytes); }

#ifdef SLUICE_X86_COPIES

namespace {

constexpr std::size_t line_bytes = 64;

/// Bytes before the first whole line of the target.
std::size_t head_bytes(const std::byte* target, std::size_t bytes) {
  return std::min(bytes, -reinterpret_cast<std::uintptr_t>(target) % line_bytes);
}

// Each loop copies `lines` whole lines of an aligned target, four at a time while there are as many. A function that has wider
// registers than every x86-64 says so itself, and what is inlined into it must say the same: hence no common template.

template <bool Streaming>
void copy_lines_sse2(std::byte* target, const std::byte* source, std::size_t lines) {
  constexpr std::size_t registers = line_bytes / sizeof(__m128i);
  for (; lines > 0; --lines, target += line_bytes, source += line_bytes) {
    const auto* from = reinterpret_cast<const __m128i*>(source);
    auto* to = reinterpret_cast<__m128i*>(target);
    __m128i line[registers];
    for (std::size_t i = 0; i < registers; ++i) line[i] = _mm_loadu_si128(from + i);
    for (std::size_t i = 0; i < registers; ++i) Streaming ? _mm_stream_si128(to + i, line[i]) : _mm_store_si128(to + i, line[i]);
  }
}

template <bool Streaming>
__attribute__((target("avx2"))) void copy_lines_avx2(std::byte* target, const std::byte* source, std::size_t lines) {
  const auto* from = reinterpret_cast<const __m256i*>(source);
  auto* to = reinterpret_cast<__m256i*>(target);
  for (; lines >= 4; lines -= 4, to += 8, from += 8) {
    __m256i loaded[8];
    for (int i = 0; i < 8; ++i) loaded[i] = _mm256_loadu_si256(from + i);
    for (int i = 0; i < 8; ++i) Streaming ? _mm256_stream_si256(to + i, loaded[i]) : _mm256_store_si256(to + i, loaded[i]);
  }
  for (; lines > 0; --lines, to += 2, from += 2) {
    const __m256i first = _mm256_loadu_si256(from);
    const __m256i second = _mm256_loadu_si256(from + 1);
    _mm256_store_si256(to, first);
    _mm256_store_si256(to + 1, second);
  }
}

template <bool Streaming>
__attribute__((target("avx512f"))) void copy_lines_avx512(std::byte* target, const std::byte* source, std::size_t lines) {
  const auto* from = reinterpret_cast<const __m512i*>(source);
  auto* to = reinterpret_cast<__m512i*>(target);
  for (; lines >= 4; lines -= 4, to += 4, from += 4) {
    __m512i loaded[4];
    for (int i = 0; i < 4; ++i) loaded[i] = _mm512_loadu_si512(from + i);
    for (int i = 0; i < 4; ++i) Streaming ? _mm512_stream_si512(to + i, loaded[i]) : _mm512_store_si512(to + i, loaded[i]);
  }
  for (; lines > 0; --lines) _mm512_store_si512(to++, _mm512_loadu_si512(from++));
}

/// The bytes before and after the whole lines are the library's.
template <void (*CopyLines)(std::byte*, const std::byte*, std::size_t)>
void copy_in_lines(std::byte* target, const std::byte* source, std::size_t bytes) {
  const std::size_t head = head_bytes(target, bytes);
  const std::size_t lines = (bytes - head) / line_bytes;
  const std::size_t done = head + lines * line_bytes;
  std::memcpy(target, source, head);
  CopyLines(target + head, source + head, lines);
  std::memcpy(target + done, source + done, bytes - done);
}

/// Lines are written back so many after they were read: that goes on beside the next loads then.
constexpr std::size_t lines_behind = 8;

__attribute__((target("clwb"))) void write_back(const std::byte* begin, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += line_bytes) _mm_clwb(const_cast<std::byte*>(begin + at));
}

template <void (*CopyLines)(std::byte*, const std::byte*, std::size_t)>
void copy_and_hand_back(std::byte* target, const std::byte* source, std::size_t bytes) {
  constexpr std::size_t step = lines_behind * line_bytes;
  const std::size_t head = head_bytes(target, bytes);
  std::size_t behind = head;
  std::size_t done = head;
  std::memcpy(target, source, head);
  for (; bytes - done >= step; done += step) {
    CopyLines(target + done, source + done, lines_behind);
    write_back(source + behind, done - behind);
    behind = done;
  }
  std::memcpy(target + done, source + done, bytes - done);
  write_back(source, head);
  write_back(source + behind, bytes - behind);
  if (bytes != 0) write_back(source + bytes - 1, 1);
}

}  // namespace

void string(std::byte* target, const std::byte* source, std::size_t bytes) {
  asm volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(bytes) : : "memory");
}

void vector_sse2(std::byte* target, const std::byte* source, std::size_t bytes) {
  copy_in_lines<copy_lines_sse2<false>>(target, source, bytes);
}

void vector_avx2(std::byte* target, const std::byte* source, std::size_t bytes) {
  copy_in_lines<copy_lines_avx2<false>>(target, source, bytes);
}

void vector_avx512(std::byte* target, const std::byte* source, std::size_t bytes) {
  copy_in_lines<copy_lines_avx512<false>>(target, source, bytes);
}

void streaming_sse2(std::byte* target, const std::byte* source, std::size_t bytes) {
  copy_in_lines<copy_lines_sse2<true>>(target, source, bytes);
  _mm_sfence();
}

void streaming_avx2(std::byte* target, const std::byte* source, std::size_t bytes) {
  copy_in_lines<copy_lines_avx2<true>>(target, source, bytes);
  _mm_sfence();
}

void streaming_avx512(std::byte* target, const std::byte* source, std::size_t bytes) {
  copy_in_lines<copy_lines_avx512<true>>(target, source, bytes);
  _mm_sfence();
}

void handing_back_sse2(std::byte* target, const std::byte* source, std::size_t bytes) {
  copy_and_hand_back<copy_lines_sse2<false>>(target, source, bytes);
}

void handing_back_avx2(std::byte* target, const std::byte* source, std::size_t bytes) {
  copy_and_hand_back<copy_lines_avx2<false>>(target, source, bytes);
}

void handing_back_avx512(std::byte* target, const std::byte* source, std::size_t bytes) {
  copy_and_hand_back<copy_lines_avx512<false>>(target, source, bytes);
}

#endif

}  // namespace sluice::copy_kernels
