/* What the parts of the paging runtime share; README.md says what each is for. */
#ifndef RACKWRIGHT_PAGING_H
#define RACKWRIGHT_PAGING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PAGE = 4096 };

/* A program's addresses are below 2^35, so that the number of a page on its blade has room for the process, too. */
enum { ADDRESS_BITS = 35, PAGE_NUMBER_BITS = ADDRESS_BITS - 12 };
#define ADDRESS_END (1ul << ADDRESS_BITS)
/* Memory as the supervisor sees it: a part of each process's addresses that programs may not use. */
#define SUPERVISOR 0x80000000ul
#define SUPERVISOR_END 0xc0000000ul
/* Devices as the supervisor sees them: all physical addresses below 1 GiB are mapped from here on. */
#define DEVICES 0xffffffc000000000ul

/* Bits of an entry of the page tables (privileged manual 20211203, section 4.4.1). */
enum {
  ENTRY_VALID = 1,
  ENTRY_READ = 2,
  ENTRY_WRITE = 4,
  ENTRY_EXECUTE = 8,
  ENTRY_USER = 16,
  ENTRY_ACCESSED = 64,
  ENTRY_DIRTY = 128,
  ENTRY_RIGHTS = ENTRY_READ | ENTRY_WRITE | ENTRY_EXECUTE | ENTRY_USER,
};

/* An entry that is not valid belongs to software. README.md has its format: rights as in a valid one, and
   what the page is: nothing yet (0), on a blade, or nothing any more but with a version that was used. */
#define ENTRY_KIND (3ul << 8)
#define ENTRY_REMOTE (1ul << 8)
#define ENTRY_BLANK (2ul << 8)

static inline uint16_t entry_version(uint64_t entry) { return (uint16_t)(entry >> 10); }
static inline uint64_t entry_page(uint64_t entry) { return entry >> 26 & 0xfffffff; }
static inline unsigned entry_blade(uint64_t entry) { return entry >> 54 & 0xff; }
static inline bool entry_is(uint64_t entry, uint64_t kind) {
  return !(entry & ENTRY_VALID) && (entry & ENTRY_KIND) == kind;
}

static inline uint64_t entry_remote(uint64_t rights, uint16_t version, uint64_t page, unsigned blade) {
  return (rights & ENTRY_RIGHTS) | ENTRY_REMOTE | (uint64_t)version << 10 | page << 26 | (uint64_t)blade << 54;
}

/* What stays of an entry when its page is unmapped: the next store must have a newer version. */
static inline uint64_t entry_blank(uint64_t remote) {
  return entry_version(remote) ? (remote & ~(ENTRY_RIGHTS | ENTRY_KIND)) | ENTRY_BLANK : 0;
}

static inline uint64_t cycles(void) {
  uint64_t value;
  __asm__ volatile("csrr %0, cycle" : "=r"(value) : : "memory");
  return value;
}

/* Forgets the translation of a user's address. */
static inline void fence_address(uint64_t address) {
  __asm__ volatile("sfence.vma %0, zero" : : "r"(address) : "memory");
}

/* console.c: text for the program's standard output, and the end. */
void print_bytes(const char *bytes, size_t count);
void print(const char *text);
void print_decimal(uint64_t value);
void stop(int status) __attribute__((noreturn));
/* Ends the run with a line that says why. */
void fail(const char *why, uint64_t about) __attribute__((noreturn));

/* bytes.c */
void copy_bytes(void *to, const void *from, uint64_t count);
void clear_bytes(void *place, uint64_t count);
bool same_text(const char *one, const char *other);

/* tables.c: page tables. `tables_start` may be called in machine mode. */
void tables_start(void);
/* Tables of a further process, with nothing in them but the supervisor. */
uint64_t *tables_root(void);
/* A page of zeros that is never given back. */
void *tables_page(void);
/* The place of the entry of a page of `process`; null when there is no table and `make` is false. */
uint64_t *tables_entry(uint64_t address, bool make);

/* frames.c: the frames that user pages live in, and which leave. A frame's record has the place of the entry of the
   page in it, a multiple of 8, and in its lowest bits one of these; 0 when no page is in it. The page-fault unit writes
   the records of pages that it brings. */
