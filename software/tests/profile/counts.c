// Counts calls in a program that was compiled with -finstrument-functions, and prints them at its end: an address and a count
// a line, on standard error. The profiler's counts of the same program without it are compared with these.
#include <stdio.h>

#define UNSEEN __attribute__((no_instrument_function))

enum { MOST = 4096 };
static struct {
    void *function;
    unsigned long calls;
} seen[MOST];

#ifdef __cplusplus
extern "C" {
#endif

void UNSEEN __cyg_profile_func_enter(void *function, void *caller) {
    (void)caller;
    unsigned long slot = (unsigned long)function / 2 % MOST;
    for (;; slot = (slot + 1) % MOST) {
        void *known = NULL;
        // Threads count too.
        if (__atomic_compare_exchange_n(&seen[slot].function, &known, function, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ||
            known == function)
            break;
    }
    __atomic_fetch_add(&seen[slot].calls, 1, __ATOMIC_SEQ_CST);
}

void UNSEEN __cyg_profile_func_exit(void *function, void *caller) {
    (void)function;
    (void)caller;
}

#ifdef __cplusplus
}
#endif

static void UNSEEN __attribute__((destructor)) print_counts(void) {
    for (int slot = 0; slot < MOST; slot++)
        if (seen[slot].function)
            fprintf(stderr, "%lx %lu\n", (unsigned long)seen[slot].function, seen[slot].calls);
}
