// Data of the runtime that programs access directly. Programs for simulated machines are linked statically: their code
// need not look up its address, which would take a load.
#pragma once

#ifdef __riscv
#define RACKWRIGHT_HIDDEN __attribute__((visibility("hidden")))
#else
#define RACKWRIGHT_HIDDEN
#endif
