#include <errno.h>
#include <stddef.h>

#include "rackwright/process.h"

/* Linux, include/uapi/linux/rseq.h, and its tests: the number of the system call, the signature in front of where a sequence
 * goes on that was left, and what a thread shares with the kernel. */
#define RSEQ_CALL 293
#define RSEQ_SIGNATURE 0xf1401073u

typedef struct {
    uint32_t cpu_at_start;
    uint32_t cpu;
    uint64_t sequence;
    uint32_t flags;
    uint32_t more[3];
} __attribute__((aligned(32))) shared_area;

bool rackwright_processes;

static __thread shared_area own_area;
static __thread uint64_t *own_sequence;

/* Of a C library that has registered its own area: the area's size, 0 without one, and its place from the thread pointer. */
extern const unsigned int __rseq_size __attribute__((weak));
extern const ptrdiff_t __rseq_offset __attribute__((weak));

/* The negative number of an error, or 0. */
static long register_area(shared_area *area)
{
    register long result __asm__("a0") = (long)area;
    register long bytes __asm__("a1") = sizeof *area;
    register long flags __asm__("a2") = 0;
    register long signature __asm__("a3") = RSEQ_SIGNATURE;
    register long number __asm__("a7") = RSEQ_CALL;
    __asm__ volatile("ecall"
                     : "+r"(result)
                     : "r"(bytes), "r"(flags), "r"(signature), "r"(number)
                     : "memory");
    return result;
}

/* The field of the area that this thread has registered; registers ours if there is none. Null without such a kernel. */
static uint64_t *find_sequence(void)
{
    if (&__rseq_size != 0 && __rseq_size != 0) {
        char *thread;
        __asm__("mv %0, tp" : "=r"(thread));
        return &((shared_area *)(thread + __rseq_offset))->sequence;
    }
    return register_area(&own_area) == -ENOSYS ? NULL : &own_area.sequence;
}

uint64_t *rackwright_sequence(void)
{
    if (own_sequence == NULL) own_sequence = find_sequence();
    return own_sequence;
}

/* Before the constructors of whoever uses units. */
__attribute__((constructor(200))) static void find_out(void)
{
    rackwright_processes = rackwright_sequence() != NULL;
}
