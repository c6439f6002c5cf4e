// A checked heap: every free is of a block that is allocated, and all blocks can be counted. Programs
// are linked with --wrap for malloc, calloc, realloc and free.
#pragma once

#include <cstddef>

// Blocks that are allocated now.
size_t blocks_in_use();
