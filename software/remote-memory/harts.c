#include "paging.h"

/* Registers of the interruptor (software/bare-metal/README.md). */
#define SOFTWARE_INTERRUPTS ((volatile uint32_t *)(DEVICES + 0x02000000))

unsigned hart_count = 1;

/* What start.S shares with harts that stand still. */
volatile uint32_t hart_stop;
volatile uint32_t hart_stopped[MOST_HARTS];

static volatile uint32_t lock;
static bool idle[MOST_HARTS];
static unsigned depth;

/* Stacks of harts that have no thread. */
uint8_t __attribute__((aligned(16), section(".noinit"))) hart_stacks[MOST_HARTS][HART_STACK];

static void call(unsigned hart) { SOFTWARE_INTERRUPTS[hart] = 1; }

static void barrier(void) { __asm__ volatile("fence" : : : "memory"); }

void kernel_enter(void) {
  if (hart_count == 1) return;
  uint32_t taken;
  do {
    while (lock) {
    }
    __asm__ volatile("amoswap.w.aq %0, %2, %1" : "=r"(taken), "+A"(lock) : "r"(1) : "memory");
  } while (taken);
}

void kernel_leave(void) {
  if (hart_count > 1) __asm__ volatile("amoswap.w.rl zero, zero, %0" : "+A"(lock) : : "memory");
}

void harts_start(unsigned count) {
  hart_count = count;
  kernel_enter();
  for (unsigned hart = 1; hart < count; ++hart) call(hart);
}

/* Only who has entered the kernel gets here, so that nobody stops who stops others. */
void harts_stop(void) {
  if (hart_count == 1 || depth++) return;
  hart_stop = 1;
  barrier();
  unsigned own = thread_hart();
  for (unsigned hart = 0; hart < hart_count; ++hart) {
    if (hart != own) call(hart);
  }
  for (unsigned hart = 0; hart < hart_count; ++hart) {
    while (hart != own && !hart_stopped[hart]) {
    }
  }
  barrier();
}

void harts_go(void) {
  if (hart_count == 1 || --depth) return;
  barrier();
  /* As the others will: a frame that one hart has emptied may get another's instructions. */
  __asm__ volatile("fence.i" : : : "memory");
  hart_stop = 0;
  for (unsigned hart = 0; hart < hart_count; ++hart) {
    while (hart_stopped[hart]) {
    }
  }
}

void harts_wake(void) {
  for (unsigned hart = 0; hart < hart_count; ++hart) {
    if (!idle[hart]) continue;
    idle[hart] = false;
    call(hart);
    return;
  }
}

void hart_idle(unsigned hart, const volatile uint64_t *until) {
  idle[hart] = true;
  kernel_leave();
  wait_until_nonzero(until);
  kernel_enter();
  idle[hart] = false;
}
