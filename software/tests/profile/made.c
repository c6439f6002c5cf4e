/* Writes a function into memory, calls it, and has a signal handler return. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static volatile sig_atomic_t handled;

static void handle(int number)
{
    handled = number;
}

int main(void)
{
    /* loop: addi a0, a0, -1; bnez a0, loop; ret */
    static const uint32_t counts_down[] = {0xfff50513, 0xfe051ee3, 0x00008067};
    void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memcpy(code, counts_down, sizeof counts_down);
    if (mprotect(code, 4096, PROT_READ | PROT_EXEC) != 0)
        return 1;
    __builtin___clear_cache((char *)code, (char *)code + sizeof counts_down);
    long left = ((long (*)(long))code)(100000);
    signal(SIGUSR1, handle);
    raise(SIGUSR1);
    printf("%ld %d\n", left, handled == SIGUSR1);
    return 0;
}
