/* Units from a process of an operating system that switches processes and pages.
 *
 * Units there translate addresses themselves (hardware/src/main/scala/rackwright/access/translation/README.md). Three things differ
 * from a program that has the machine to itself:
 *   - Others give commands to the same unit. The commands of one operation are given in a restartable sequence of
 *     Linux (rseq), so that none of theirs comes in between and all go to the unit of one hart. After those of
 *     another process a unit is as after reset.
 *   - A page may not be there, or not be writable yet. The unit then ends the operation with an access fault and tells
 *     the address; the page is touched, which has the kernel provide it, and the operation is repeated.
 *   - Answers of a unit may be about somebody else's operation. Only the completion record tells.
 */
#ifndef RACKWRIGHT_PROCESS_H
#define RACKWRIGHT_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rackwright/rocc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The number of the command that asks a unit where it was refused an access. */
#define RACKWRIGHT_FAULT 127

/* What it answers: 0 when nothing is known, else the address of the beat with these bits; all ones, if the unit translates
 * no addresses. */
#define RACKWRIGHT_FAULT_KNOWN 1u
#define RACKWRIGHT_FAULT_WRITE 2u
#define RACKWRIGHT_FAULT_TABLES 4u /* memory refused an entry of the page tables: touching can't help */
#define RACKWRIGHT_FAULT_UNTRANSLATED UINT64_MAX

/* Whether the kernel has restartable sequences: then others may run in between. Set before `main`. */
extern bool rackwright_processes;

/* Whether commands of others may come between ours. */
static inline bool rackwright_shares_units(void)
{
    return rackwright_processes;
}

/* Where the kernel looks for the restartable sequence of this thread. */
uint64_t *rackwright_sequence(void);

/* Commands with operands and without answers, none of others' in between: if the kernel interrupts the thread before the last
 * one is given, it begins anew with the first. The description has what Linux asks for: the numbers of version and
 * flags, the range of instructions, and where to go on when it was left, behind a signature. */
#define RACKWRIGHT_TEXT_OF(custom, funct, rs1, rs2)                                            \
    ".insn r " RACKWRIGHT_TEXT(RACKWRIGHT_OPCODE(custom)) ", " RACKWRIGHT_USES_RS1_RS2         \
    ", " RACKWRIGHT_TEXT(funct) ", x0, " rs1 ", " rs2 "\n\t"
#define RACKWRIGHT_RESTARTABLE(commands, ...)                                                  \
    __asm__ volatile(".pushsection .data.rel.ro.rseq_cs, \"aw\"\n\t"                           \
                     ".balign 32\n"                                                            \
                     "77:\n\t"                                                                 \
                     ".word 0, 0\n\t"                                                          \
                     ".dword 78f, 79f - 78f, 76f\n\t"                                          \
                     ".popsection\n\t"                                                         \
                     "j 75f\n\t"                                                               \
                     ".4byte 0xf1401073\n"                                                     \
                     "76:\n"                                                                   \
                     "75:\n\t"                                                                 \
                     "lla t0, 77b\n\t"                                                         \
                     "sd t0, (%[sequence])\n"                                                  \
                     "78:\n\t" commands "79:\n\t"                                              \
                     :                                                                         \
                     : [sequence] "r"(rackwright_sequence()), __VA_ARGS__                      \
                     : "t0", "memory")

/* The same with an answer: `rd` takes it. */
#define RACKWRIGHT_TEXT_OF_QUERY(custom, funct, rd)                                            \
    ".insn r " RACKWRIGHT_TEXT(RACKWRIGHT_OPCODE(custom)) ", " RACKWRIGHT_USES_RD              \
    ", " RACKWRIGHT_TEXT(funct) ", " rd ", x0, x0\n\t"

/* Instructions of which none of others' come in between, as above; but if the kernel interrupts the thread before the
 * last one, `left` is true, and what follows has to find out how far they came. They may use t1 and t2. */
#define RACKWRIGHT_UNDISTURBED(left, instructions, ...)                                        \
    __asm__ volatile(".pushsection .data.rel.ro.rseq_cs, \"aw\"\n\t"                           \
                     ".balign 32\n"                                                            \
                     "77:\n\t"                                                                 \
                     ".word 0, 0\n\t"                                                          \
                     ".dword 78f, 79f - 78f, 76f\n\t"                                          \
                     ".popsection\n\t"                                                         \
                     "li %[was_left], 0\n\t"                                                   \
                     "j 75f\n\t"                                                               \
                     ".4byte 0xf1401073\n"                                                     \
                     "76:\n\t"                                                                 \
                     "li %[was_left], 1\n\t"                                                   \
                     "j 79f\n"                                                                 \
                     "75:\n\t"                                                                 \
                     "lla t0, 77b\n\t"                                                         \
                     "sd t0, (%[sequence])\n"                                                  \
                     "78:\n\t" instructions "79:\n\t"                                         \
                     : [was_left] "=&r"(left)                                                  \
                     : [sequence] "r"(rackwright_sequence()), __VA_ARGS__                      \
                     : "t0", "t1", "t2", "memory")

/* Where the kernel keeps the number of the hart that the thread runs on, from where it looks for its sequence. */
#define RACKWRIGHT_HART_FROM_SEQUENCE "-4"

/* What has been made resident for an operation so far. */
typedef struct {
    unsigned pages;    /* to be provided at the next fault */
    unsigned attempts; /* so far */
} rackwright_residence;

/* A range that an operation reads or writes. */
typedef struct {
    uint64_t start;
    uint64_t bytes;
    bool written;
} rackwright_range;

/* Has the kernel provide the pages from that of `start` up to that before `end`, without changing what is there. Tells whether
 * the process may have all of them: if not, they stay as they are, and nothing is touched that would end the process. */
bool rackwright_provide(uint64_t start, uint64_t end, bool write);

/* After an access fault of an operation on `count` ranges: provides pages, at first a few from that at `fault` on (what the
 * unit answered to RACKWRIGHT_FAULT), then more with each time. Tells whether to repeat the operation: not, when the process
 * may not have the page at `fault`. Then the fault is what the operation ends with. */
bool rackwright_make_resident(rackwright_residence *residence, uint64_t fault,
                              const rackwright_range *ranges, size_t count);

#ifdef __cplusplus
}
#endif

#endif
