/* One line for each of some hundred system calls: what it returned. Every program that runs here also runs elsewhere. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int lines;

/* What a call returned: an error by its name, or that there was none. */
static void say(const char *name, long result)
{
    printf("%-22s %s\n", name, result < 0 ? strerrorname_np(errno) : "ok");
    lines++;
}

/* A value that a call gave. */
static void give(const char *name, long value)
{
    printf("%-22s %ld\n", name, value);
    lines++;
}

static void files(void)
{
    char bytes[4096];
    struct stat status;
    struct statvfs system;
    struct flock lock = {.l_type = F_WRLCK};
    struct timespec times[2] = {{1, 0}, {2, 0}};
    struct iovec piece = {bytes, 10};
    int file = open("one", O_RDWR | O_CREAT | O_TRUNC, 0644), entries = 0;
    memset(bytes, 7, sizeof bytes);
    say("openat", file);
    say("write", write(file, bytes, sizeof bytes));
    say("writev", writev(file, &piece, 1));
    say("pwritev", pwritev(file, &piece, 1, 0));
    say("preadv", preadv(file, &piece, 1, 0));
    say("pwritev2", pwritev2(file, &piece, 1, 0, 0));
    say("pread64", pread(file, bytes, 10, 0));
    say("pwrite64", pwrite(file, bytes, 10, 5L << 30));
    say("fstat", fstat(file, &status));
    give("size", status.st_size);
    say("ftruncate", ftruncate(file, 100000));
    say("fallocate", fallocate(file, 0, 0, 200000));
    give("end", lseek(file, 0, SEEK_END));
    say("lseek data", lseek(file, 0, SEEK_DATA));
    say("fsync", fsync(file));
    say("fdatasync", fdatasync(file));
    say("sync_file_range", sync_file_range(file, 0, 0, 0));
    say("syncfs", syncfs(file));
    say("fadvise64", posix_fadvise(file, 0, 0, POSIX_FADV_NORMAL));
    say("readahead", readahead(file, 0, 100));
    say("flock", flock(file, LOCK_EX));
    say("fcntl lock", fcntl(file, F_SETLK, &lock));
    give("fcntl flags", fcntl(file, F_GETFL) & O_ACCMODE);
    say("fchmod", fchmod(file, 0600));
    say("fchmodat", chmod("one", 0644));
    say("utimensat", utimensat(AT_FDCWD, "one", times, 0));
    say("renameat2", rename("one", "two"));
    say("linkat", link("two", "one"));
    say("unlinkat", unlink("one"));
    say("symlinkat", symlink("two", "one"));
    give("readlinkat", readlink("one", bytes, 100));
    say("faccessat", access("two", R_OK));
    say("faccessat missing", access("three", R_OK));
    say("mkdirat", mkdir("folder", 0755));
    say("unlink of a folder", unlink("folder"));
    DIR *folder = opendir(".");
    while (readdir(folder)) entries++;
    give("getdents64", entries);
    say("fchdir", fchdir(dirfd(folder)));
    closedir(folder);
    say("rmdir", rmdir("folder"));
    say("chdir missing", chdir("folder"));
    say("getcwd", getcwd(bytes, sizeof bytes) ? 0 : -1);
    give("umask", umask(022));
    say("statfs", statvfs(".", &system));
    say("statx", syscall(SYS_statx, AT_FDCWD, "two", 0, 0x7ff, bytes));
    say("truncate", truncate("two", 10));
    int memory = memfd_create("x", 0);
    say("memfd_create", memory);
    lseek(file, 0, SEEK_SET);
    give("sendfile", sendfile(memory, file, 0, 4));
    give("copy_file_range", copy_file_range(memory, &(off_t){0}, memory, &(off_t){100}, 4, 0));
    say("dup3", dup3(memory, 100, O_CLOEXEC));
    say("close_range", close_range(100, 100, 0));
    say("close", close(memory));
    say("close again", close(memory));
    unlink("one");
    unlink("two");
}

