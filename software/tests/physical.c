/* Decompresses "beer" by a unit behind registers, as a driver would: root maps its page, and gives it physical addresses. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rackwright/registers.h"
#include "rackwright/rocc.h"
#include "units.h"

enum { PAGE = 4096 };

/* Of a page that is locked in memory: entries of pagemap hold the number of the frame. */
static uint64_t physical(const void *page)
{
    uint64_t entry = 0;
    const int map = open("/proc/self/pagemap", O_RDONLY);
    if (pread(map, &entry, sizeof entry, (off_t)((uintptr_t)page / PAGE * sizeof entry)) != sizeof entry) return 0;
    close(map);
    return (entry & ((UINT64_C(1) << 55) - 1)) * PAGE;
}

static void *locked_page(void)
{
    void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED, -1, 0);
    memset(page, 0, PAGE);
    return page;
}

int main(void)
{
    /* Each hart finds its own unit. */
    cpu_set_t last;
    CPU_ZERO(&last);
    CPU_SET(1, &last);
    if (sched_setaffinity(0, sizeof last, &last) != 0) return 1;
    const int memory = open("/dev/mem", O_RDWR | O_SYNC);
    if (memory < 0) return 2;
    void *mapped = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, memory, SNAPPY_DECOMPRESS_REGISTERS);
    if (mapped == MAP_FAILED) return 3;
    const uint64_t page = (uintptr_t)mapped;
    uint8_t *packed = locked_page(), *plain = locked_page();
    memcpy(packed, "\x04\x0c" "beer", 6);

    rackwright_fence();
    const uint64_t custom = SNAPPY_DECOMPRESS_CUSTOM;
    rackwright_register_command(page, custom, SNAPPY_DECOMPRESS_SRC, physical(packed), 6);
    rackwright_register_command(page, custom, SNAPPY_DECOMPRESS_LIMIT, PAGE, 0);
    rackwright_register_command(page, custom, SNAPPY_DECOMPRESS_DEST_AND_START, physical(plain), 0);
    (void)rackwright_register_query(page, custom, SNAPPY_DECOMPRESS_CHECK_COMPLETION);
    rackwright_fence();
    printf("%s, status %lu\n", (const char *)plain,
           (unsigned long)rackwright_register_query(page, custom, SNAPPY_DECOMPRESS_STATUS));
    return 0;
}
