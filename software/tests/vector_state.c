// What signals and threads do to vector registers: a handler finds its own use of them forgotten when it has returned, and
// a new thread begins without any. Exits with 0, or with the number of what is wrong.
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <ucontext.h>

static volatile unsigned long type_of_thread;

static void handle(int signal) {
    (void)signal;
    // Another type and length, and all registers overwritten.
    __asm__ volatile(
        "vsetvli t0, x0, e8, m8, ta, ma\n"
        "vmv.v.i v0, 7\n vmv.v.i v8, 7\n vmv.v.i v16, 7\n vmv.v.i v24, 7\n"
        "csrwi vxrm, 1\n" ::: "t0", "memory");
}

static void *begin(void *unused) {
    unsigned long type;
    __asm__ volatile("csrr %0, vtype" : "=r"(type));
    type_of_thread = type;
    return unused;
}

int main(void) {
    uint32_t before[8], after[8];
    unsigned long length, type, rounding;
    for (int i = 0; i < 8; i++) before[i] = 0x1010101u * (unsigned)i + 3;
    signal(SIGUSR1, handle);
    __asm__ volatile(
        "vsetivli t0, 7, e32, m2, ta, ma\n vle32.v v30, (%0)\n csrwi vxrm, 2\n" ::"r"(before) : "t0", "memory");
    // The call itself must not use vectors: it is the kernel's, by hand.
    register long a0 __asm__("a0") = 0, a7 __asm__("a7") = 178;  // gettid
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a7) : "memory");
    register long a1 __asm__("a1") = SIGUSR1;
    a7 = 130;  // tkill
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1), "r"(a7) : "memory");
    __asm__ volatile(
        "csrr %0, vl\n csrr %1, vtype\n csrr %2, vxrm\n vse32.v v30, (%3)\n"
        : "=&r"(length), "=&r"(type), "=&r"(rounding)
        : "r"(after)
        : "memory");
    if (length != 7 || rounding != 2) return 1;
    if (type != 0xd1) return 2;
    for (int i = 0; i < 7; i++)
        if (before[i] != after[i]) return 3;
    pthread_t thread;
    if (pthread_create(&thread, 0, begin, 0) || pthread_join(thread, 0)) return 4;
    return type_of_thread >> 63 ? 0 : 5;
}
