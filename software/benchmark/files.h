// Whole files in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using Bytes = std::vector<char>;

// Throws std::runtime_error with the path and the reason. "-" reads the standard input.
Bytes read_file(const std::string &path);
void write_file(const std::string &path, const char *data, size_t bytes);

// FNV-1a over 64-bit words (the tail over bytes): tells whether two runs wrote the same.
uint64_t hash_of(const char *data, size_t bytes);
