// What a unit says of itself: text by $display, and $error, $fatal, $stop and $finish, of which a failed assertion
// consists. Verilator would end the process. Included before every source, so that its own takes these instead.
#pragma once
#define VL_USER_STOP
#define VL_USER_FINISH
#define VL_USER_FATAL
#define VL_USER_WARN
#define VL_PRINTF rackwright_print

extern "C" int rackwright_print(const char* format, ...);

// Files that a unit opens are beside its manifest, and not in the current folder.
#ifdef RACKWRIGHT_OPENS_FILES
#include <cstdio>

extern "C" FILE* rackwright_fopen(const char* path, const char* mode);
namespace std {
using ::rackwright_fopen;
}
#define fopen rackwright_fopen
#endif
