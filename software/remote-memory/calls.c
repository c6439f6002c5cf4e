#include "files.h"

/* Numbers of Linux's generic table of system calls, and of errors. */
enum call {
  EXIT = 93, EXIT_GROUP = 94, SET_TID_ADDRESS = 96, FUTEX = 98, SET_ROBUST_LIST = 99, CLOCK_GETTIME = 113,
  CLOCK_GETRES = 114, GET_AFFINITY = 123, SCHED_YIELD = 124, KILL = 129, TGKILL = 131, SIGALTSTACK = 132, SIGACTION = 134,
  SIGPROCMASK = 135, TIMES = 153, UNAME = 160, GETRUSAGE = 165, UMASK = 166, GETTIMEOFDAY = 169, GETPID = 172,
  GETUID = 174, GETEUID = 175, GETGID = 176, GETEGID = 177, GETPPID = 173, GETTID = 178, SYSINFO = 179, BRK = 214, MUNMAP = 215,
  MREMAP = 216, CLONE = 220, EXECVE = 221, MMAP = 222, MPROTECT = 226, MADVISE = 233, WAIT4 = 260, PRLIMIT = 261, GETRANDOM = 278,
};
enum { BAD_FILE = 9, NO_MEMORY = 12, INVALID = 22, NO_CALL = 38 };
enum { MAP_SHARED = 1, MAP_FIXED = 0x10, MAP_ANONYMOUS = 0x20, ADVICE_NOT_NEEDED = 4 };

static uint64_t failed(int error) { return (uint64_t)-error; }
static uint64_t up(uint64_t address) { return (address + PAGE - 1) & ~(uint64_t)(PAGE - 1); }

static uint64_t rights_of(uint64_t protection) {
  if (!protection) return 0;
  return ENTRY_USER | (protection & 3 ? ENTRY_READ : 0) | (protection & 2 ? ENTRY_WRITE : 0) |
         (protection & 4 ? ENTRY_EXECUTE | ENTRY_READ : 0);
}

static uint64_t set_break(uint64_t wanted) {
  const uint64_t rights = ENTRY_USER | ENTRY_READ | ENTRY_WRITE;
  uint64_t *end = &process->break_end;
  if (wanted < process->break_start || wanted > process->break_start + (1ul << 29)) return *end;
  uint64_t before = up(*end), after = up(wanted);
  if (after < before) region_unmap(after, before);
  if (after > before) region_map(before, after, rights, NULL, 0, 0);
  *end = wanted;
  return wanted;
}

/* A private mapping of a file: its bytes where they are, or copied. */
static void map_file(uint64_t start, uint64_t bytes, uint64_t rights, const struct file *file, uint64_t offset) {
  uint64_t size = file_size(file), there = offset < size ? size - offset : 0;
  if (there > bytes) there = bytes;
  const uint8_t *fixed = file_fixed(file, offset);
  if (fixed) {
    region_map(start, start + bytes, rights, fixed, start, there);
    return;
  }
  region_map(start, start + bytes, ENTRY_USER | ENTRY_READ | ENTRY_WRITE, NULL, 0, 0);
  file_read(file, offset, (uint8_t *)start, there);
  region_protect(start, start + bytes, rights);
}

/* Whether a program may have memory there. */
static bool possible(uint64_t start, uint64_t bytes) {
  uint64_t end = start + bytes;
  return end >= start && end <= ADDRESS_END && (end <= SUPERVISOR || start >= SUPERVISOR_END);
}

static uint64_t map(const uint64_t *a) {
  uint64_t bytes = up(a[1]), flags = a[3], start = a[0];
  const struct file *file = flags & MAP_ANONYMOUS ? NULL : file_of(a[4]);
  if (!(flags & MAP_ANONYMOUS) && !file) return failed(BAD_FILE);
  if (bytes == 0 || (flags & MAP_FIXED && start % PAGE)) return failed(INVALID);
  if (file && (flags & MAP_SHARED) && (a[2] & 2)) return failed(INVALID);
  if (!(flags & MAP_FIXED)) start = region_gap(bytes);
  if (!start || !possible(start, bytes)) return failed(NO_MEMORY);
  if (file) map_file(start, bytes, rights_of(a[2]), file, a[5]);
  else region_map(start, start + bytes, rights_of(a[2]), NULL, 0, 0);
  return start;
}

