/* malloc, free and the other functions of their family by the unit `allocate`, for a program that is linked with this file
 * and is unchanged otherwise.
 *
 * All blocks come from one heap, which the unit of the only hart has. What it cannot give is mapped: blocks of larger
 * alignment, and those for which the heap has no memory. A child after `fork` has no unit: its blocks are mapped too. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rackwright/allocate.h"

enum { GRAIN = 16, PAGE = 4096, PATIENCE = 1000 };

static const size_t HEAP_BYTES = (size_t)1 << 30;

/* Bits of a block's header: grains with the header, and whether the block is free or cached on chip. */
static const uint64_t GRAINS = (1 << 28) - 1, NOT_TAKEN = (uint64_t)3 << 28;

static char *heap;
static bool has_unit;

/* In front of a block that was mapped. */
struct mapping {
    void *memory;
    size_t bytes;
};

static _Noreturn void stop(const char *reason)
{
    (void)!write(STDERR_FILENO, reason, strlen(reason));
    abort();
}

static void be_child(void) { has_unit = false; }

static void begin(void)
{
    cpu_set_t harts;
    if (sched_getaffinity(0, sizeof harts, &harts) != 0 || CPU_COUNT(&harts) != 1)
        stop("malloc by the unit allocate: a server with one hart is needed\n");
    char *memory = mmap(NULL, HEAP_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED || !rw_heap(memory, HEAP_BYTES)) stop("malloc by the unit allocate: there is no heap\n");
    heap = memory, has_unit = true;
    (void)pthread_atfork(NULL, NULL, be_child);
}

static inline bool of_heap(const void *memory) { return (size_t)((const char *)memory - heap) < HEAP_BYTES; }

static __attribute__((noinline)) void *mapped(size_t bytes, size_t alignment)
{
    size_t all;
    if (__builtin_add_overflow(bytes, alignment + sizeof(struct mapping) + PAGE - 1, &all) || all > PTRDIFF_MAX) {
        errno = ENOMEM;
        return NULL;
    }
    all &= ~(size_t)(PAGE - 1);
    char *memory = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        errno = ENOMEM;
        return NULL;
    }
    const uintptr_t first = (uintptr_t)memory + sizeof(struct mapping);
    struct mapping *block = (struct mapping *)((first + alignment - 1) & ~(alignment - 1));
    block[-1] = (struct mapping){memory, all};
    return block;
}

/* The first call is made before there are threads. */
static __attribute__((noinline)) void *take_slowly(size_t bytes)
{
    if (heap == NULL) begin();
    void *memory = has_unit ? rw_allocate(bytes) : NULL;
    return memory != NULL ? memory : mapped(bytes, GRAIN);
}

/* `malloc` by another name, since the compiler knows that one and would make `calloc` of itself. */
static inline void *take(size_t bytes)
{
    void *memory = __builtin_expect(has_unit, 1) ? rw_allocate(bytes) : NULL;
    return __builtin_expect(memory != NULL, 1) ? memory : take_slowly(bytes);
}

void *malloc(size_t bytes) { return take(bytes); }

/* A child leaves blocks of its parent's heap where they are. */
void free(void *memory)
{
    if (__builtin_expect(of_heap(memory), 1)) {
        if (__builtin_expect(has_unit, 1)) rw_free(memory);
    } else if (memory != NULL) {
        const int before = errno;
        const struct mapping *block = (struct mapping *)memory - 1;
        (void)munmap(block->memory, block->bytes);
        errno = before;
    }
}

/* The unit may answer before it has written the header, which says until then that the block is not taken. */
static size_t room_of_heap(const void *memory)
{
    const volatile uint64_t *header = (const uint64_t *)memory - GRAIN / sizeof(uint64_t);
    for (int tries = 0; tries < PATIENCE; tries++) {
        const uint64_t word = *header;
        if ((word & NOT_TAKEN) == 0) return ((word & GRAINS) - 1) * GRAIN;
    }
    stop("malloc by the unit allocate: realloc of memory that is free\n");
}

size_t malloc_usable_size(void *memory)
{
    if (memory == NULL) return 0;
    if (of_heap(memory)) return room_of_heap(memory);
    const struct mapping *block = (struct mapping *)memory - 1;
    return (size_t)((char *)block->memory + block->bytes - (char *)memory);
}

void *calloc(size_t count, size_t bytes)
{
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    void *memory = take(all);
    return memory != NULL && of_heap(memory) ? memset(memory, 0, all) : memory;
}

/* A block stays where it is while it has room, and at least half of it is used. */
void *realloc(void *memory, size_t bytes)
{
    if (memory == NULL) return take(bytes);
    if (bytes == 0) {
        free(memory);
        return NULL;
    }
    const size_t room = malloc_usable_size(memory);
    if (bytes <= room && bytes >= room / 2) return memory;
    void *other = take(bytes);
    if (other == NULL) return NULL;
    memcpy(other, memory, bytes < room ? bytes : room);
    free(memory);
    return other;
}

void *memalign(size_t alignment, size_t bytes)
{
    if (alignment <= GRAIN) return take(bytes);
    if ((alignment & (alignment - 1)) != 0 || alignment > PTRDIFF_MAX) {
        errno = EINVAL;
        return NULL;
    }
    return mapped(bytes, alignment);
}

void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void **to, size_t alignment, size_t bytes)
{
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) return EINVAL;
    const int before = errno;
    void *memory = memalign(alignment, bytes);
    errno = before;
    if (memory == NULL) return ENOMEM;
    *to = memory;
    return 0;
}

void *valloc(size_t bytes) { return memalign(PAGE, bytes); }

void *pvalloc(size_t bytes) { return memalign(PAGE, (bytes + PAGE - 1) & ~(size_t)(PAGE - 1)); }
