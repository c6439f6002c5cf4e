/* Processes: each has tables, ranges and descriptors of its own; frames, blades and files are shared. */
#include "files.h"

/* As many as a page's number on its blade (28 bits) has room for. */
enum { MOST = 1 << (28 - PAGE_NUMBER_BITS), AGAIN = 11, NO_PROCESS = 3, NO_ENTRY = 2, TOO_BIG = 7, NO_PROGRAM = 8,
       NO_CHILD = 10, INVALID = 22, ALL_CLOSED = -1, NOT_WAITING = 1 };
/* Signals that nobody notices who has not asked for them, of the 64 of Linux. */
enum { LAST_SIGNAL = 64, CHILD = 17, CONTINUE = 18, URGENT = 23, WINDOW = 28 };

static struct process processes[MOST];
struct process *process;

void processes_start(void) {
  process = &processes[0];
  process->number = FIRST_PROCESS;
  process->root = tables_root();
}

uint64_t process_satp(const struct process *of) { return 8ul << 60 | (uint64_t)of->root >> 12; }

uint64_t process_page(uint64_t address) {
  return (uint64_t)(process - processes) << PAGE_NUMBER_BITS | address / PAGE;
}

static struct process *unused(void) {
  for (unsigned index = 0; index < MOST; ++index) {
    if (!processes[index].number) return &processes[index];
  }
  return NULL;
}

static struct process *numbered(int64_t number) {
  for (unsigned index = 0; index < MOST; ++index) {
    if (number > 0 && processes[index].number == number) return &processes[index];
  }
  return NULL;
}

/* One page of `process` into the other. */
static void copy_page(struct process *into, uint64_t *entry, uint64_t address, uint64_t rights, uint64_t number_at,
                      uint32_t number) {
  static uint8_t __attribute__((aligned(8))) contents[PAGE];
  struct process *from = process;
  copy_bytes(contents, page_contents(entry), PAGE);
  if (number_at / PAGE == address / PAGE) copy_bytes(contents + number_at % PAGE, &number, sizeof number);
  process = into;
  page_fill(tables_entry(address, true), address, rights, contents);
  process = from;
}

/* All pages of a range that were ever written or read. */
static void copy_region(struct process *into, const struct region *region, uint64_t number_at, uint32_t number) {
  const uint64_t table_bytes = PAGE / 8 * PAGE;
  for (uint64_t address = region->start; address < region->end; address += PAGE) {
    uint64_t *entry = tables_entry(address, false);
    if (!entry) address = (address | (table_bytes - 1)) + 1 - PAGE;
    else if ((*entry & ENTRY_VALID) || entry_is(*entry, ENTRY_REMOTE))
      copy_page(into, entry, address, region->rights, number_at, number);
  }
}

int64_t process_fork(const struct registers *registers, uint64_t number_at) {
  struct process *child = unused();
  if (!child) return -AGAIN;
  uint64_t *root = child->root;
  *child = *process;
  child->root = root ? root : tables_root();
  child->parent = process->number;
  child->threads = 0;
  struct registers copy = *registers;
  copy.a[0] = 0;
  if (registers->a[1]) copy.sp = registers->a[1];
  child->number = thread_fork(&copy, child);
  if (!child->number) return -AGAIN;
  descriptors_copy(child);
  for (unsigned index = 0; index < process->region_count; ++index)
    copy_region(child, &process->regions[index], number_at, child->number);
  return child->number;
}

/* Gives all memory of `process` back. */
static void forget_memory(void) {
  harts_stop();
  region_unmap(0, ADDRESS_END);
  harts_go();
}

void process_end(struct process *ended, int status) {
  if (ended->number == FIRST_PROCESS) stop(status & 127 ? 128 + (status & 127) : status >> 8);
  struct process *asking = process;
  process = ended;
  ended->status = status;
  forget_memory();
  descriptors_close((uint32_t)ALL_CLOSED);
  process = asking;
  threads_end(ended);
}

void process_gone(struct process *gone) {
  for (unsigned index = 0; index < MOST; ++index) {
    struct process *child = &processes[index];
    if (!child->number || child->parent != gone->number) continue;
    child->parent = 0;
    if (!child->threads) child->number = 0;
  }
  struct process *parent = numbered(gone->parent);
  if (parent) threads_wake(parent);
  else gone->number = 0;
}

int64_t process_wait(int64_t number, int32_t *status, uint64_t options) {
  for (;;) {
    bool any = false;
    for (unsigned index = 0; index < MOST; ++index) {
      struct process *child = &processes[index];
      if (!child->number || child->parent != process->number) continue;
      if (number > 0 && child->number != number) continue;
      any = true;
      if (child->threads) continue;
      if (status) *status = child->status;
      int64_t ended = child->number;
      child->number = 0;
      return ended;
    }
    if (!any) return -NO_CHILD;
    if (options & NOT_WAITING) return 0;
    thread_wait(process);
  }
}

int64_t process_kill(int64_t number, int signal) {
  struct process *killed = numbered(number);
  if (signal < 0 || signal > LAST_SIGNAL) return -INVALID;
  if (!killed) return -NO_PROCESS;
  if (!killed->threads || signal == 0 || signal == CHILD || signal == CONTINUE || signal == URGENT || signal == WINDOW)
    return 0;
  process_end(killed, signal);
  if (killed == process) thread_leave();
  return 0;
}

/* Adds those of a list that null ends. */
static bool take_strings(struct strings *strings, uint64_t list) {
  for (const char *const *next = (const char *const *)list; next && *next; ++next) {
    if (!strings_add(strings, *next)) return false;
  }
  return true;
}

int64_t process_execute(struct registers *registers) {
  static struct strings strings;
  const uint64_t *a = registers->a;
  const struct file *file = file_at((const char *)a[0]);
  if (!file) return -NO_ENTRY;
  if (!load_possible(file)) return -NO_PROGRAM;
  if (process->threads > 1) return -AGAIN;
  strings.count = 0;
  strings.bytes = 0;
  if (!take_strings(&strings, a[1])) return -TOO_BIG;
  strings.arguments = strings.count;
  if (!take_strings(&strings, a[2])) return -TOO_BIG;
  forget_memory();
  descriptors_close(process->close_on_execute);
  thread_set_clear(0);
  struct start start = load_program(file, &strings);
  registers->pc = start.pc;
  registers->sp = start.sp;
  __asm__ volatile("csrw fcsr, zero");
  return 0;
}
