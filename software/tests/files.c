/* Files and folders below the folder that is given: what is written is there, whoever looks, and folders have names. */
#define _GNU_SOURCE
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *error(long result)
{
    return result < 0 ? strerrorname_np(errno) : "ok";
}

static void map(void)
{
    char text[16] = "";
    int file = open("mapped", O_RDWR | O_CREAT, 0644);
    printf("truncate %s\n", error(ftruncate(file, 5000)));
    char *one = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    char *other = mmap(0, 4096, PROT_READ, MAP_SHARED, file, 0);
    strcpy(one + 10, "written");
    pread(file, text, 8, 10);
    printf("read %s, mapped %s\n", text, other + 10);
    pwrite(file, "changed", 8, 4990);
    printf("seen %s, sync %s, resident %s\n", one + 4990, error(msync(one, 8192, MS_SYNC)),
           error(mincore(one, 8192, (unsigned char *)text)));
    int reader = open("mapped", O_RDONLY);
    printf("writable %s\n", mmap(0, 4096, PROT_WRITE, MAP_SHARED, reader, 0) == MAP_FAILED ? strerrorname_np(errno) : "mapped");
    munmap(one, 8192);
    printf("kept %s\n", other + 10);
    close(reader);
    close(file);
}

static void list(void)
{
    DIR *folder = opendir(".");
    struct dirent *entry;
    while ((entry = readdir(folder))) printf("entry %s %d\n", entry->d_name, entry->d_type);
    rewinddir(folder);
    printf("again %s\n", readdir(folder)->d_name);
    closedir(folder);
}

static void name(void)
{
    char text[32] = "";
    struct stat status;
    printf("folder %s, link %s, symlink %s\n", error(mkdir("sub", 0755)), error(link("mapped", "sub/same")),
           error(symlink("mapped", "soft")));
    printf("readlink %zd %s\n", readlink("soft", text, 31), text);
    printf("links %d", (lstat("soft", &status), S_ISLNK(status.st_mode)));
    printf(" %d\n", (int)(stat("sub/same", &status), status.st_nlink));
    list();
    printf("occupied %s, no folder %s, rename %s\n", error(rmdir("sub")), error(rmdir("mapped")),
           error(rename("sub/same", "moved")));
    printf("no replacing %s\n", error(renameat2(AT_FDCWD, "moved", AT_FDCWD, "soft", RENAME_NOREPLACE)));
    printf("removed %s %s %s\n", error(rmdir("sub")), error(unlink("soft")), error(unlink("mapped")));
    struct timespec times[2] = {{1, 2}, {3, 4}};
    printf("times %s", error(utimensat(AT_FDCWD, "moved", times, 0)));
    stat("moved", &status);
    printf(" %ld.%ld, mode %s", status.st_mtim.tv_sec, status.st_mtim.tv_nsec, error(chmod("moved", 0600)));
    printf(" %o\n", (stat("moved", &status), status.st_mode & 0777));
    printf("outside %s, gone %s\n", error(rename("moved", "../moved")), error(access("mapped", R_OK)));
}

/* Whether a folder goes on where it was left, and names what has come meanwhile when it is read from its start. */
static void list_in_pieces(void)
{
    DIR *folder = opendir(".");
    readdir(folder), readdir(folder);
    long place = telldir(folder);
    char next[16] = "";
    strncpy(next, readdir(folder)->d_name, 15);
    lseek(dirfd(folder), 0, SEEK_CUR);
    while (readdir(folder)) {}
    seekdir(folder, place);
    printf("went on %d", strcmp(next, readdir(folder)->d_name));
    mkdir("later", 0700);
    rewinddir(folder);
    int found = 0;
    for (struct dirent *entry; (entry = readdir(folder));) found += !strcmp(entry->d_name, "later");
    printf(", later %d, end %s\n", found, error(lseek(dirfd(folder), -1, SEEK_SET)));
    rmdir("later");
    closedir(folder);
}

/* Whether files that come after others have gone are taken for these. */
static void number(void)
{
    struct stat first, again, last;
    int file = open("first", O_RDWR | O_CREAT, 0600);
    fstat(file, &first);
    unlink("first");
    fstat(file, &again);
    close(file);
    int others = 0;
    for (int i = 0; i < 20; i++) {
        file = open("other", O_RDWR | O_CREAT, 0600);
        fstat(file, &last);
        others += last.st_ino == first.st_ino;
        close(file);
        unlink("other");
        first = last;
    }
    printf("same %d, taken for another %d", first.st_ino != again.st_ino, others);
    printf(", negative %s %s", error(ftruncate(1, -1)), error(truncate("none", -1)));
    FILE *unnamed = tmpfile();
    fputs("unnamed", unnamed);
    rewind(unnamed);
    char text[16] = "";
    printf(", %s", fgets(text, 16, unnamed));
    struct rlimit limit = {2000, 4096};
    setrlimit(RLIMIT_NOFILE, &limit);
    int count = 0;
    while ((file = open("/dev/null", O_RDONLY)) >= 0) count++;
    printf(", opened %d %s\n", count > 1900 && count < 2000, strerrorname_np(errno));
    for (int i = 1999; count--; i--) close(i);
}

