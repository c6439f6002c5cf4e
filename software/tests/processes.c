/* Processes: memory of their own and shared, pipes between them, ends that parents learn of, other programs. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MANY = 300000, CHILDREN = 5, ROUNDS = 2000 };

extern char **environ;
static const char *self;
static volatile sig_atomic_t ended;

static const char *error(long result)
{
    return result < 0 ? strerrorname_np(errno) : "ok";
}

/* How a child has ended: its status, or 1000 more than its signal. */
static int outcome(pid_t child)
{
    int status = 0;
    if (waitpid(child, &status, 0) != child) return -errno;
    return WIFEXITED(status) ? WEXITSTATUS(status) : WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : -1;
}

static pid_t child_that_exits(int status)
{
    pid_t child = fork();
    if (child == 0) _exit(status);
    return child;
}

static void memories(void)
{
    static int number = 1;
    int *heap = malloc(sizeof(int));
    int *shared = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    *heap = 2;
    *shared = 3;
    pid_t child = fork();
    if (child == 0) {
        int before = number * 100 + *heap * 10 + *shared;
        number = 4;
        *heap = 5;
        *shared = 6;
        _exit(before);
    }
    int status = outcome(child);
    printf("seen %d, then %d %d %d\n", status, number, *heap, *shared);
}

static void pipes(void)
{
    int there[2], back[2];
    if (pipe(there) || pipe(back)) exit(1);
    pid_t child = fork();
    if (child == 0) {
        close(there[1]);
        char buffer[3000];
        for (ssize_t count; (count = read(there[0], buffer, sizeof buffer)) > 0;) {
            for (ssize_t i = 0; i < count; i++) buffer[i]++;
            write(back[1], buffer, count);
        }
        _exit(0);
    }
    close(there[0]);
    close(back[1]);
    pid_t writer = fork();
    if (writer == 0) {
        char *all = malloc(MANY);
        for (int i = 0; i < MANY; i++) all[i] = i % 91;
        _exit(write(there[1], all, MANY) != MANY);
    }
    close(there[1]);
    long sum = 0, bytes = 0;
    unsigned char buffer[5000];
    for (ssize_t count; (count = read(back[0], buffer, sizeof buffer)) > 0; bytes += count)
        for (ssize_t i = 0; i < count; i++) sum += buffer[i];
    int written = outcome(writer), read = outcome(child);
    printf("through two pipes %ld, sum %ld, ended %d %d\n", bytes, sum, written, read);
    if (pipe(there)) exit(1);
    child = fork();
    if (child == 0) {
        signal(SIGPIPE, SIG_DFL);
        close(there[0]);
        sleep(1);
        write(there[1], "x", 1);
        _exit(0);
    }
    close(there[0]);
    printf("into nothing %d\n", outcome(child));
}

static void ends(void)
{
    printf("nobody %s\n", error(wait(0)));
    pid_t children[CHILDREN];
    for (int i = 0; i < CHILDREN; i++) children[i] = child_that_exits(10 + i);
    int last = outcome(children[CHILDREN - 1]), sum = 0, status;
    for (int i = 1; i < CHILDREN; i++) {
        wait(&status);
        sum += WEXITSTATUS(status);
    }
    printf("one of many %d, the others %d, nobody %s\n", last, sum, error(wait(0)));
    pid_t child = fork();
    if (child == 0) pause();
    printf("not yet %d", waitpid(child, &status, WNOHANG));
    kill(child, SIGTERM);
    printf(", killed %d", outcome(child));
    child = fork();
    if (child == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        *(volatile int *)0 = 1;
    }
    printf(", faulted %d", outcome(child));
    child = fork();
    if (child == 0) {
        alarm(1);
        for (;;) pause();
    }
    printf(", too late %d\n", outcome(child));
    siginfo_t information;
    child = child_that_exits(3);
    int result = waitid(P_PID, child, &information, WEXITED | WNOWAIT);
    printf("by id %s %d %d %d", error(result), information.si_code, information.si_status,
           information.si_pid == child);
    printf(", once more %d, not twice %s\n", outcome(child), error(waitpid(child, 0, 0)));
}

static void count(int signal)
{
    (void)signal;
    ended++;
}

