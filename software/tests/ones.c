/* A process under Linux whose unit is one in SystemVerilog within translation (examples/bring-your-own): it counts ones
 * of pages that are not there at first. The unit names each, the process touches it and begins again. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "rackwright/process.h"
#include "rackwright/status.h"

enum { PAGES = 24, PAGE = 4096, BYTES = PAGES * PAGE };

/* The unit and its commands: the assembler takes numbers. */
#define UNIT 3
#define COUNT 0
#define RESULT 1
#define STATUS 2

int main(void)
{
    uint8_t *data = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) return 2;
    /* Every second page, from the end on: neighbours of virtual addresses are none of physical ones. */
    for (int page = PAGES - 1; page >= 0; page -= 2) data[page * PAGE + page] = 0xff;
    uint64_t expected = 8 * (PAGES / 2);

    int touched = 0;
    rackwright_status status;
    uint64_t ones;
    for (;;) {
        rackwright_fence();
        RACKWRIGHT_COMMAND(UNIT, COUNT, data, BYTES);
        ones = RACKWRIGHT_QUERY(UNIT, RESULT);
        status = (rackwright_status)RACKWRIGHT_QUERY(UNIT, STATUS);
        if (status != RACKWRIGHT_ACCESS_FAULT) break;
        const uint64_t fault = RACKWRIGHT_QUERY(UNIT, RACKWRIGHT_FAULT);
        if (!(fault & RACKWRIGHT_FAULT_KNOWN) || fault & RACKWRIGHT_FAULT_WRITE) return 3;
        uint8_t *missing = (uint8_t *)(fault & ~(uint64_t)15);
        if (missing < data || missing >= data + BYTES) return 4;
        *(volatile uint8_t *)missing = 1;
        expected += missing[0];
        touched++;
    }
    printf("%lu ones of %lu, %d pages touched, %s\n", (unsigned long)ones, (unsigned long)expected, touched,
           rackwright_status_name(status));
    return ones == expected && touched == PAGES / 2 && status == RACKWRIGHT_OK ? 0 : 1;
}
