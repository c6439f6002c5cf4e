/* Threads of the program, and what runs them: a queue of those that are ready, from which harts take. One gives way when
   it waits, ends or says so, or has come into the runtime after its time while others are ready. */
#include "paging.h"

enum {
  MOST = 64,
  STACK = 16384,
  SLICE = 2000000, /* cycles: 1 ms */
  AGAIN = 11,
  TIMED_OUT = 110,
  INVALID = 22,
};
enum { CLONE_VM = 0x100, CLONE_VFORK = 0x4000, CLONE_THREAD = 0x10000, CLONE_SETTLS = 0x80000, CLONE_PARENT_SETTID = 0x100000,
       CLONE_CHILD_CLEARTID = 0x200000, CLONE_CHILD_SETTID = 0x1000000 };
enum { FUTEX_WAIT = 0, FUTEX_WAKE = 1, FUTEX_REQUEUE = 3, FUTEX_COMPARE_REQUEUE = 4, FUTEX_WAIT_BITSET = 9,
       FUTEX_WAKE_BITSET = 10, FUTEX_COMMAND = 127 };

enum state { UNUSED, READY, RUNNING, WAITING };

/* What one waits for: a place in the memory of a process, or something of the runtime's, for which that is null. */
struct event {
  const struct process *of;
  uint64_t place;
};

/* At the bottom of a thread's stack in the supervisor. */
struct thread {
  struct switched *context;
  struct thread *next;
  struct process *process;
  struct event event;
  uint64_t clear, since;
  uint32_t number;
  unsigned hart;
  enum state state;
  bool ending;
};

/* What switch_context keeps on the stack: what C keeps, the user's tp and floating-point registers. */
struct switched {
  uint64_t ra, s[12], tp, f[32], fcsr, unused;
};

union stack {
  struct thread thread;
  uint8_t bytes[STACK];
};
static union stack __attribute__((aligned(STACK), section(".noinit"))) stacks[MOST];

static struct thread *first_ready, *last_ready;
static volatile uint64_t ready_count;
static uint32_t last_number;
static struct switched *schedulers[MOST_HARTS];

static struct thread *current(void) {
  uint64_t sp;
  __asm__ volatile("mv %0, sp" : "=r"(sp));
  return (struct thread *)(sp & ~(uint64_t)(STACK - 1));
}

unsigned thread_hart(void) { return current()->hart; }
uint32_t thread_number(void) { return current()->number; }

static void make_ready(struct thread *thread) {
  thread->state = READY;
  thread->next = NULL;
  if (first_ready) last_ready->next = thread;
  else first_ready = thread;
  last_ready = thread;
  ++ready_count;
  harts_wake();
}

static struct thread *take_ready(void) {
  struct thread *thread = first_ready;
  if (!thread) return NULL;
  first_ready = thread->next;
  --ready_count;
  return thread;
}

static void take_out(const struct thread *thread) {
  struct thread *all = first_ready;
  first_ready = NULL;
  ready_count = 0;
  for (struct thread *next; all; all = next) {
    next = all->next;
    if (all == thread) continue;
    all->next = NULL;
    if (first_ready) last_ready->next = all;
    else first_ready = all;
    last_ready = all;
    ++ready_count;
  }
}

static struct thread *unused(void) {
  for (unsigned index = 0; index < MOST; ++index) {
    if (stacks[index].thread.state == UNUSED) return &stacks[index].thread;
  }
  return NULL;
}

/* A thread that goes on in user mode with these registers. */
static struct thread *make(const struct registers *registers, uint64_t tp, struct process *of) {
  struct thread *thread = unused();
  if (!thread) return NULL;
  struct registers *frame = (struct registers *)((uint8_t *)thread + STACK) - 1;
  *frame = *registers;
  struct switched *context = (struct switched *)frame - 1;
  clear_bytes(context, sizeof *context);
  context->ra = (uint64_t)thread_first;
  context->tp = tp;
  *thread = (struct thread){.context = context, .process = of, .number = ++last_number};
  ++of->threads;
  make_ready(thread);
  return thread;
}

void threads_start(uint64_t pc, uint64_t sp) {
  for (unsigned index = 0; index < MOST; ++index) stacks[index].thread.state = UNUSED;
  static struct registers registers;
  registers.pc = pc;
  registers.sp = sp;
  registers.status = user_status();
  make(&registers, 0, process);
}

uint32_t thread_fork(const struct registers *registers, struct process *into) {
  uint64_t tp;
  __asm__ volatile("mv %0, tp" : "=r"(tp));
  struct thread *thread = make(registers, tp, into);
  if (!thread) return 0;
  keep_floating(thread->context);
  for (unsigned index = 0; index < sizeof registers->s / sizeof *registers->s; ++index)
    thread->context->s[index] = registers->s[index];
  return thread->number;
}

/* Has the hart do something else; comes back when the thread has its turn again. */
static void give_way(void) {
  struct thread *thread = current();
  switch_context(&thread->context, schedulers[thread->hart]);
  process = thread->process;
}

void thread_entered(void) {
  const struct thread *thread = current();
  process = thread->process;
  if (thread->ending) thread_leave();
}

/* The end, when nobody is left who could ever wake the others. */
static void check_progress(void) {
  for (unsigned index = 0; index < MOST; ++index) {
    enum state state = stacks[index].thread.state;
    if (state == READY || state == RUNNING) return;
  }
  fail("all threads of the program wait for one another:", last_number);
}

