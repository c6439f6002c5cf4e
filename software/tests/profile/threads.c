// Under a kernel: threads, signal handlers on the program's stack and on one of their own, and jumps out of handlers.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#define ALONE __attribute__((noipa))

enum { THREADS = 4 };

static sigjmp_buf away;
static volatile int handled;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

ALONE long fibonacci(int n) {
    long value = n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
    // Without this, the compiler makes a loop of one of the calls.
    handled += 0;
    return value;
}

ALONE void add(long value) {
    pthread_mutex_lock(&lock);
    total += value;
    pthread_mutex_unlock(&lock);
}

ALONE void *work(void *argument) {
    long number = (long)argument;
    for (int round = 0; round < 20; round++)
        add(fibonacci((int)number % 5 + round % 7));
    return NULL;
}

ALONE void count_signal(int number) { handled += number != 0; }

ALONE void on_signal(int number) { count_signal(number); }

ALONE void jump_away(int number) {
    count_signal(number);
    siglongjmp(away, 1);
}

ALONE void fault(void) {
    volatile int *nowhere = NULL;
    *nowhere = 1;
}

ALONE void survive(void) {
    if (sigsetjmp(away, 1) == 0)
        fault();
    count_signal(0);
}

ALONE void handle(int number, void (*handler)(int), int flags) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(number, &action, NULL);
}

int main(void) {
    static char stack[65536];
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&other, NULL);
    handle(SIGUSR1, on_signal, 0);
    handle(SIGUSR2, on_signal, SA_ONSTACK);
    handle(SIGSEGV, jump_away, SA_ONSTACK);
    for (int round = 0; round < 5; round++) {
        raise(SIGUSR1);
        raise(SIGUSR2);
        survive();
    }
    pthread_t threads[THREADS];
    for (long number = 0; number < THREADS; number++)
        pthread_create(&threads[number], NULL, work, (void *)number);
    for (int number = 0; number < THREADS; number++)
        pthread_join(threads[number], NULL);
    printf("%ld %d\n", total, handled);
    return total == 0;
}