enum frame_state { FRAME_STORED = 1, FRAME_CHANGED = 3, FRAME_LEAVING = 2, FRAME_STATE = 7 };
struct frame {
  uint64_t word;
  uint64_t remote; /* the entry that the page has when it is on its blade */
};
static inline bool frame_mapped(const struct frame *frame) { return frame->word & 1; }
static inline uint64_t *frame_entry(const struct frame *frame) {
  return (uint64_t *)(frame->word & ~(uint64_t)FRAME_STATE);
}
/* Of so many more frames the unit has written the record. */
void frames_recorded(unsigned count);
/* So many frames, of which that many are made free at once; 0: as fits. Pages leave by the clock algorithm if `order` is
   0, else its hand jumps, to places that `order` decides. */
void frames_start(unsigned count, unsigned batch, unsigned order);
/* Frames evicted at once, and free ones; of these, so many are not lent to the unit. */
enum { FRAMES_KEPT = 2 };
unsigned frames_batch(void);
unsigned frames_free(void);
struct frame *frame_at(unsigned index);
unsigned frame_index(const struct frame *frame);
uint8_t *frame_bytes(const struct frame *frame);
struct frame *frame_of_bytes(uint64_t address);
/* A frame for a page; pages leave when there is none. */
struct frame *frame_take(void);
/* The same, or null. */
struct frame *frame_take_free(void);
void frame_free(struct frame *frame);
/* Where the memory of frames begins. */
const uint8_t *frames_begin(void);
/* Has pages leave when few frames are free. */
void frames_reclaim(void);
/* From now on a page lives in the frame: puts it into the entry. `stored`: the blade has it as it is. */
void frame_map(struct frame *frame, uint64_t *entry, uint64_t remote, bool stored);
uint64_t frame_user_address(const struct frame *frame);

/* blade.c: the software's way to the blades. */
void blade_start(void);
/* Has a frame sent to its blade; it is free when the blade has answered. */
void blade_store(struct frame *frame);
/* Gets a page into some frame. */
struct frame *blade_fetch(uint64_t remote);
/* Waits until something has happened. */
void blade_wait(void);

/* unit.c: the same by the page-fault unit. */
void unit_start(void);
void unit_store(struct frame *frame);
/* Takes notice of pages that the unit has brought and of frames that have left, has pages leave, gives frames. */
void unit_serve(void);
void unit_wait(void);
/* Waits until no page is on its way that the program has prefetched: the unit writes entries only while some are. */
void unit_settle(void);
/* Has the unit begin to bring a page, into a frame of those that software has kept. */
void unit_begin(uint64_t *entry);
/* Waits for a page as the hart's walk does; false when it is refused for lack of a frame. */
bool unit_fetch(uint64_t *entry);

/* fault.c */
struct registers {
  uint64_t pc, status, ra, sp, gp, t[7], a[8];
  uint64_t s[12]; /* only in a call that makes a thread or a process */
};
void trap(struct registers *registers, uint64_t cause, uint64_t value);
/* Where the contents of a page are that has some: local, or brought now. */
const uint8_t *page_contents(uint64_t *entry);
/* Puts contents into a page that has none. */
void page_fill(uint64_t *entry, uint64_t address, uint64_t rights, const uint8_t *contents);

/* regions.c: which addresses `process` has, and what is in them at first. */
struct region {
  uint64_t start, end, rights;
  const uint8_t *file; /* null: zeros */
  uint64_t file_start, file_bytes;
};

/* processes.c */
enum { FIRST_PROCESS = 1, MOST_REGIONS = 96, MOST_DESCRIPTORS = 32 };
struct process {
  uint64_t *root; /* of its tables, which outlive it: the next one in its place must know versions that were used */
  struct region regions[MOST_REGIONS];
  unsigned region_count;
  uint64_t break_start, break_end;
  struct opened *descriptors[MOST_DESCRIPTORS];
  uint32_t close_on_execute; /* a bit for each descriptor */
  uint32_t number, parent;   /* number 0: none is in this place; parent 0: nobody waits for it */
  unsigned threads;          /* 0: it has ended, and the parent has not asked yet */
  int status;                /* as Linux tells it of one that has ended */
};
/* That of the thread that is in the runtime. */
extern struct process *process;
/* May be called in machine mode. */
void processes_start(void);
/* What a hart's satp is in the process. */
uint64_t process_satp(const struct process *of);
/* The number of a page of `process` on its blade. */
uint64_t process_page(uint64_t address);
/* All of its threads end; the one that calls does so by `thread_leave`. The run ends with the first process. */
void process_end(struct process *ended, int status);
/* Its last thread has ended. */
void process_gone(struct process *gone);
/* Linux's calls. */
int64_t process_fork(const struct registers *registers, uint64_t number_at);
int64_t process_wait(int64_t number, int32_t *status, uint64_t options);
int64_t process_kill(int64_t number, int signal);
int64_t process_execute(struct registers *registers);

