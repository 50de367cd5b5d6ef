// The loops of the copy engine, one for each width of registers. Only what the processor has may be called (copy_engine.cpp).
#pragma once

#include <cstddef>

#if defined(__x86_64__)
#define SLUICE_X86_COPIES 1
#endif

namespace sluice::copy_kernels {

void library(std::byte* target, const std::byte* source, std::size_t bytes);

#ifdef SLUICE_X86_COPIES
void string(std::byte* target, const std::byte* source, std::size_t bytes);
void vector_sse2(std::byte* target, const std::byte* source, std::size_t bytes);
void vector_avx2(std::byte* target, const std::byte* source, std::size_t bytes);
void vector_avx512(std::byte* target, const std::byte* source, std::size_t bytes);
void streaming_sse2(std::byte* target, const std::byte* source, std::size_t bytes);
void streaming_avx2(std::byte* target, const std::byte* source, std::size_t bytes);
void streaming_avx512(std::byte* target, const std::byte* source, std::size_t bytes);
void handing_back_sse2(std::byte* target, const std::byte* source, std::size_t bytes);
void handing_back_avx2(std::byte* target, const std::byte* source, std::size_t bytes);
void handing_back_avx512(std::byte* target, const std::byte* source, std::size_t bytes);
#endif

}  // namespace sluice::copy_kernels
