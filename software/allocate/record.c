/* Records what a program allocates and frees, for replay.c: a library to be preloaded.
 *
 *     cc -shared -fPIC -O2 -fno-builtin record.c -o record.so
 *     RECORD=trace.bin LD_PRELOAD=./record.so PROGRAM
 *
 * A call is 32 bits: twice the bytes of an allocation, or twice the number of the allocation that is freed and 1. A
 * block that is made larger is a new one. The first MOST calls of a process are recorded, of all its threads together. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST = 20000, SLOTS = 1 << 17, EARLY = 1 << 16, MOST_BYTES = 1 << 26 };

static void *(*real_malloc)(size_t), (*real_free)(void *), *(*real_realloc)(void *, size_t);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t trace[MOST];
static size_t calls, allocations;
static struct {
    void *memory;
    uint32_t number;
} slots[SLOTS];

/* What the loader asks for before the real functions are known. */
static _Alignas(16) char early[EARLY];
static size_t early_used;

static bool is_early(const void *memory) { return (const char *)memory >= early && (const char *)memory < early + EARLY; }

static size_t slot_of(const void *memory)
{
    size_t slot = ((uintptr_t)memory >> 4) * 2654435761u % SLOTS;
    while (slots[slot].memory != NULL && slots[slot].memory != memory) slot = (slot + 1) % SLOTS;
    return slot;
}

static void note_allocation(void *memory, size_t bytes)
{
    pthread_mutex_lock(&lock);
    if (memory != NULL && calls < MOST && bytes < MOST_BYTES) {
        size_t slot = slot_of(memory);
        slots[slot].memory = memory;
        slots[slot].number = (uint32_t)(allocations++ << 1 | 1);
        trace[calls++] = (uint32_t)(bytes << 1);
    }
    pthread_mutex_unlock(&lock);
}

static void note_free(const void *memory)
{
    pthread_mutex_lock(&lock);
    size_t slot = slot_of(memory);
    if (memory != NULL && calls < MOST && slots[slot].memory == memory && slots[slot].number != 0) {
        trace[calls++] = slots[slot].number;
        slots[slot].number = 0;
    }
    pthread_mutex_unlock(&lock);
}

static void find(void)
{
    real_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
    real_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
    real_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
}

void *malloc(size_t bytes)
{
    if (real_malloc == NULL) {
        static bool finding;
        if (!finding) {
            finding = true;
            find();
        }
        if (real_malloc == NULL) {
            void *memory = early + early_used;
            early_used += (bytes + 15) & ~(size_t)15;
            return early_used <= EARLY ? memory : NULL;
        }
    }
    void *memory = real_malloc(bytes);
    note_allocation(memory, bytes);
    return memory;
}

void free(void *memory)
{
    if (is_early(memory)) return;
    note_free(memory);
    real_free(memory);
}

void *calloc(size_t count, size_t bytes)
{
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all)) return NULL;
    void *memory = malloc(all);
    return memory == NULL ? NULL : memset(memory, 0, all);
}

void *realloc(void *memory, size_t bytes)
{
    if (memory == NULL) return malloc(bytes);
    if (is_early(memory)) {
        void *fresh = malloc(bytes);
        return fresh == NULL ? NULL : memcpy(fresh, memory, bytes < EARLY ? bytes : EARLY);
    }
    note_free(memory);
    void *moved = real_realloc(memory, bytes);
    note_allocation(moved, bytes);
    return moved;
}

__attribute__((destructor)) static void write_trace(void)
{
    const char *path = getenv("RECORD");
    int file = path == NULL ? -1 : open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
    if (file < 0) return;
    if (write(file, trace, calls * sizeof *trace) < 0) _exit(1);
    close(file);
}
