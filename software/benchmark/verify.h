// The official library's verdict on a result, whoever produced it.
#pragma once

#include "engine.h"

// Room for any result of `operation` on `input`: the library's bound for compressing, the length
// that the header declares for decompressing (0 when there is none to read).
size_t output_capacity(Operation operation, const Bytes &input);

// Whether the library agrees. Compress: it decompresses the output to exactly the input.
// Decompress: it calls the input valid too and yields the same bytes, or calls it malformed too.
bool agrees_with_library(Operation operation, const Bytes &input, const Bytes &output,
                         const Outcome &outcome);
