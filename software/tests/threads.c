/* Threads and signals through the C library. What is printed depends on neither the number of harts nor their timing. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 6, ROUNDS = 500, TURNS = 200 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static long guarded;
static atomic_long atomic;
static _Thread_local long own;

static void *count(void *argument) {
    own = (long)argument;
    pthread_barrier_wait(&barrier);
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&mutex);
        guarded += own;
        pthread_mutex_unlock(&mutex);
        atomic_fetch_add(&atomic, 1);
    }
    return (void *)(own * own);
}

static void counting(void) {
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, count, (void *)(i + 1));
    long squares = 0;
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        squares += (long)result;
    }
    printf("guarded %ld, atomic %ld, squares %ld, own %ld\n", guarded, atomic_load(&atomic), squares, own);
}

/* A token goes to and fro under a condition variable. */
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static int turn;

static void *take_turns(void *argument) {
    int self = (int)(intptr_t)argument;
    for (int i = 0; i < TURNS; i++) {
        pthread_mutex_lock(&mutex);
        while (turn % 2 != self)
            pthread_cond_wait(&turned, &mutex);
        turn++;
        pthread_cond_broadcast(&turned);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void turns(void) {
    pthread_t other;
    pthread_create(&other, NULL, take_turns, (void *)1);
    take_turns((void *)0);
    pthread_join(other, NULL);
    printf("turns %d\n", turn);
}

static void waits(void) {
    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 200 * 1000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    int result = sem_timedwait(&semaphore, &until);
    printf("timed wait %d, %s\n", result, strerror(errno));
}

static atomic_int handled;
static atomic_int stop;

static void on_user(int signal) {
    handled = signal;
}

static void *spin(void *unused) {
    (void)unused;
    while (!stop)
        if (handled)
            stop = 1;
    return NULL;
}

static atomic_int woken;

static void *sleep_long(void *unused) {
    (void)unused;
    struct timespec rest, day = {.tv_sec = 86400};
    int interrupted = nanosleep(&day, &rest) == -1 && errno == EINTR && rest.tv_sec >= 0;
    woken = 1;
    return (void *)(intptr_t)interrupted;
}

static void to_threads(void) {
    struct sigaction action = {.sa_handler = on_user};
    sigaction(SIGUSR1, &action, NULL);
    pthread_t spinner, sleeper;
    pthread_create(&spinner, NULL, spin, NULL);
    pthread_kill(spinner, SIGUSR1);
    pthread_join(spinner, NULL);
    printf("a thread that runs got %d\n", handled);
    pthread_create(&sleeper, NULL, sleep_long, NULL);
    // A signal that comes before it sleeps does not wake it.
    do {
        usleep(300);
        pthread_kill(sleeper, SIGUSR1);
    } while (!woken);
    void *interrupted;
    pthread_join(sleeper, &interrupted);
    printf("a thread that slept was interrupted: %d\n", (int)(intptr_t)interrupted);
}

static sigjmp_buf before;
static int on_other_stack;
static char other_stack[1 << 14];

static void on_fault(int signal, siginfo_t *information, void *context) {
    (void)context;
    char here;
    on_other_stack = &here >= other_stack && &here < other_stack + sizeof other_stack;
    siglongjmp(before, signal == SIGSEGV && information->si_addr == (void *)0x10 ? 1 : 2);
}

static void faults(void) {
    stack_t stack = {.ss_sp = other_stack, .ss_size = sizeof other_stack};
    sigaltstack(&stack, NULL);
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(SIGSEGV, &action, NULL);
    for (int round = 0; round < 3; round++) {
        int result = sigsetjmp(before, 1);
        if (result == 0)
            *(volatile int *)0x10 = 1;
        printf("fault %d, on the other stack %d\n", result, on_other_stack);
    }
}

/* Registers are as before after a handler, floating-point ones too. */
static void masks(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    handled = 0;
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR1);
    int held = handled;
    double third = 1.0 / (3.0 + held);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    printf("held back %d, then %d, %.6f\n", held, handled, third);
}

static void cancels(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, sleep_long, NULL);
    pthread_cancel(thread);
    void *result;
    pthread_join(thread, &result);
    printf("cancelled %d\n", result == PTHREAD_CANCELED);
}

static void maps(void) {
    FILE *file = fopen("/proc/self/maps", "r");
    char line[256];
    int stack = 0, code = 0;
    while (file && fgets(line, sizeof line, file)) {
        unsigned long from, to;
        char access[5];
        if (sscanf(line, "%lx-%lx %4s", &from, &to, access) != 3)
            printf("not a line: %s", line);
        unsigned long here = (unsigned long)&stack, function = (unsigned long)maps;
        stack |= from <= here && here < to && strstr(line, "[stack]") != NULL;
        code |= from <= function && function < to && access[2] == 'x';
    }
    printf("maps: stack %d, code %d\n", stack, code);
}

int main(void) {
    counting();
    turns();
    waits();
    to_threads();
    faults();
    masks();
    cancels();
    maps();
    fflush(stdout);
    abort();
}
