/* Mappings: what may be done with them, where they grow and move to, and how they end. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, BOTH = PROT_READ | PROT_WRITE, OWN = MAP_PRIVATE | MAP_ANONYMOUS };

static sigjmp_buf before;

static void caught(int signal)
{
    siglongjmp(before, signal);
}

/* The signal that a write of this byte causes. */
static int writing(char *byte)
{
    int signal = sigsetjmp(before, 1);
    if (!signal) *(volatile char *)byte = 1;
    return signal;
}

static const char *error(long result)
{
    return result < 0 ? strerrorname_np(errno) : "ok";
}

static const char *mapped(void *place)
{
    return place == MAP_FAILED ? strerrorname_np(errno) : "ok";
}

static void seal(void)
{
    int file = memfd_create("sealed", MFD_ALLOW_SEALING);
    ftruncate(file, PAGE);
    char *own = mmap(0, PAGE, BOTH, MAP_SHARED, file, 0);
    printf("sealed while mapped %s", error(fcntl(file, F_ADD_SEALS, F_SEAL_WRITE)));
    munmap(own, PAGE);
    printf(", then %s", error(fcntl(file, F_ADD_SEALS, F_SEAL_WRITE)));
    printf(", mapped %s", mapped(mmap(0, PAGE, BOTH, MAP_SHARED, file, 0)));
    int other = memfd_create("other", 0);
    ftruncate(other, PAGE);
    printf(", written %s %s\n", error(pwrite(file, "x", 1, 0)), error(pwrite(other, "x", 1, 0)));
}

static void grow_a_file(void)
{
    int file = memfd_create("grows", 0);
    ftruncate(file, PAGE);
    char *pages = mmap(0, 4 * PAGE, BOTH, MAP_SHARED, file, 0);
    printf("beyond %d", writing(pages + 2 * PAGE));
    mprotect(pages, 4 * PAGE, PROT_READ);
    printf(", read-only %d, beyond %d", writing(pages), writing(pages + 2 * PAGE));
    ftruncate(file, 4 * PAGE);
    printf(", grown %d", writing(pages + 2 * PAGE));
    mprotect(pages + 3 * PAGE, PAGE, BOTH);
    printf(", a part %d %d\n", writing(pages + 2 * PAGE), writing(pages + 3 * PAGE));
}

static void remap(void)
{
    char *one = mmap(0, 8 * PAGE, BOTH, OWN, -1, 0), *other = mmap(0, 8 * PAGE, BOTH, OWN, -1, 0);
    strcpy(one, "moved");
    strcpy(one + PAGE, "second");
    char *at = mremap(one, 2 * PAGE, 3 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, other);
    printf("fixed %d %s %s %d, left %d", at == other, other, other + PAGE, other[2 * PAGE], writing(one));
    at = mremap(other, 3 * PAGE, 3 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, other + PAGE);
    printf(", over itself %s", mapped(at));
    printf(", without moving %s", mapped(mremap(other, PAGE, PAGE, MREMAP_FIXED, one)));
    munmap(other + PAGE, 7 * PAGE);
    at = mremap(other, PAGE, 3 * PAGE, 0);
    printf("\nin place %d %s", at == other, other);
    printf(", no room %s", mapped(mremap(one + 2 * PAGE, PAGE, 3 * PAGE, 0)));
    mprotect(other, 3 * PAGE, PROT_NONE);
    at = mremap(other, 3 * PAGE, 9 * PAGE, MREMAP_MAYMOVE);
    mprotect(at, PAGE, PROT_READ);
    printf(", hidden %s\n", at == MAP_FAILED ? "lost" : at);
}

static void unmap(void)
{
    char *page = mmap(0, PAGE, BOTH, OWN, -1, 0);
    strcpy(page, "kept");
    printf("unmapped %s", error(munmap(page, -1UL << 40)));
    printf(" %s, nothing %s, odd %s", page, error(munmap(page, 0)), error(munmap(page + 1, PAGE)));
    char *low = mmap((char *)0x10000000, 2 * PAGE, BOTH, OWN | MAP_FIXED, -1, 0);
    printf(", much %s", error(munmap(low, PAGE)));
    printf(" %d %d", writing(low), writing(low + PAGE));
    printf(", a folder %s", mapped(mmap(0, PAGE, PROT_READ, MAP_PRIVATE, open("/", O_RDONLY), 0)));
    printf(", neither %s\n", mapped(mmap(0, PAGE, PROT_READ, MAP_ANONYMOUS, -1, 0)));
}

static long attachments(int segment)
{
    struct shmid_ds status;
    return shmctl(segment, IPC_STAT, &status) < 0 ? -1 : (long)(status.shm_nattch * 100000 + status.shm_segsz);
}

static void attach(void)
{
    int segment = shmget(IPC_PRIVATE, 5000, IPC_CREAT | 0600), named = shmget(0x7a11, PAGE, IPC_CREAT | 0600);
    char *one = shmat(segment, 0, 0), *other = shmat(segment, 0, SHM_RDONLY);
    strcpy(one + PAGE, "seen");
    printf("attached %s, written %d, %ld", other + PAGE, writing(other), attachments(segment));
    if (fork() == 0) {
        strcpy(one, attachments(segment) == 405000 ? "by a child" : "miscounted");
        _exit(0);
    }
    wait(0);
    printf(" %s, named %d", other, shmget(0x7a11, PAGE, 0) == named);
    printf(" %s", error(shmget(0x7a11, PAGE, IPC_CREAT | IPC_EXCL | 0600)));
    printf(" %s", error(shmget(0x7a11, 3 * PAGE, 0)));
    printf(" %s, removed %s", error(shmget(0x7a12, PAGE, 0)), error(shmctl(named, IPC_RMID, 0)));
    printf(" %s %s", error(shmget(0x7a11, PAGE, 0)), shmat(named, 0, 0) == (void *)-1 ? strerrorname_np(errno) : "ok");
    shmctl(segment, IPC_RMID, 0);
    printf(", later %s %s", error(shmdt(other)), error(shmdt(other)));
    printf(" %s %ld", one, attachments(segment));
    shmdt(one);
    printf(", gone %ld %d\n", attachments(segment), writing(one));
}

static void advise(void)
{
    char *pages = mmap(0, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pages[0] = pages[1] = pages[PAGE] = pages[2 * PAGE] = 1;
    printf("advised %s", error(madvise(pages + 1, PAGE, MADV_DONTNEED)));
    printf(" %d%d%d", pages[0], pages[1], pages[PAGE]);
    printf(", rounded up %s", error(madvise(pages, PAGE + 1, MADV_DONTNEED)));
    printf(" %d%d", pages[0], pages[PAGE]);
    printf(", unknown %s", error(madvise(pages, PAGE, -1)));
    printf(", in children %s", error(madvise(pages, PAGE, MADV_WIPEONFORK)));
    munmap(pages + PAGE, PAGE);
    printf(", a hole %s", error(madvise(pages, 3 * PAGE, MADV_DONTNEED)));
    printf(" %d", pages[2 * PAGE]);
    printf(", nothing %s\n", error(madvise(pages, 0, MADV_DONTNEED)));
}

int main(void)
{
    signal(SIGSEGV, caught);
    signal(SIGBUS, caught);
    seal();
    grow_a_file();
    remap();
    unmap();
    attach();
    advise();
    return 0;
}