struct region *region_of(uint64_t address);
/* Maps a range in place of what was there. */
void region_map(uint64_t start, uint64_t end, uint64_t rights, const uint8_t *file, uint64_t file_start,
                uint64_t file_bytes);
void region_unmap(uint64_t start, uint64_t end);
/* Forgets what was written to a range. */
void region_forget(uint64_t start, uint64_t end);
bool region_protect(uint64_t start, uint64_t end, uint64_t rights);
/* A free range below `top`. */
uint64_t region_gap(uint64_t bytes);

/* load.c: programs. The strings that one is given: its arguments, and behind them its environment. */
struct strings {
  unsigned count, arguments;
  uint64_t bytes;
  char text[8192];
};
enum { MOST_STRINGS = 120 };
/* Programs are below; a heap of 512 MiB behind one has room. */
#define LOADED_END 0x40000000ul
/* False when there are too many, or they are too long. */
bool strings_add(struct strings *strings, const char *text);
struct start {
  uint64_t pc, sp;
};
struct file;
/* Whether it is a static RV64 Linux program, in one piece, for addresses that there are. */
bool load_possible(const struct file *file);
/* Into `process`, which has no pages. */
struct start load_program(const struct file *file, const struct strings *strings);

/* calls.c: Linux. */
void linux_call(struct registers *registers);

/* harts.c: what harts do to one another. One of them at a time is in the runtime, once there are several. */
enum { MOST_HARTS = 8, HART_STACK = 4096 };
extern unsigned hart_count;
extern uint8_t hart_stacks[MOST_HARTS][HART_STACK];
/* Where a hart behind the first comes, in machine mode. */
void further_hart_begins(void) __attribute__((noreturn));
void kernel_enter(void);
void kernel_leave(void);
/* Calls the harts behind the first, which begin with `hart_loop`. */
void harts_start(unsigned count);
/* Has the others stand still while entries that they may use are changed. They forget all translations. */
void harts_stop(void);
void harts_go(void);
/* A thread is ready: one of the harts that wait for that goes on. */
void harts_wake(void);
/* Waits for that, out of the runtime. */
void hart_idle(unsigned hart, const volatile uint64_t *until);

/* threads.c */
struct switched;
/* The first thread of the first process. */
void threads_start(uint64_t pc, uint64_t sp);
void hart_loop(unsigned hart) __attribute__((noreturn));
/* A thread has come into the runtime; it goes no further if its process has ended. */
void thread_entered(void);
/* The hart, and the number, of the thread that is in the runtime. */
unsigned thread_hart(void);
uint32_t thread_number(void);
void thread_yield(void);
/* Waits until `threads_wake` is told the same; ends the run when nobody is left who could. */
void thread_wait(const void *until);
void threads_wake(const void *until);
/* Goes on in a new process as a copy of the one that is in the runtime: its number, or 0 when there are too many. */
uint32_t thread_fork(const struct registers *registers, struct process *into);
/* All others of a process end: at once, or when they next come into the runtime. */
void threads_end(const struct process *of);
/* The one that is in the runtime ends, and nothing is said of it. */
void thread_leave(void) __attribute__((noreturn));
/* Gives way when its time is over. */
void thread_slice(void);
/* Linux's calls. */
int64_t thread_clone(const struct registers *registers);
int64_t thread_futex(const uint64_t *arguments);
void thread_set_clear(uint64_t address);
void thread_exit(int status) __attribute__((noreturn));

/* start.S */
void enter_supervisor(uint64_t satp, void (*main)(void)) __attribute__((noreturn));
/* Waits until the NIC has received something or `time` has that value. */
void wait_until_time(uint64_t time);
/* Waits until that is not zero, or another hart calls. */
void wait_until_nonzero(const volatile uint64_t *word);
void thread_first(void);
uint64_t user_status(void);
/* Puts the floating-point registers there. */
void keep_floating(struct switched *switched);
void switch_context(struct switched **from, struct switched *to);

/* How pages are brought. */
extern bool by_unit;
extern unsigned blade_count;
extern uint64_t blade_address[];

/* What has happened. */
struct statistics {
  uint64_t remote_faults, first_touches, evictions, stores, retries;
  uint64_t fault_cycles, metadata_cycles, metadata_pages, reclaim_cycles, fetch_cycles, call_cycles;
  uint64_t peak_pages;
};
extern struct statistics statistics;

#endif
