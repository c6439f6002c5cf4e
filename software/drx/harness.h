/*
 * What a kernel in C runs in: inputs from standard input, threads, the time, and the result to standard output.
 *
 *     PROGRAM THREADS
 *
 * The kernel is in `stages`: passes over shares of their items, of which those of a stage need nothing of each
 * other. Each stage has threads of its own, which come and go with it, as those of libraries of array operations do.
 * The nanoseconds from the first stage to the end of the last one go to standard error.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct pass {
    void (*run)(long begin, long end);
    long items;
};

struct stage {
    const struct pass *passes;
    int count;
};

/* What programs define. */
extern const struct stage stages[];
extern const int stage_count;
extern const long input_bytes[];
extern const int input_count;
extern const long output_bytes;
extern const void *inputs[];
extern void *output;
void reserve(void);

struct share {
    const struct stage *stage;
    long number, of;
};

static void *run_share(void *given)
{
    const struct share *share = given;
    for (int i = 0; i < share->stage->count; i++) {
        const struct pass *pass = &share->stage->passes[i];
        pass->run(pass->items * share->number / share->of, pass->items * (share->number + 1) / share->of);
    }
    return NULL;
}

static void run_stage(const struct stage *stage, long threads)
{
    struct share shares[threads];
    pthread_t handles[threads];
    for (long i = 0; i < threads; i++)
        shares[i] = (struct share){stage, i, threads};
    for (long i = 1; i < threads; i++)
        if (pthread_create(&handles[i], NULL, run_share, &shares[i])) {
            fprintf(stderr, "no thread\n");
            exit(2);
        }
    run_share(&shares[0]);
    for (long i = 1; i < threads; i++)
        pthread_join(handles[i], NULL);
}

static void *whole_lines(long bytes)
{
    void *found = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!found) {
        fprintf(stderr, "no memory\n");
        exit(2);
    }
    return found;
}

static void check(size_t moved, long bytes, const char *what)
{
    if ((long)moved == bytes)
        return;
    fprintf(stderr, "%s: %ld of %ld bytes\n", what, (long)moved, bytes);
    exit(2);
}

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

/* Tells who observes a hart from outside where the kernel begins and ends: `hint:1`, `hint:2`. */
#ifdef __riscv
#define MARK(number) __asm__ volatile("slti x0, x0, " #number ::: "memory")
#else
#define MARK(number)
#endif

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "%s THREADS\n", argv[0]);
        return 2;
    }
    long threads = strtol(argv[1], NULL, 10);
    for (int i = 0; i < input_count; i++) {
        void *data = whole_lines(input_bytes[i]);
        check(fread(data, 1, input_bytes[i], stdin), input_bytes[i], "an input");
        inputs[i] = data;
    }
    output = whole_lines(output_bytes);
    reserve();
    MARK(1);
    int64_t began = now();
    for (int i = 0; i < stage_count; i++)
        run_stage(&stages[i], threads);
    int64_t ended = now();
    MARK(2);
    fprintf(stderr, "%lld\n", (long long)(ended - began));
    check(fwrite(output, 1, output_bytes, stdout), output_bytes, "the result");
    return fflush(stdout) ? 2 : 0;
}
