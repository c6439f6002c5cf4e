/* Units without the commands of streams on a tile: each element is a command.
 *
 *     commands gather              sums elements of a table, whose indices are pushed with all that asks for them
 *     commands allocate            allocates and frees blocks
 *     commands wrong FUNCT...      prints the status of each; the unit does not have them */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rackwright/allocate_commands.h"
#include "rackwright/gather_commands.h"
#include "rackwright/queue.h"
#include "rackwright/status.h"

enum { PLACES = 64, ELEMENTS = 1024, WANTED = 40 };

static rw_queue *asked, *ended;

static rw_command command(uint64_t funct, uint64_t first, uint64_t second, uint64_t tag)
{
    return (rw_command){first, second, funct, 0, tag, {0, 0, 0}};
}

static uint64_t answer(uint64_t funct, uint64_t first, uint64_t second)
{
    const rw_command one = command(funct, first, second, 0);
    uint64_t status;
    const uint64_t told = rw_tile_command(asked, ended, &one, &status);
    if (status != RACKWRIGHT_OK) exit(3);
    return told;
}

/* All elements are asked for before the first one is popped. */
static void gather(void)
{
    static uint64_t table[ELEMENTS];
    static uint32_t indices[WANTED];
    uint64_t expected = 0, sum = 0;
    for (size_t i = 0; i < ELEMENTS; i++) table[i] = i * i + 1;
    for (size_t i = 0; i < WANTED; i++) {
        indices[i] = (uint32_t)(i * 677 % ELEMENTS);
        expected += (i + 1) * table[indices[i]];
    }
    const rw_command first[] = {command(GATHER_TABLE, (uintptr_t)table, 8 | 4 << 8, 1000),
                                command(GATHER_GATHER, (uintptr_t)indices, WANTED, 1001)};
    for (size_t i = 0; i < 2; i++) rw_queue_push(asked, &first[i]);
    for (uint64_t i = 0; i < WANTED; i++) {
        const rw_command next = command(GATHER_NEXT | RW_COMMAND_ANSWERS, 0, 0, i);
        rw_queue_push(asked, &next);
    }
    for (uint64_t i = 0; i < WANTED + 2; i++) {
        rw_ending ending;
        (void)rw_queue_pop(ended, &ending);
        const uint64_t tag = i < 2 ? 1000 + i : i - 2;
        if (ending.tag != tag || ending.status != RACKWRIGHT_OK) exit(4);
        if (i >= 2) sum += (tag + 1) * ending.output_bytes;
    }
    printf("gather %d %lu\n", sum == expected, (unsigned long)answer(GATHER_PROBLEM | RW_COMMAND_ANSWERS, 0, 0));
}

static void allocate(void)
{
    static _Alignas(16) unsigned char memory[1 << 16];
    unsigned char *blocks[8];
    int right = answer(ALLOCATE_HEAP | RW_COMMAND_ANSWERS, (uintptr_t)memory, sizeof memory) == RACKWRIGHT_OK;
    for (int i = 0; i < 8; i++) {
        blocks[i] = (unsigned char *)(uintptr_t)answer(ALLOCATE_ALLOCATE | RW_COMMAND_ANSWERS, 100 + i, 0);
        if (blocks[i] <= memory || blocks[i] + 100 + i > memory + sizeof memory) exit(4);
        memset(blocks[i], i, 100 + i);
    }
    for (int i = 0; i < 8; i++)
        for (int byte = 0; byte < 100 + i; byte++) right &= blocks[i][byte] == i;
    for (int i = 0; i < 8; i++) (void)answer(ALLOCATE_FREE, (uintptr_t)blocks[i], 0);
    right &= answer(ALLOCATE_TRIM | RW_COMMAND_ANSWERS, 0, 0) == 0;
    const uint64_t all = answer(ALLOCATE_ALLOCATE | RW_COMMAND_ANSWERS, sizeof memory - 16, 0);
    printf("allocate %d %d %lu\n", right, all != 0, (unsigned long)answer(ALLOCATE_PROBLEM | RW_COMMAND_ANSWERS, 0, 0));
}

int main(int count, char **words)
{
    if (count < 2) return 2;
    asked = rw_queue_create(PLACES, sizeof(rw_command)), ended = rw_queue_create(PLACES, sizeof(rw_ending));
    rw_tile_open(0, asked, ended);
    if (strcmp(words[1], "gather") == 0) gather();
    if (strcmp(words[1], "allocate") == 0) allocate();
    for (int word = 2; strcmp(words[1], "wrong") == 0 && word < count; word++) {
        const rw_command wrong = command(strtoul(words[word], NULL, 0), 0, 0, 0);
        uint64_t status;
        (void)rw_tile_command(asked, ended, &wrong, &status);
        printf("%s\n", rackwright_status_name((rackwright_status)status));
    }
    return 0;
}
