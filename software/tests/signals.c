/* What a handler is told, and signals that wait: the kinds of faults, queues, timers. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static sigjmp_buf before;
static siginfo_t told;

static void caught(int signal, siginfo_t *information, void *context)
{
    (void)signal, (void)context;
    told = *information;
    siglongjmp(before, 1);
}

/* Does something that fails, whose address is told from `base` on. */
#define TRY(name, base, ...) \
    do { \
        memset(&told, 0, sizeof told); \
        if (!sigsetjmp(before, 1)) { __VA_ARGS__; } \
        printf("%s: signal %d code %d at %ld\n", name, told.si_signo, told.si_code, (long)((char *)told.si_addr - (char *)(base))); \
    } while (0)

extern char misaligned_load[], misaligned_swap[], no_unit[], no_instruction[];

static void faults(void)
{
    static long words[2];
    int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP};
    for (int i = 0; i < 4; i++) sigaction(signals[i], &(struct sigaction){.sa_sigaction = caught, .sa_flags = SA_SIGINFO}, 0);
    char *page = mmap(0, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    TRY("null", 0, *(volatile int *)8 = 1);
    TRY("read-only", page, *(volatile char *)(page + 5) = 1);
    TRY("no code", page, ((void (*)(void))page)());
    mprotect(page, 4096, PROT_NONE);
    TRY("forbidden", page, (void)*(volatile char *)(page + 1));
    munmap(page, 4096);
    TRY("unmapped", page, (void)*(volatile char *)(page + 2));
    int file = memfd_create("short", 0);
    ftruncate(file, 10);
    page = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    TRY("beyond a file", page, *(volatile char *)(page + 4100) = 1);
    char *odd = (char *)words + 2;
    TRY("load", misaligned_load, __asm__ volatile("misaligned_load: lr.w t0, (%0)" ::"r"(odd) : "t0", "memory"));
    TRY("swap", misaligned_swap, __asm__ volatile("misaligned_swap: amoswap.d t0, t0, (%0)" ::"r"(odd) : "t0", "memory"));
    TRY("no unit", no_unit, __asm__ volatile("no_unit: .4byte 0x0000000b"));
    TRY("no instruction", no_instruction, __asm__ volatile("no_instruction: .2byte 0"));
}

static int order[8], count;

static void note(int signal)
{
    order[count++ % 8] = signal;
}

static void queues(void)
{
    sigset_t all, pending;
    struct sigaction action = {.sa_handler = note};
    sigfillset(&action.sa_mask);
    int signals[] = {SIGRTMIN + 2, SIGRTMIN + 1, SIGRTMIN + 1, SIGTERM, SIGTERM, SIGHUP};
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, 0);
    for (int i = 0; i < 6; i++) {
        sigaction(signals[i], &action, 0);
        raise(signals[i]);
    }
    sigpending(&pending);
    printf("pending %d %d", sigismember(&pending, SIGTERM), sigismember(&pending, SIGINT));
    sigprocmask(SIG_UNBLOCK, &all, 0);
    printf(", taken");
    for (int i = 0; i < count; i++) printf(" %d", order[i]);
    puts("");
}

static void *send_later(void *thread)
{
    usleep(1000);
    union sigval value = {.sival_int = 7};
    pthread_sigqueue(*(pthread_t *)thread, SIGUSR1, value);
    return 0;
}

static void waits(void)
{
    sigset_t set;
    siginfo_t information;
    union sigval value = {.sival_int = 42};
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, 0);
    sigqueue(getpid(), SIGUSR1, value);
    int signal = sigwaitinfo(&set, &information);
    printf("waited %d %d %d\n", signal, information.si_value.sival_int, information.si_code);
    int result = sigtimedwait(&set, 0, &(struct timespec){0, 1000000});
    printf("timed %d %s\n", result, strerrorname_np(errno));
    pthread_t self = pthread_self(), sender;
    pthread_create(&sender, 0, send_later, &self);
    signal = sigwaitinfo(&set, &information);
    printf("from a thread %d %d\n", signal, information.si_value.sival_int);
    pthread_join(sender, 0);
}

static void timers(void)
{
    sigset_t none, set;
    siginfo_t information;
    count = 0;
    sigaction(SIGALRM, &(struct sigaction){.sa_handler = note}, 0);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 2000}}, 0);
    sigemptyset(&none);
    printf("suspended %d", sigsuspend(&none));
    printf(" %s, taken %d\n", strerrorname_np(errno), count);
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = 9};
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &set, 0);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &(struct itimerspec){{0, 1000000}, {0, 1000000}}, 0);
    usleep(3500);
    int signal = sigwaitinfo(&set, &information);
    printf("timer %d value %d code %d, overrun %d %d\n", signal == SIGRTMIN, information.si_value.sival_int, information.si_code,
           information.si_overrun, timer_getoverrun(timer));
    timer_delete(timer);
    alarm(1);
    printf("time left %d\n", sleep(3) > 0);
}

int main(void)
{
    faults();
    queues();
    waits();
    timers();
    return 0;
}