/* Moves by copying: only what was written has to be read. */
static uint64_t remap(uint64_t old, uint64_t old_bytes, uint64_t new_bytes, uint64_t flags) {
  old_bytes = up(old_bytes);
  new_bytes = up(new_bytes);
  if (new_bytes <= old_bytes) {
    if (new_bytes < old_bytes) region_unmap(old + new_bytes, old + old_bytes);
    return old;
  }
  struct region *region = region_of(old);
  if (!region || !(flags & 1)) return failed(NO_MEMORY);
  uint64_t rights = region->rights, start = region_gap(new_bytes);
  if (!start) return failed(NO_MEMORY);
  region_map(start, start + new_bytes, rights, NULL, 0, 0);
  for (uint64_t page = 0; page < old_bytes; page += PAGE) {
    uint64_t *entry = tables_entry(old + page, false);
    if (!entry || *entry == 0 || entry_is(*entry, ENTRY_BLANK)) continue;
    const uint64_t *from = (const uint64_t *)(old + page);
    uint64_t *to = (uint64_t *)(start + page);
    for (unsigned index = 0; index < PAGE / 8; ++index) to[index] = from[index];
  }
  region_unmap(old, old + old_bytes);
  return start;
}

static uint64_t tell_time(uint64_t *time, uint64_t divisor) {
  uint64_t nanoseconds = cycles() / 2;
  time[0] = nanoseconds / 1000000000;
  time[1] = nanoseconds % 1000000000 / divisor;
  return 0;
}

static uint64_t name(char *system) {
  static const char *const fields[] = {"Linux", "rackwright", "6.1.0", "#1", "riscv64", ""};
  clear_bytes(system, 6 * 65);
  for (unsigned field = 0; field < 6; ++field) {
    for (unsigned index = 0; fields[field][index]; ++index) system[65 * field + index] = fields[field][index];
  }
  return 0;
}

static uint64_t random_bytes(uint8_t *bytes, uint64_t count) {
  static uint64_t state = 0x9e3779b97f4a7c15;
  for (uint64_t index = 0; index < count; ++index) {
    state = state * 6364136223846793005 + 1442695040888963407;
    bytes[index] = (uint8_t)(state >> 56);
  }
  return count;
}

static uint64_t limits(uint64_t resource, uint64_t *old) {
  if (!old) return 0;
  old[0] = old[1] = resource == 3 ? 1 << 20 : ~0ul;
  return 0;
}

/* A bit for each hart. */
static uint64_t affinity(uint64_t *mask, uint64_t bytes) {
  if (bytes < sizeof *mask) return failed(INVALID);
  *mask = (1ul << hart_count) - 1;
  return sizeof *mask;
}

static uint64_t answer(uint64_t number, const uint64_t *a) {
  uint64_t about_files;
  if (file_call(number, a, &about_files)) return about_files;
  switch (number) {
    case BRK: return set_break(a[0]);
    case MMAP: return map(a);
    case MUNMAP: region_unmap(a[0], a[0] + up(a[1])); return 0;
    case MREMAP: return remap(a[0], a[1], a[2], a[3]);
    case MPROTECT: return region_protect(a[0], a[0] + up(a[1]), rights_of(a[2])) ? 0 : failed(NO_MEMORY);
    case CLOCK_GETTIME: return tell_time((uint64_t *)a[1], 1);
    case GETTIMEOFDAY: return tell_time((uint64_t *)a[0], 1000);
    case UNAME: return name((char *)a[0]);
    case GETRANDOM: return random_bytes((uint8_t *)a[0], a[1]);
    case PRLIMIT: return limits(a[1], (uint64_t *)a[3]);
    case GETPID: return process->number;
    case GETPPID: return process->parent;
    case WAIT4: return (uint64_t)process_wait((int32_t)a[0], (int32_t *)a[1], a[2]);
    case GETTID: return thread_number();
    case SET_TID_ADDRESS: thread_set_clear(a[0]); return thread_number();
    case FUTEX: return (uint64_t)thread_futex(a);
    case SCHED_YIELD: thread_yield(); return 0;
    case GET_AFFINITY: return affinity((uint64_t *)a[2], a[1]);
    case GETUID:
    case GETEUID:
    case GETGID:
    case GETEGID: return 1000;
    case UMASK:
    case SET_ROBUST_LIST:
    case SIGALTSTACK:
    case SIGACTION:
    case SIGPROCMASK: return 0;
    case MADVISE:
      if (a[2] == ADVICE_NOT_NEEDED) region_forget(a[0], a[0] + up(a[1]));
      return 0;
    case EXIT: thread_exit((int)a[0] & 0xff);
    case EXIT_GROUP: process_end(process, (int)(a[0] & 0xff) << 8); thread_leave();
    case KILL: return (uint64_t)process_kill((int32_t)a[0], (int)a[1]);
    case TGKILL: return (uint64_t)process_kill((int32_t)a[0], (int)a[2]);
    default: return failed(NO_CALL);
  }
}

void linux_call(struct registers *registers) {
  switch (registers->a[7]) {
    case CLONE: registers->a[0] = (uint64_t)thread_clone(registers); return;
    case EXECVE: registers->a[0] = (uint64_t)process_execute(registers); return;
    default: registers->a[0] = answer(registers->a[7], registers->a);
  }
}
