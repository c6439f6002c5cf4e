// What a unit says of itself: text by $display, and $error, $fatal and $stop, of which a failed assertion consists.
// Verilator would end the process. Included before every source, so that its own takes these instead.
#pragma once
#define VL_USER_STOP
#define VL_PRINTF rackwright_print

extern "C" int rackwright_print(const char* format, ...);
