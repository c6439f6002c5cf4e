/* Runs a program of drx beside a hart: standard input is the program and one input, standard output the result.
 *
 *     ./rw units drx --header units.h
 *     ./rw drx compile scale.py -o scale.drx
 *     cat scale.drx x.bin | ./rw run beside.elf --accelerator drx -- PROGRAM_BYTES RESULT_BYTES > scaled.bin */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "rackwright/rocc.h"
#include "rackwright/status.h"
#include "units.h"

enum { MOST = 1 << 22 };

int main(int count, char **arguments)
{
    if (count != 3) return 2;
    const size_t instructions = strtoul(arguments[1], NULL, 0), room = strtoul(arguments[2], NULL, 0);
    uint8_t *read = malloc(MOST), *result = malloc(room);
    if (read == NULL || result == NULL) return 2;
    const size_t bytes = fread(read, 1, MOST, stdin);
    if (bytes < instructions) return 2;

    rackwright_fence();
    RACKWRIGHT_COMMAND(DRX_CUSTOM, DRX_INPUT1_ADDRESS, read + instructions, 0);
    RACKWRIGHT_COMMAND(DRX_CUSTOM, DRX_INPUT1_BYTES, bytes - instructions, 0);
    RACKWRIGHT_COMMAND(DRX_CUSTOM, DRX_SRC, read, instructions);
    RACKWRIGHT_COMMAND(DRX_CUSTOM, DRX_LIMIT, room, 0);
    RACKWRIGHT_COMMAND(DRX_CUSTOM, DRX_DEST_AND_START, result, 0);
    (void)RACKWRIGHT_QUERY(DRX_CUSTOM, DRX_CHECK_COMPLETION);
    rackwright_fence();
    if (RACKWRIGHT_QUERY(DRX_CUSTOM, DRX_STATUS) != RACKWRIGHT_OK) return 1;
    fwrite(result, 1, RACKWRIGHT_QUERY(DRX_CUSTOM, DRX_OUTPUT_BYTES), stdout);
    return 0;
}
