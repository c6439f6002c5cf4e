// A format by the functions that programs usually call for it. Whether the official library or a
// unit answers them is decided when the benchmark is linked.
#pragma once

#include <cstddef>

constexpr size_t failed = static_cast<size_t>(-1);

// Room for any result of compressing `size` bytes.
size_t codec_bound(size_t size);

// The size of the result, or `failed`.
size_t codec_compress(void *dst, size_t capacity, const void *src, size_t size, int level);
size_t codec_decompress(void *dst, size_t capacity, const void *src, size_t size);
