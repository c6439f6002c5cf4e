/* Filters a signal by the core and by the unit beside it, and compares. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackwright/mover.h"
#include "units.h" /* made by: ./rw units manifest.json --header units.h */

enum { TAPS = 8, SAMPLES = 16 * 1024, BYTES = SAMPLES * sizeof(int16_t) };

static const int16_t COEFFICIENTS[TAPS] = {1200, -3000, 8000, 16000, 16000, 8000, -3000, 1200};

/* The streams of the unit, by their first registers. */
#define INPUT (FIR_REGISTERS + FIR_S_AXIS_ADDRESS)
#define OUTPUT (FIR_REGISTERS + FIR_M_AXIS_ADDRESS)

static void filter_by_core(int16_t *to, const int16_t *from)
{
    for (int i = 0; i < SAMPLES; i++) {
        int64_t sum = 0;
        for (int k = 0; k < TAPS && k <= i; k++) sum += (int64_t)COEFFICIENTS[k] * from[i - k];
        to[i] = (int16_t)(sum >> 15);
    }
}

static rackwright_status filter_by_unit(int16_t *to, const int16_t *from, uint32_t bytes)
{
    rw_mover_start(OUTPUT, to, BYTES);
    rw_mover_start(INPUT, from, bytes);
    const rackwright_status sent = rw_mover_wait(INPUT);
    if (sent != RACKWRIGHT_OK) {
        rw_mover_stop(OUTPUT);
        rw_mover_wait(OUTPUT);
        return sent;
    }
    return rw_mover_wait(OUTPUT);
}

int main(void)
{
    int16_t *from = malloc(BYTES), *to = malloc(BYTES), *by_core = malloc(BYTES);
    if (from == NULL || to == NULL || by_core == NULL) return 2;
    uint32_t state = 1;
    for (int i = 0; i < SAMPLES; i++) {
        state = state * 1664525 + 1013904223;
        from[i] = (int16_t)(state >> 16);
    }
    memset(to, 0, BYTES);
    volatile uint32_t *coefficients = (volatile uint32_t *)(FIR_REGISTERS + FIR_COEFFICIENT);
    for (int k = 0; k < TAPS; k++) coefficients[k] = (uint16_t)COEFFICIENTS[k];

    uint64_t start = rackwright_cycles();
    filter_by_core(by_core, from);
    const uint64_t core_cycles = rackwright_cycles() - start;

    start = rackwright_cycles();
    const rackwright_status status = filter_by_unit(to, from, BYTES);
    const uint64_t unit_cycles = rackwright_cycles() - start;

    const int equal = memcmp(to, by_core, BYTES) == 0;
    printf("core: %lu cycles\n", (unsigned long)core_cycles);
    printf("unit: %lu cycles, %s, %u bytes %s\n", (unsigned long)unit_cycles, rackwright_status_name(status),
           rw_mover_moved(OUTPUT), equal ? "equal" : "different");
    const rackwright_status odd = filter_by_unit(to, from, 3);
    printf("3 bytes: %s, as a sample has 2\n", rackwright_status_name(odd));
    return equal && status == RACKWRIGHT_OK && odd == RACKWRIGHT_UNSUPPORTED ? 0 : 1;
}