/* Links to what is the simulator's own. */
static void link_out(void)
{
    char text[8] = "";
    symlink("/proc/self/fd", "out");
    symlink("out/0", "descriptor");
    symlink("/proc/self/exe", "oneself");
    printf("links out %s %s", error(open("out/0", O_RDONLY)), error(open("descriptor", O_RDONLY)));
    printf(" %s %s", error(open("descriptor", O_WRONLY)), error(truncate("out/1", 0)));
    int file = open("oneself", O_RDONLY);
    printf(", oneself %s\n", (read(file, text, 4), text + 1));
    close(file);
    unlink("out"), unlink("descriptor"), unlink("oneself");
}

static void copy(void)
{
    char text[32] = "";
    int from = memfd_create("from", 0), to = memfd_create("to", 0);
    pwritev(from, (struct iovec[]){{"abc", 3}, {"defg", 4}}, 2, 0);
    off_t offset = 1;
    loff_t begin = 3, end = 6;
    printf("sendfile %zd", sendfile(to, from, &offset, 3));
    printf(" to %ld, copy %zd, at %ld\n", (long)offset, copy_file_range(from, &begin, to, &end, 10, 0), (long)end);
    ssize_t count = pread(to, text, 31, 0);
    for (ssize_t i = 0; i < count; i++) putchar(text[i] ? text[i] : '.');
    printf("\nallocate %s", error(fallocate(to, 0, 0, 100)));
    printf(" %ld\n", (long)lseek(to, 0, SEEK_END));
}

static void look_at_oneself(void)
{
    Elf64_Ehdr header = {0};
    char path[64] = "", again[16] = "";
    int file = open("/proc/self/exe", O_RDONLY);
    printf("machine %d", (read(file, &header, sizeof header), header.e_machine));
    readlink("/proc/self/exe", path, 63);
    file = open(path, O_RDONLY);
    printf(" %s", (read(file, again, 4), again + 1));
    FILE *words = fopen("/proc/self/comm", "r");
    printf(" %s", fgets(again, 16, words));
    char line[64] = "";
    words = fopen("/proc/self/status", "r");
    while (words && fgets(line, 64, words) && strncmp(line, "TracerPid", 9)) continue;
    line[strcspn(line, "\n")] = 0;
    unsigned ids[3] = {1, 1, 1};
    int zero = open("/dev/zero", O_RDWR);
    char *zeros = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, zero, 0);
    printf("%s, user %s %u", line, error(getresuid(&ids[0], &ids[1], &ids[2])), ids[0] + ids[1] + ids[2]);
    printf(", fixed addresses %d", personality(0xffffffff) == ADDR_NO_RANDOMIZE);
    printf(", zeros %s %d", zeros == MAP_FAILED ? "none" : "ok", zeros[4095]);
    printf(", ahead %s %s\n", error(readahead(file, 0, 100)), error(readahead(1, 0, 100)));
}

static void open_in_odd_ways(void)
{
    int locked = open("lock", O_RDONLY | O_CREAT, 0640);
    struct stat found;
    printf("read alone %s, mode %o", error(locked), fstat(locked, &found) ? 0 : found.st_mode & 0777);
    int file = open("log", O_RDWR | O_CREAT | O_TRUNC, 0600);
    write(file, "first", 5);
    lseek(file, 0, SEEK_SET);
    fcntl(file, F_SETFL, O_APPEND);
    write(file, "second", 6);
    printf(", appended %ld", (long)lseek(file, 0, SEEK_END));
    printf(", the host's %s", error(open("/proc/self/fd/5", O_RDONLY)));
    printf(", standard output %s\n", error(open("/dev/stdout", O_WRONLY | O_CREAT | O_TRUNC, 0600)));
    unlink("lock"), unlink("log");
}

int main(int count, char **words)
{
    if (count < 2 || chdir(words[1])) return 1;
    open_in_odd_ways();
    map();
    name();
    list_in_pieces();
    number();
    link_out();
    copy();
    look_at_oneself();
    return 0;
}
