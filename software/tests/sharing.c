/* What processes share by names and keep from each other by locks, below the folder that is given. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 300 };

static const char *error(long result)
{
    return result < 0 ? strerrorname_np(errno) : "ok";
}

static int ended(int child)
{
    int status;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

static int lock(int file, int command, int kind, off_t start, off_t length)
{
    struct flock lock = {.l_type = kind, .l_start = start, .l_len = length};
    return fcntl(file, command, &lock);
}

/* Each of two processes adds to a number in a file, which only a lock keeps right. */
static void count(const char *name, int (*begin)(int), int (*end)(int))
{
    int file = open("number", O_RDWR | O_CREAT | O_TRUNC, 0600), child = fork();
    if (child == 0) file = open("number", O_RDWR);
    for (int i = 0; i < ROUNDS; i++) {
        int number = 0;
        begin(file);
        pread(file, &number, sizeof number, 0);
        if (i % 16 == 0) usleep(1);
        number++;
        pwrite(file, &number, sizeof number, 0);
        end(file);
    }
    if (child == 0) _exit(0);
    int number = ended(child);
    pread(file, &number, sizeof number, 0);
    printf("%s %d\n", name, number);
    close(file);
}

static int whole(int file) { return flock(file, LOCK_EX); }
static int no_whole(int file) { return flock(file, LOCK_UN); }
static int part(int file) { return lock(file, F_SETLKW, F_WRLCK, 0, 4); }
static int no_part(int file) { return lock(file, F_SETLK, F_UNLCK, 0, 4); }
static int open_part(int file) { return lock(file, F_OFD_SETLKW, F_WRLCK, 0, 0); }
static int no_open_part(int file) { return lock(file, F_OFD_SETLK, F_UNLCK, 0, 0); }

static void lock_whole(void)
{
    int one = open("locked", O_RDWR | O_CREAT, 0600), two = open("locked", O_RDONLY), same = dup(one);
    printf("whole %s", error(flock(one, LOCK_SH)));
    printf(" %s", error(flock(two, LOCK_SH | LOCK_NB)));
    printf(" %s", error(flock(one, LOCK_EX | LOCK_NB)));
    printf(" %s", error(flock(two, LOCK_UN)));
    printf(" %s", error(flock(same, LOCK_EX | LOCK_NB)));
    close(one);
    printf(" %s", error(flock(two, LOCK_SH | LOCK_NB)));
    close(same);
    printf(" %s", error(flock(two, LOCK_SH | LOCK_NB)));
    printf(" %s\n", error(flock(two, 16)));
    close(two);
}

static void lock_parts(void)
{
    int file = open("locked", O_RDWR), reader = open("locked", O_RDONLY);
    struct flock asked = {.l_type = F_WRLCK, .l_start = 0, .l_len = 0};
    ftruncate(file, 100);
    printf("parts %s", error(lock(file, F_SETLK, F_WRLCK, 10, 20)));
    printf(" %s", error(lock(file, F_SETLK, F_RDLCK, 20, 5)));
    printf(" %s", error(lock(reader, F_SETLK, F_WRLCK, 50, 1)));
    printf(" %s", error(fcntl(file, F_GETLK, &asked)));
    printf(" %d", asked.l_type == F_UNLCK);
    fflush(stdout);
    int child = fork();
    if (child == 0) {
        struct flock seen = {.l_type = F_WRLCK, .l_whence = SEEK_END, .l_start = -75, .l_len = -10};
        fcntl(file, F_GETLK, &seen);
        printf(", held %d %ld %ld %d", seen.l_type == F_WRLCK, (long)seen.l_start, (long)seen.l_len,
               seen.l_pid == getppid());
        printf(" %s %s", error(lock(file, F_SETLK, F_RDLCK, 20, 5)), error(lock(file, F_SETLK, F_RDLCK, 24, 2)));
        printf(" %s", error(lock(file, F_OFD_SETLK, F_WRLCK, 0, 10)));
        printf(" %s\n", error(lock(file, F_SETLK, F_RDLCK, -1, 1)));
        fflush(stdout);
        _exit(0);
    }
    ended(child);
    close(reader);
    child = fork();
    if (child == 0) _exit(lock(file, F_SETLK, F_WRLCK, 11, 0) != 0);
    printf("after a close %d\n", ended(child));
    close(file);
    unlink("locked"), unlink("number");
}

static void share_memory(void)
{
    int file = shm_open("/shared", O_RDWR | O_CREAT | O_EXCL, 0600);
    printf("memory %s", error(shm_open("/shared", O_RDWR | O_CREAT | O_EXCL, 0600)));
    ftruncate(file, 4096);
    int *number = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    sem_t *semaphore = sem_open("/counts", O_CREAT, 0600, 1), *turn = sem_open("/turn", O_CREAT, 0600, 0);
    int child = fork();
    if (child == 0) {
        number = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, shm_open("/shared", O_RDWR, 0), 0);
        semaphore = sem_open("/counts", 0), turn = sem_open("/turn", 0);
    }
    for (int i = 0; i < ROUNDS; i++) {
        sem_wait(semaphore);
        int now = *(volatile int *)number;
        if (i % 16 == 0) usleep(1);
        *(volatile int *)number = now + 1;
        sem_post(semaphore);
    }
    if (child == 0) _exit(sem_post(turn));
    sem_wait(turn);
    printf(", counted %d, ended %d, removed %s", *number, ended(child), error(shm_unlink("/shared")));
    printf(" %s, kept %d, %s", error(shm_unlink("/shared")), *number, error(shm_open("/shared", O_RDWR, 0)));
    printf(" %s", error(sem_unlink("/counts")));
    printf(" %s\n", sem_open("/counts", 0) == SEM_FAILED ? strerrorname_np(errno) : "open");
    sem_unlink("/turn");
}

static void name_descriptors(void)
{
    char text[32] = "", link[1024] = "", path[32];
    struct stat found;
    int file = open("named", O_RDWR | O_CREAT, 0640), ends[2];
    write(file, "contents", 8);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    printf("named %d", (int)(readlink(path, link, 1023) > 6) && !strcmp(link + strlen(link) - 6, "/named"));
    int again = open(path, O_RDONLY);
    printf(" %s at %ld, %s", error(read(again, text, 8)), (long)lseek(file, 0, SEEK_CUR), text);
    printf(", size %ld %o", stat(path, &found) ? -1 : (long)found.st_size, found.st_mode & 0777);
    printf(", to append %s", error(write(open(path, O_WRONLY | O_APPEND), "+", 1)));
    printf(" %ld", (long)lseek(file, 0, SEEK_END));
    pipe(ends);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    write(open(path, O_WRONLY), "through", 8);
    read(ends[0], text, 8);
    printf(", %s, closed %s", text, error(open("/dev/fd/77", O_RDONLY)));
    printf(" %s\n", error(readlink("/proc/self/fd/77", link, 1023)));
    rename("named", "one"), mkdir("two", 0700);
    printf("exchanged %s", error(renameat2(AT_FDCWD, "one", AT_FDCWD, "two", RENAME_EXCHANGE)));
    printf(" %s %s\n", error(rmdir("one")), error(unlink("two")));
}

int main(int count_of_words, char **words)
{
    if (count_of_words < 2 || chdir(words[1])) return 1;
    setvbuf(stdout, 0, _IOLBF, 0);
    count("by a lock of the file", whole, no_whole);
    count("by a lock of bytes", part, no_part);
    count("by a lock of an open file", open_part, no_open_part);
    lock_whole();
    lock_parts();
    share_memory();
    name_descriptors();
    return 0;
}
