// Hart 0 reserves a variable, hart 1 changes it and changes it back: what is stored conditionally then must fail, and succeed
// when nobody comes between.

#include "kernel.h"

enum { TIMES = 50 };

static Alone variable;
static Alone reserved;
static Alone changed;

static uint64_t reserve_while_it_changes(uint64_t time) {
    uint64_t seen, failed;
    __asm__ volatile("lr.d.aq %0, (%1)" : "=r"(seen) : "r"(&variable.value) : "memory");
    put(&reserved.value, time);
    while (get(&changed.value) != time) {
    }
    __asm__ volatile("sc.d.rl %0, %1, (%2)" : "=r"(failed) : "r"(seen), "r"(&variable.value) : "memory");
    return failed;
}

static uint64_t attempts(void) {
    uint64_t seen, failed, count = 0;
    do {
        __asm__ volatile(
            "lr.d.aq %0, (%2)\n"
            "sc.d.rl %1, %0, (%2)"
            : "=&r"(seen), "=&r"(failed)
            : "r"(&variable.value)
            : "memory");
        count++;
    } while (failed && count < TIMES);
    return count;
}

uint64_t kernel(uint64_t hart) {
    const uint64_t first = reserved.value;
    meet();
    uint64_t failures = 0;
    for (uint64_t time = first + 1; time <= first + TIMES; time++) {
        if (hart == 0) {
            failures += reserve_while_it_changes(time);
        } else if (hart == 1) {
            while (get(&reserved.value) != time) {
            }
            variable.value = 1;
            variable.value = 0;
            put(&changed.value, time);
        }
    }
    meet();
    if (hart != 0) {
        return 0;
    }
    return 100 * failures + attempts();
}