static void signals(void)
{
    struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
    sigaction(SIGCHLD, &action, 0);
    pid_t child = child_that_exits(1);
    int status = outcome(child);
    printf("told %d of %d", ended, status);
    child = child_that_exits(2);
    while (ended < 2) usleep(1000);
    printf(", awaited by a signal %d\n", outcome(child));
    signal(SIGCHLD, SIG_IGN);
    child = child_that_exits(4);
    printf("nobody asks %s\n", error(waitpid(child, 0, 0)));
    signal(SIGCHLD, SIG_DFL);
    sigset_t set, before;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, &before);
    child = fork();
    if (child == 0) {
        siginfo_t from;
        _exit(sigwaitinfo(&set, &from) == SIGUSR1 && from.si_pid == getppid() ? 0 : 1);
    }
    kill(child, SIGUSR1);
    status = outcome(child);
    sigprocmask(SIG_SETMASK, &before, 0);
    printf("from the parent %d, none %s\n", status, error(kill(child, 0)));
    child = fork();
    if (child == 0) {
        setpgid(0, 0);
        if (fork() == 0) pause();
        pause();
    }
    while (getpgid(child) != child) usleep(100);
    usleep(20000);
    kill(-child, SIGKILL);
    printf("a group %d, own %d\n", outcome(child), getpgrp() == getpgid(0));
}

struct shared {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int turn, count;
};

static void take_turns(struct shared *shared, int own)
{
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&shared->lock);
        while (shared->turn != own) pthread_cond_wait(&shared->changed, &shared->lock);
        shared->turn = !own;
        shared->count++;
        pthread_cond_signal(&shared->changed);
        pthread_mutex_unlock(&shared->lock);
    }
}

static void locks(void)
{
    struct shared *shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pthread_mutexattr_t lock;
    pthread_mutexattr_init(&lock);
    pthread_mutexattr_setpshared(&lock, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->lock, &lock);
    pthread_condattr_t changed;
    pthread_condattr_init(&changed);
    pthread_condattr_setpshared(&changed, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&shared->changed, &changed);
    pid_t child = fork();
    if (child == 0) {
        take_turns(shared, 1);
        _exit(0);
    }
    take_turns(shared, 0);
    int status = outcome(child);
    printf("turns %d, ended %d\n", shared->count, status);
}

static void *run_itself(void *name)
{
    execl(self, "program", name, "by a thread", (char *)0);
    return 0;
}

static void programs(const char *folder)
{
    pid_t child = vfork();
    if (child == 0) {
        execl(self, "program", "exit", "one", "two", (char *)0);
        _exit(99);
    }
    printf("after vfork %d", outcome(child));
    child = vfork();
    if (child == 0) _exit(5);
    printf(", without a program %d\n", outcome(child));
    fflush(stdout);

    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) exit(1);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    char *arguments[] = {"program", "say", 0}, *environment[] = {"WORD=hello", 0};
    int result = posix_spawn(&child, self, &actions, 0, arguments, environment);
    close(ends[1]);
    char said[100] = "";
    ssize_t bytes = read(ends[0], said, sizeof said - 1);
    int status = outcome(child);
    printf("spawned %d, said %zd: %s, ended %d\n", result, bytes, said, status);
    fflush(stdout);
    child = fork();
    if (child == 0) {
        pthread_t thread;
        pthread_create(&thread, 0, run_itself, "exit");
        pthread_join(thread, 0);
        _exit(98);
    }
    printf("of a thread %d\n", outcome(child));

    char path[500];
    snprintf(path, sizeof path, "%s/script", folder);
    int file = open(path, O_WRONLY | O_CREAT, 0644);
    dprintf(file, "#!%s exit\n", self);
    close(file);
    char *none[] = {"none", 0};
    printf("not executable %s, ", error(execv(path, none)));
    chmod(path, 0755);
    child = fork();
    if (child == 0) {
        execl(path, "script", "more", (char *)0);
        _exit(97);
    }
    printf("a script %d, no file %s", outcome(child), error(execv("/none", none)));
    printf(", a folder %s\n", error(execv(folder, none)));
}

/* A child that goes on when its parents have ended. */
static void orphan(void)
{
    int ends[2];
    if (pipe(ends)) exit(1);
    if (fork() == 0) {
        if (fork() == 0) {
            char byte;
            close(ends[1]);
            read(ends[0], &byte, 1);
            printf("the last one\n");
            exit(0);
        }
        _exit(0);
    }
    wait(0);
}

int main(int arguments, char **words)
{
    self = "/proc/self/exe";
    if (arguments > 2 && !strcmp(words[1], "exit")) return 20 + arguments;
    if (arguments > 1 && !strcmp(words[1], "say")) {
        printf("%s, open %s", getenv("WORD"), error(fcntl(3, F_GETFD)));
        return arguments;
    }
    setvbuf(stdout, 0, _IOLBF, 0);
    memories();
    pipes();
    ends();
    signals();
    locks();
    programs(arguments > 1 ? words[1] : ".");
    orphan();
    return 0;
}