static void wait_for(struct event event) {
  struct thread *thread = current();
  thread->event = event;
  thread->state = WAITING;
  check_progress();
  give_way();
}

void thread_wait(const void *until) { wait_for((struct event){NULL, (uint64_t)until}); }

void thread_yield(void) {
  if (!ready_count) return;
  make_ready(current());
  give_way();
}

void thread_slice(void) {
  if (ready_count && cycles() - current()->since > SLICE) thread_yield();
}

void hart_loop(unsigned hart) {
  const struct process *entered = NULL;
  for (;;) {
    struct thread *thread = take_ready();
    if (!thread) {
      hart_idle(hart, &ready_count);
      continue;
    }
    if (thread->process != entered) {
      entered = thread->process;
      __asm__ volatile("csrw satp, %0\n sfence.vma" : : "r"(process_satp(entered)) : "memory");
    }
    thread->state = RUNNING;
    thread->hart = hart;
    thread->since = cycles();
    switch_context(&schedulers[hart], thread->context);
  }
}

int64_t thread_clone(const struct registers *registers) {
  const uint64_t *a = registers->a;
  uint64_t flags = a[0];
  if (!(flags & CLONE_THREAD)) {
    if ((flags & CLONE_VM) && !(flags & CLONE_VFORK)) return -INVALID;
    return process_fork(registers, flags & CLONE_CHILD_SETTID ? a[4] : 0);
  }
  if (!(flags & CLONE_VM)) return -INVALID;
  struct registers child = *registers;
  child.a[0] = 0;
  child.sp = a[1];
  struct thread *thread = make(&child, flags & CLONE_SETTLS ? a[3] : 0, process);
  if (!thread) return -AGAIN;
  if (flags & CLONE_CHILD_CLEARTID) thread->clear = a[4];
  if (flags & CLONE_PARENT_SETTID) *(uint32_t *)a[2] = thread->number;
  if (flags & CLONE_CHILD_SETTID) *(uint32_t *)a[4] = thread->number;
  return thread->number;
}

void thread_set_clear(uint64_t address) { current()->clear = address; }

/* Wakes up to `most` threads that wait there, or has them wait at another place if there is one. */
static int64_t wake(struct event event, uint64_t most, uint64_t elsewhere) {
  int64_t woken = 0;
  for (unsigned index = 0; index < MOST && (uint64_t)woken < most; ++index) {
    struct thread *thread = &stacks[index].thread;
    if (thread->state != WAITING || thread->event.of != event.of || thread->event.place != event.place) continue;
    thread->event.place = elsewhere;
    if (!elsewhere) make_ready(thread);
    ++woken;
  }
  return woken;
}

void threads_wake(const void *until) { wake((struct event){NULL, (uint64_t)until}, MOST, 0); }

static struct event at(uint64_t address) { return (struct event){process, address}; }

/* A wait that is limited ends at once, as if for no reason, which programs have to expect: they ask the time. */
static int64_t wait(const uint32_t *address, uint32_t value, const uint64_t *limit, bool absolute) {
  if (*(const volatile uint32_t *)address != value) return -AGAIN;
  if (limit) {
    uint64_t end = limit[0] * 1000000000 + limit[1];
    thread_yield();
    return (absolute ? cycles() / 2 >= end : end == 0) ? -TIMED_OUT : 0;
  }
  wait_for(at((uint64_t)address));
  return 0;
}

int64_t thread_futex(const uint64_t *a) {
  switch (a[1] & FUTEX_COMMAND) {
    case FUTEX_WAIT: return wait((const uint32_t *)a[0], (uint32_t)a[2], (const uint64_t *)a[3], false);
    case FUTEX_WAIT_BITSET: return wait((const uint32_t *)a[0], (uint32_t)a[2], (const uint64_t *)a[3], true);
    case FUTEX_WAKE:
    case FUTEX_WAKE_BITSET: return wake(at(a[0]), a[2], 0);
    case FUTEX_COMPARE_REQUEUE:
      if (*(const volatile uint32_t *)a[0] != (uint32_t)a[5]) return -AGAIN;
      /* fall through */
    case FUTEX_REQUEUE: {
      int64_t woken = wake(at(a[0]), a[2], 0);
      return woken + wake(at(a[0]), a[3], a[4]);
    }
    default: return -INVALID;
  }
}

static void release(struct thread *thread) {
  thread->state = UNUSED;
  if (--thread->process->threads == 0) process_gone(thread->process);
}

void thread_leave(void) {
  release(current());
  check_progress();
  give_way();
  __builtin_unreachable();
}

void thread_exit(int status) {
  struct thread *thread = current();
  if (process->threads == 1) process_end(process, status << 8);
  else if (thread->clear) {
    *(volatile uint32_t *)thread->clear = 0;
    wake(at(thread->clear), 1, 0);
  }
  thread_leave();
}

void threads_end(const struct process *of) {
  for (unsigned index = 0; index < MOST; ++index) {
    struct thread *thread = &stacks[index].thread;
    if (thread->state == UNUSED || thread->process != of || thread == current()) continue;
    if (thread->state == RUNNING) {
      thread->ending = true;
      continue;
    }
    if (thread->state == READY) take_out(thread);
    release(thread);
  }
}
