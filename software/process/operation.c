#include "rackwright/operation.h"

#include "rackwright/status.h"

/* custom-n of the units; literals, because they become part of instructions. */
#define DECOMPRESS 0
#define COMPRESS 1

#define CHECK_COMPLETION 3

/* Looks at a record after which the unit itself is asked, and so many questions after which the operation is started again. An
 * operation whose record can't be written, as its page went away in between, tells nobody. */
#define LOOKS 65536u
#define QUESTIONS 64u

static uint64_t read_flag(const rackwright_operation *operation)
{
    return __atomic_load_n(operation->flag, __ATOMIC_ACQUIRE);
}

/* Asks the unit of this hart to end what it does. */
static void settle(const rackwright_operation *operation)
{
    if (operation->compresses) {
        (void)RACKWRIGHT_QUERY(COMPRESS, CHECK_COMPLETION);
    } else {
        (void)RACKWRIGHT_QUERY(DECOMPRESS, CHECK_COMPLETION);
    }
}

static void await(const rackwright_operation *operation)
{
    for (unsigned questions = 0;; questions++) {
        for (unsigned looks = 0; looks < LOOKS; looks++) {
            if (read_flag(operation) != 0) return;
        }
        settle(operation);
        if (questions == QUESTIONS) {
            operation->start(operation->request);
            questions = 0;
        }
    }
}

/* Whether a range goes around the end of the address space: then it is nowhere. */
static bool wraps(const rackwright_range *range)
{
    return range->start + range->bytes < range->start;
}

void rackwright_finish(const rackwright_operation *operation)
{
    const rackwright_range ranges[] = {operation->source, operation->destination};
    const bool nowhere = wraps(&ranges[0]) || wraps(&ranges[1]);
    rackwright_residence residence = {0, 0};
    for (;;) {
        await(operation);
        const uint64_t status = (read_flag(operation) & 0xff) - 1;
        if (nowhere || status != RACKWRIGHT_ACCESS_FAULT) return;
        const uint64_t fault = operation->compresses ? RACKWRIGHT_QUERY(COMPRESS, RACKWRIGHT_FAULT)
                                                     : RACKWRIGHT_QUERY(DECOMPRESS, RACKWRIGHT_FAULT);
        if (!rackwright_make_resident(&residence, fault, ranges, 2)) return;
        operation->start(operation->request);
    }
}
