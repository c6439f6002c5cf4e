/* Waiting for what happens: pipes, counters, timers, and lists of them. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { MANY = 300000 };

static long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

static const char *error(long result)
{
    return result < 0 ? strerrorname_np(errno) : "ok";
}

static void *fill(void *end)
{
    char *bytes = malloc(MANY);
    for (int i = 0; i < MANY; i++) bytes[i] = i * 7;
    ssize_t written = write((int)(long)end, bytes, MANY);
    close((int)(long)end);
    free(bytes);
    return (void *)written;
}

static void pipes(void)
{
    int ends[2];
    pthread_t writer;
    unsigned long sum = 0, bytes = 0;
    unsigned char buffer[1024];
    ssize_t count;
    pipe(ends);
    pthread_create(&writer, 0, fill, (void *)(long)ends[1]);
    while ((count = read(ends[0], buffer, sizeof buffer)) > 0) {
        for (ssize_t i = 0; i < count; i++) sum = sum * 31 + buffer[i];
        bytes += count;
    }
    void *written;
    pthread_join(writer, &written);
    printf("pipe %lu %lx, written %ld\n", bytes, sum, (long)written);
    pipe2(ends, O_NONBLOCK);
    printf("empty %s", error(read(ends[0], buffer, 1)));
    count = 0;
    while (write(ends[1], buffer, sizeof buffer) > 0) count++;
    printf(", full after %zd %s", count, error(-1));
    close(ends[0]);
    signal(SIGPIPE, SIG_IGN);
    printf(", broken %s\n", error(write(ends[1], buffer, 1)));
    close(ends[1]);
}

static int writer_end;
static volatile int taken;

static void take(int signal)
{
    taken += signal == SIGPIPE;
}

static void *write_much(void *result)
{
    char *bytes = calloc(1, MANY);
    long written = write(writer_end, bytes, MANY);
    *(long *)result = written < 0 ? -errno : written;
    free(bytes);
    return 0;
}

/* What a write returns that waits for a pipe with `room` bytes when its reader goes, and how many signals come. */
static void break_pipe(int room)
{
    int ends[2];
    long result;
    pthread_t writer;
    char bytes[4096] = "";
    struct sigaction action = {.sa_handler = take, .sa_flags = SA_RESTART};
    pipe(ends);
    for (int i = 0; i < 65536 - room; i += 4096) write(ends[1], bytes, 4096);
    writer_end = ends[1];
    taken = 0;
    sigaction(SIGPIPE, &action, 0);
    pthread_create(&writer, 0, write_much, &result);
    usleep(2000);
    close(ends[0]);
    pthread_join(writer, 0);
    close(ends[1]);
    printf("broken in a wait: %s %ld, signals %d\n", result < 0 ? strerrorname_np(-result) : "after", result, taken);
}

static void look_with_signals(void)
{
    sigset_t none, all;
    struct pollfd nothing = {-1, POLLIN, 0};
    struct timespec at_once = {0, 0};
    sigemptyset(&none);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, 0);
    taken = 0;
    raise(SIGPIPE);
    raise(SIGCHLD);
    printf("at once %s", error(poll(&nothing, 1, 0)));
    int list = epoll_create1(0);
    struct epoll_event event;
    printf(", list %s", error(epoll_pwait(list, &event, 1, 0, &none)));
    printf(", with a signal %s", error(ppoll(&nothing, 1, &at_once, &none)));
    printf(" %d, without %s", taken, error(pselect(0, 0, 0, 0, &at_once, &none)));
    sigset_t now_masked;
    sigprocmask(SIG_SETMASK, &none, &now_masked);
    printf(", held back %d\n", sigismember(&now_masked, SIGTERM));
}

static void sleep_long(void)
{
    long began = now();
    sleep(100000);
    printf("slept %ld s\n", (now() - began) / 1000000000);
}

static int counter;

static void *count_later(void *unused)
{
    usleep(2000);
    eventfd_write(counter, 5);
    return unused;
}

