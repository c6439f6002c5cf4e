/* Code that is made at run time and changed in every way that a program may change it, and run again each time. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 4096, ROUNDS = 20, ALL = PROT_READ | PROT_WRITE | PROT_EXEC };
static const int PRIVATE = MAP_PRIVATE | MAP_ANONYMOUS;

/* li a0, value; ret */
static void put(uint32_t *code, int value)
{
    code[0] = (uint32_t)value << 20 | 0x513;
    code[1] = 0x8067;
}

static int run(void *code)
{
    return ((int (*)(void))code)();
}

static void flush(void *code)
{
    __builtin___clear_cache(code, (char *)code + 8);
}

static int in_place(void)
{
    uint32_t *code = mmap(0, BYTES, ALL, PRIVATE, -1, 0);
    int sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        put(code, i);
        flush(code);
        sum += run(code);
    }
    return sum;
}

static int protected_in_turn(void)
{
    uint32_t *code = mmap(0, BYTES, PROT_READ | PROT_WRITE, PRIVATE, -1, 0);
    int sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        mprotect(code, BYTES, PROT_READ | PROT_WRITE);
        put(code, i);
        mprotect(code, BYTES, PROT_READ | PROT_EXEC);
        sum += run(code);
    }
    return sum;
}

static int mapped_anew(void)
{
    void *place = mmap(0, BYTES, ALL, PRIVATE, -1, 0);
    int sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        munmap(place, BYTES);
        uint32_t *code = mmap(place, BYTES, ALL, PRIVATE | MAP_FIXED, -1, 0);
        put(code, i);
        sum += run(code);
    }
    return sum;
}

static int mapped_twice(void)
{
    int file = memfd_create("code", 0);
    if (ftruncate(file, BYTES)) return -1;
    uint32_t *written = mmap(0, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    void *code = mmap(0, BYTES, PROT_READ | PROT_EXEC, MAP_SHARED, file, 0);
    int sum = 0;
    for (int i = 0; i < ROUNDS; i++) {
        put(written, i);
        flush(code);
        sum += run(code);
    }
    return sum;
}

static uint32_t *shared;
static volatile int written, done;

static void *runner(void *fences)
{
    long sum = 0;
    for (int i = 1; i <= ROUNDS; i++) {
        while (written != i) sched_yield();
        if (fences) __asm__ volatile("fence.i" ::: "memory");
        sum += run(shared);
        done = i;
    }
    return (void *)sum;
}

/* Another thread runs what this one writes: it fences itself, or this one asks for it on all harts. */
static long in_threads(int fences)
{
    shared = mmap(0, BYTES, ALL, PRIVATE, -1, 0);
    written = done = 0;
    pthread_t thread;
    pthread_create(&thread, 0, runner, fences ? "" : 0);
    for (int i = 1; i <= ROUNDS; i++) {
        put(shared, i);
        if (!fences) flush(shared);
        written = i;
        while (done != i) sched_yield();
    }
    void *sum;
    pthread_join(thread, &sum);
    return (long)sum;
}

int main(void)
{
    printf("in place %d\n", in_place());
    printf("protected in turn %d\n", protected_in_turn());
    printf("mapped anew %d\n", mapped_anew());
    printf("mapped twice %d\n", mapped_twice());
    printf("in threads %ld, with fences %ld\n", in_threads(0), in_threads(1));
    return 0;
}
