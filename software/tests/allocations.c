/* Every function of malloc's family, and a child that goes on with what its parent has allocated; prints what came of them. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int is_zero(const char *memory, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (memory[i]) return 0;
    return 1;
}

static size_t below(const void *memory, size_t alignment) { return (uintptr_t)memory % alignment; }

int main(void)
{
    char *text = malloc(10), *dirty = malloc(1000);
    printf("malloc %zu %d\n", below(text, 16), malloc_usable_size(text) >= 10);
    strcpy(text, "kept");
    memset(dirty, 0xff, 1000);
    free(dirty);
    char *clean = calloc(10, 100);
    volatile size_t much = SIZE_MAX / 2;
    printf("calloc %d %d\n", is_zero(clean, 1000), calloc(much, 3) == NULL && errno == ENOMEM);

    char *longer = realloc(text, 5000);
    const uintptr_t before = (uintptr_t)longer;
    printf("realloc %s %d\n", longer, malloc_usable_size(longer) >= 5000);
    longer = realloc(longer, 4000);
    printf("realloc %s %d\n", longer, (uintptr_t)longer == before);
    longer = realloc(longer, 5);
    printf("realloc %.4s %d\n", longer, malloc_usable_size(longer) < 4000);

    void *page = NULL;
    const int status = posix_memalign(&page, 4096, 5000);
    char *aligned = aligned_alloc(256, 512);
    memset(page, 1, 5000);
    memset(aligned, 2, 512);
    aligned = realloc(aligned, 20000);
    printf("aligned %d %zu %d %d\n", status, below(page, 4096), aligned[511], posix_memalign(&page, 24, 8) == EINVAL);
    free(page);
    free(aligned);

    const size_t huge = (size_t)3 << 29;
    char *mapped = malloc(huge);
    mapped[huge - 1] = 3;
    free(mapped);
    printf("huge %d %d\n", mapped != NULL, malloc(much) == NULL && errno == ENOMEM);
    fflush(stdout);

    const pid_t child = fork();
    if (child == 0) {
        char *own = malloc(100);
        strcpy(own, "child");
        longer = realloc(longer, 9000);
        printf("%s %.4s\n", own, longer);
        free(own);
        free(clean);
        exit(0);
    }
    int ended = -1;
    waitpid(child, &ended, 0);
    printf("parent %d %.4s %d\n", ended, longer, is_zero(clean, 1000));
    free(longer);
    free(clean);
    return 0;
}
