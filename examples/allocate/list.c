/* A list whose elements the unit `allocate` gives out and takes back. */
#include <stdio.h>
#include <stdlib.h>

#include "rackwright/allocate.h"

struct element {
    struct element *next;
    int value;
};

static _Alignas(16) char memory[1 << 20];

int main(void)
{
    if (!rw_heap(memory, sizeof memory)) return 1;

    struct element *first = NULL;
    for (int value = 0; value < 1000; value++) {
        struct element *element = rw_allocate(sizeof *element);
        if (element == NULL) return 1;
        *element = (struct element){first, value};
        first = element;
    }
    long sum = 0;
    while (first != NULL) {
        struct element *next = first->next;
        sum += first->value;
        rw_free(first);
        first = next;
    }
    printf("the sum is %ld\n", sum);

    /* Nothing is lost: all but the one header is there again. */
    if (rw_allocate(sizeof memory - 16) == NULL) return 1;
    uint64_t address;
    rw_free(memory + 8);
    if (rw_problem(&address) == RW_ALLOCATE_FOREIGN) printf("no block begins at memory + %td\n", (char *)address - memory);
    return 0;
}