static void memory(void)
{
    int file = memfd_create("shared", 0);
    unsigned char resident[4];
    char byte = 0;
    ftruncate(file, 8192);
    char *shared = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    shared[10] = 99;
    say("msync", msync(shared, 8192, MS_SYNC));
    pread(file, &byte, 1, 10);
    give("mmap shared", byte);
    char *own = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    own[10] = 1;
    give("mmap private", shared[10]);
    char *plain = mmap(0, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    plain[4096] = 2;
    char *grown = mremap(plain, 16384, 65536, MREMAP_MAYMOVE);
    give("mremap", grown[4096] + grown[40000]);
    say("mprotect", mprotect(grown, 4096, PROT_READ));
    say("madvise", madvise(grown + 4096, 4096, MADV_DONTNEED));
    give("after it", grown[4096]);
    say("mincore", mincore(grown, 4096, resident));
    say("mlock", mlock(grown, 4096));
    say("munlock", munlock(grown, 4096));
    char *much = mmap(0, 64L << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    say("mmap of 64 GiB", much == MAP_FAILED ? -1 : 0);
    say("munmap", munmap(grown, 65536));
    say("munmap odd", munmap(grown + 1, 4096));
    say("membarrier", syscall(SYS_membarrier, 0, 0, 0));
    say("riscv_flush_icache", syscall(259, 0, 0, 0));
}

static void events(void)
{
    int ends[2], pair[2];
    struct pollfd polled = {.fd = -1};
    struct timeval span = {0, 1000};
    struct epoll_event event = {.events = EPOLLIN};
    sigset_t set;
    say("pipe2", pipe2(ends, O_NONBLOCK));
    say("read of a pipe", read(ends[0], &span, 1));
    say("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
    give("sendto", send(pair[0], "hello", 5, 0));
    give("recvfrom", recv(pair[1], ends + 2, 0, MSG_DONTWAIT));
    int socket_number = socket(AF_INET, SOCK_STREAM, 0);
    say("socket", socket_number);
    say("listen", listen(socket_number, 5));
    say("setsockopt", setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &span, sizeof span));
    say("shutdown", shutdown(pair[0], SHUT_WR));
    int counter = eventfd(1, 0), list = epoll_create1(0);
    say("eventfd2", counter);
    say("epoll_create1", list);
    say("epoll_ctl", epoll_ctl(list, EPOLL_CTL_ADD, counter, &event));
    give("epoll_pwait", epoll_wait(list, &event, 1, 0));
    say("timerfd_create", timerfd_create(CLOCK_MONOTONIC, 0));
    give("ppoll", poll(&polled, 1, 2));
    give("pselect6", select(0, 0, 0, 0, &span));
    sigemptyset(&set);
    say("signalfd4", signalfd(-1, &set, 0));
    give("splice", splice(ends[0], 0, ends[1], 0, 0, 0));
    say("inotify_init1", inotify_init1(0));
    int segment = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    say("shmget", segment);
    say("shmctl", shmctl(segment, IPC_RMID, 0));
}

static void ignore(int signal)
{
    (void)signal;
}

static void process(void)
{
    struct itimerval interval = {{0, 0}, {0, 2000}};
    struct timespec time;
    struct tms tally;
    struct rlimit limit;
    struct rusage usage;
    struct sysinfo system;
    struct utsname names;
    timer_t timer;
    sigset_t set;
    unsigned ids[3];
    char bytes[64];
    cpu_set_t harts;
    signal(SIGALRM, ignore);
    say("setitimer", setitimer(ITIMER_REAL, &interval, 0));
    say("nanosleep", nanosleep(&(struct timespec){0, 9000000}, 0));
    say("timer_create", timer_create(CLOCK_MONOTONIC, 0, &timer));
    say("timer_delete", timer_delete(timer));
    say("times", times(&tally));
    say("clock_gettime", clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time));
    say("clock_getres", clock_getres(CLOCK_BOOTTIME, &time));
    say("getrandom", getrandom(bytes, 32, 0));
    say("prctl", prctl(PR_SET_NAME, "hello"));
    say("prlimit64", getrlimit(RLIMIT_NOFILE, &limit));
    say("getrusage", getrusage(RUSAGE_SELF, &usage));
    say("sysinfo", sysinfo(&system));
    say("uname", uname(&names));
    say("personality", personality(0xffffffff));
    say("getresuid", getresuid(&ids[0], &ids[1], &ids[2]));
    say("getgroups", getgroups(0, 0));
    say("getpgid", getpgid(0));
    say("getsid", getsid(0));
    say("getpriority", getpriority(PRIO_PROCESS, 0));
    say("sched_getscheduler", sched_getscheduler(0));
    give("sched_get_priority_max", sched_get_priority_max(SCHED_FIFO));
    say("sched_getaffinity", sched_getaffinity(0, sizeof harts, &harts));
    say("sched_yield", sched_yield());
    say("getcpu", sched_getcpu());
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    say("rt_sigprocmask", sigprocmask(SIG_BLOCK, &set, 0));
    say("tgkill", raise(SIGUSR1));
    say("rt_sigpending", sigpending(&set));
    give("rt_sigtimedwait", sigtimedwait(&set, 0, &(struct timespec){0, 0}));
    say("rt_sigqueueinfo", sigqueue(getpid(), 0, (union sigval){.sival_int = 1}));
    say("kill", kill(getpid(), 0));
    say("kill of nobody", kill(1 << 29, 0));
    fflush(stdout);
    int status = 0, child = fork();
    if (child == 0) _exit(7);
    waitpid(child, &status, 0);
    give("wait4", WEXITSTATUS(status));
    say("wait4 for nobody", waitpid(-1, &status, 0));
    const char *names_of_files[] = {"/proc/self/exe",    "/proc/cpuinfo", "/proc/meminfo", "/proc/self/stat",
                                    "/proc/self/status", "/dev/urandom",  "/dev/null",     "/proc/self/nothing"};
    for (int i = 0; i < 8; i++) say(names_of_files[i], open(names_of_files[i], O_RDONLY));
}

int main(int count, char **words)
{
    say("chdir", chdir(words[count - 1]));
    files();
    memory();
    events();
    process();
    give("lines", lines + 1);
    return 0;
}