static void lists(void)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.u64 = 42}, told[4];
    int list = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, 0);
    pthread_t thread;
    eventfd_t value;
    counter = eventfd(0, 0);
    epoll_ctl(list, EPOLL_CTL_ADD, counter, &event);
    printf("twice %s\n", error(epoll_ctl(list, EPOLL_CTL_ADD, counter, &event)));
    long began = now();
    printf("nothing %d", epoll_wait(list, told, 4, 3));
    printf(" for %ld ms\n", (now() - began) / 1000000);
    pthread_create(&thread, 0, count_later, 0);
    int count = epoll_wait(list, told, 4, -1);
    printf("told %d of %lu, events %x", count, told[0].data.u64, told[0].events);
    printf(", no edge %d", epoll_wait(list, told, 4, 0));
    eventfd_read(counter, &value);
    printf(", value %lu\n", value);
    pthread_join(thread, 0);
    event.data.u64 = 43;
    event.events = EPOLLIN;
    epoll_ctl(list, EPOLL_CTL_ADD, timer, &event);
    struct itimerspec times = {{0, 1000000}, {0, 4000000}};
    timerfd_settime(timer, 0, &times, 0);
    began = now();
    count = epoll_wait(list, told, 4, -1);
    printf("timer %d %lu after %ld ms", count, told[0].data.u64, (now() - began) / 1000000);
    usleep(2500);
    uint64_t expired;
    printf(", read %zd", read(timer, &expired, 8));
    printf(", expired %lu\n", expired);
    struct pollfd polled[2] = {{counter, POLLIN | POLLOUT, 0}, {99, POLLIN, 0}};
    printf("poll %d %x %x\n", poll(polled, 2, 0), polled[0].revents, polled[1].revents);
    fd_set readable;
    FD_ZERO(&readable);
    FD_SET(counter, &readable);
    struct timeval span = {0, 1000};
    printf("select %d", select(counter + 1, &readable, 0, 0, &span));
    printf(" %d\n", FD_ISSET(counter, &readable) != 0);
}

static void nested_lists(void)
{
    int outer = epoll_create1(0), inner = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    printf("nested %s", error(epoll_ctl(outer, EPOLL_CTL_ADD, inner, &event)));
    printf(", in a circle %s\n", error(epoll_ctl(inner, EPOLL_CTL_ADD, outer, &event)));
}

static void *send_later(void *unused)
{
    usleep(2000);
    kill(getpid(), SIGUSR2);
    return unused;
}

static void signals_in_files(void)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = 44}, told;
    struct signalfd_siginfo read_ones[3];
    sigset_t users, one;
    pthread_t sender;
    sigemptyset(&users);
    sigaddset(&users, SIGUSR2);
    one = users;
    sigaddset(&users, SIGUSR1);
    sigprocmask(SIG_BLOCK, &users, 0);
    int file = signalfd(-1, &users, SFD_NONBLOCK), list = epoll_create1(0);
    epoll_ctl(list, EPOLL_CTL_ADD, file, &event);
    printf("no signal %s", error(read(file, read_ones, sizeof read_ones)));
    raise(SIGUSR1);
    union sigval value = {.sival_int = 77};
    sigqueue(getpid(), SIGUSR2, value);
    printf(", list %d", epoll_wait(list, &told, 1, 0));
    printf(" %lu, of one ", told.data.u64);
    printf("%s", signalfd(file, &one, 0) == file ? "ok" : "another");
    long bytes = read(file, read_ones, sizeof read_ones);
    printf(" %ld: %u code %d value %d", bytes, read_ones[0].ssi_signo, read_ones[0].ssi_code, read_ones[0].ssi_int);
    signalfd(file, &users, 0);
    bytes = read(file, read_ones, sizeof read_ones);
    printf(", the other %ld: %u by %d", bytes, read_ones[0].ssi_signo, read_ones[0].ssi_pid == (unsigned)getpid());
    printf(", short %s, left %d\n", error(read(file, read_ones, 127)), epoll_wait(list, &told, 1, 0));
    fcntl(file, F_SETFL, 0);
    pthread_create(&sender, 0, send_later, 0);
    bytes = read(file, read_ones, sizeof read_ones);
    printf("awaited %ld: %u\n", bytes, read_ones[0].ssi_signo);
    pthread_join(sender, 0);
    sigprocmask(SIG_UNBLOCK, &users, 0);
}

static void splices(void)
{
    char bytes[16] = "";
    int one[2], other[2], file = memfd_create("spliced", 0);
    long offset = 4;
    pipe(one);
    pipe(other);
    write(file, "0123456789", 10);
    printf("splice %s", error(splice(file, 0, file, 0, 3, 0)));
    printf(" %ld", splice(file, &offset, one[1], 0, 5, 0));
    printf(" to %ld, %s", offset, error(splice(one[0], &offset, other[1], 0, 5, 0)));
    printf(", on %ld", splice(one[0], 0, other[1], 0, 3, 0));
    offset = 1;
    printf(", back %ld", splice(other[0], 0, file, &offset, 9, 0));
    pread(file, bytes, 10, 0);
    printf(" to %ld: %s", offset, bytes);
    printf(", empty %s", error(splice(other[0], 0, one[1], 0, 1, SPLICE_F_NONBLOCK)));
    printf(", left %ld", splice(one[0], 0, other[1], 0, 9, 0));
    close(one[1]);
    printf(", end %ld\n", splice(one[0], 0, other[1], 0, 9, 0));
}

int main(void)
{
    pipes();
    break_pipe(0);
    break_pipe(8192);
    look_with_signals();
    lists();
    nested_lists();
    signals_in_files();
    splices();
    sleep_long();
    return 0;
}
