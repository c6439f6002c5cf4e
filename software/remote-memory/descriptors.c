#include "files.h"

/* Numbers of Linux's generic table of system calls, and of errors. */
enum call {
  GETCWD = 17, DUP = 23, DUP3 = 24, FCNTL = 25, IOCTL = 29, UNLINKAT = 35, FTRUNCATE = 46, FACCESSAT = 48, FCHMOD = 52,
  FCHMODAT = 53, FCHOWN = 55, OPENAT = 56, CLOSE = 57, PIPE2 = 59, LSEEK = 62, READ = 63, WRITE = 64, READV = 65, WRITEV = 66,
  PREAD = 67, PWRITE = 68, READLINKAT = 78, NEWFSTATAT = 79, FSTAT = 80, FSYNC = 82, FDATASYNC = 83, UTIMENSAT = 88,
  FADVISE = 223, RENAMEAT2 = 276, FACCESSAT2 = 439,
};
enum { NO_ENTRY = 2, BAD_FILE = 9, EXISTS = 17, IS_DIRECTORY = 21, INVALID = 22, TOO_MANY = 24, NOT_A_TERMINAL = 25,
       NO_SPACE = 28, ILLEGAL_SEEK = 29, OUT_OF_RANGE = 34 };
enum { OPEN_ACCESS = 3, OPEN_CREATE = 0100, OPEN_EXCLUSIVE = 0200, OPEN_TRUNCATE = 01000, OPEN_APPEND = 02000, OPEN_CLOSE = 02000000 };
enum { EMPTY_PATH = 0x1000, MOST_OPENINGS = 128, LARGEST_WRITE = 1 << 20 };
enum kind { CLOSED, CONSOLE, NOTHING, DIRECTORY, REGULAR, PIPE };

/* What descriptors that were duplicated share. */
struct opened {
  uint8_t kind;
  unsigned descriptors;
  uint32_t flags;
  uint64_t offset;
  struct file *file;
  struct pipe *pipe;
};

static struct opened openings[MOST_OPENINGS];

static uint64_t failed(int error) { return (uint64_t)-error; }

void descriptors_start(void) {
  openings[0] = (struct opened){.kind = CONSOLE, .descriptors = 3};
  for (unsigned index = 0; index < 3; ++index) process->descriptors[index] = &openings[0];
  files_start();
}

static struct opened *opened_as(uint64_t descriptor) { return descriptor < MOST_DESCRIPTORS ? process->descriptors[descriptor] : NULL; }

struct file *file_of(uint64_t descriptor) {
  struct opened *opened = opened_as(descriptor);
  return opened && opened->kind == REGULAR ? opened->file : NULL;
}

/* From the root, in which everything is, or `tmp`. */
static const char *plain(const char *path) {
  for (;;) {
    if (*path == '/') ++path;
    else if (path[0] == '.' && (path[1] == '/' || !path[1])) ++path;
    else return path;
  }
}

struct file *file_at(const char *path) { return file_named(plain(path)); }

static bool is_directory(const char *name) { return !*name || same_text(name, "tmp"); }

static uint64_t describe(struct opened *opened, uint64_t least) {
  for (uint64_t number = least; number < MOST_DESCRIPTORS; ++number) {
    if (process->descriptors[number]) continue;
    process->descriptors[number] = opened;
    ++opened->descriptors;
    return number;
  }
  return failed(TOO_MANY);
}

static void set_close(uint64_t descriptor, bool close) {
  process->close_on_execute &= ~(1u << descriptor);
  process->close_on_execute |= (uint32_t)close << descriptor;
}

static void close_one(uint64_t descriptor) {
  struct opened *opened = process->descriptors[descriptor];
  process->descriptors[descriptor] = NULL;
  set_close(descriptor, false);
  if (--opened->descriptors) return;
  if (opened->kind == REGULAR) file_release(opened->file);
  if (opened->kind == PIPE) pipe_close(opened->pipe, opened->flags & OPEN_ACCESS);
  opened->kind = CLOSED;
}

static uint64_t open_as(uint8_t kind, struct file *file, uint64_t flags) {
  for (unsigned index = 0; index < MOST_OPENINGS; ++index) {
    struct opened *opened = &openings[index];
    if (opened->kind != CLOSED) continue;
    *opened = (struct opened){.kind = kind, .file = file, .flags = (uint32_t)flags};
    if (file) file_hold(file);
    uint64_t number = describe(opened, 0);
    if (opened->descriptors) {
      set_close(number, flags & OPEN_CLOSE);
      return number;
    }
    if (file) file_release(file);
    opened->kind = CLOSED;
    return number;
  }
  return failed(TOO_MANY);
}

static uint64_t open(const char *path, uint64_t flags) {
  const char *name = plain(path);
  if (same_text(name, "dev/null")) return open_as(NOTHING, NULL, flags);
  if (is_directory(name)) return flags & OPEN_ACCESS ? failed(IS_DIRECTORY) : open_as(DIRECTORY, NULL, flags);
  struct file *file = file_named(name);
  if (file && (flags & OPEN_CREATE) && (flags & OPEN_EXCLUSIVE)) return failed(EXISTS);
  if (!file && !(flags & OPEN_CREATE)) return failed(NO_ENTRY);
  if (!file) file = file_make(name);
  if (!file) return failed(NO_SPACE);
  if ((flags & OPEN_TRUNCATE) && (flags & OPEN_ACCESS)) file_resize(file, 0);
  return open_as(REGULAR, file, flags);
}

static uint64_t open_pipe(int32_t *numbers, uint64_t flags) {
  enum { WRITES = 1 };
  struct pipe *pipe = pipe_make();
  if (!pipe) return failed(TOO_MANY);
  for (unsigned end = 0; end < 2; ++end) {
    uint64_t number = open_as(PIPE, NULL, (flags & OPEN_CLOSE) | (end ? WRITES : 0));
    if (number >= MOST_DESCRIPTORS) {
      if (end) close_one((uint64_t)numbers[0]);
      else pipe_close(pipe, false);
      pipe_close(pipe, true);
      return number;
    }
    process->descriptors[number]->pipe = pipe;
    numbers[end] = (int32_t)number;
  }
  return 0;
}

static uint64_t read_at(struct opened *opened, uint64_t at, uint64_t bytes, uint64_t count) {
  if (opened->kind == DIRECTORY) return failed(IS_DIRECTORY);
  if (opened->kind == PIPE)
    return opened->flags & OPEN_ACCESS ? failed(BAD_FILE) : pipe_read(opened->pipe, (uint8_t *)bytes, count);
  return opened->kind == REGULAR ? file_read(opened->file, at, (uint8_t *)bytes, count) : 0;
}

static uint64_t write_at(struct opened *opened, uint64_t at, uint64_t bytes, uint64_t count) {
  if (opened->kind == REGULAR) {
    if (!(opened->flags & OPEN_ACCESS)) return failed(BAD_FILE);
    return file_write(opened->file, at, (const uint8_t *)bytes, count) == count ? count : failed(NO_SPACE);
  }
  if (opened->kind == PIPE)
    return opened->flags & OPEN_ACCESS ? pipe_write(opened->pipe, (const uint8_t *)bytes, count) : failed(BAD_FILE);
  if (count > LARGEST_WRITE) count = LARGEST_WRITE;
  if (opened->kind == CONSOLE) print_bytes((const char *)bytes, count);
  return opened->kind == DIRECTORY ? failed(BAD_FILE) : count;
}

static uint64_t move(struct opened *opened, uint64_t bytes, uint64_t count, bool write) {
  if (write && opened->kind == REGULAR && (opened->flags & OPEN_APPEND)) opened->offset = file_size(opened->file);
  uint64_t result = (write ? write_at : read_at)(opened, opened->offset, bytes, count);
  if ((int64_t)result > 0) opened->offset += result;
  return result;
}

static uint64_t move_vector(struct opened *opened, const uint64_t *vector, uint64_t count, bool write) {
  uint64_t moved = 0;
  for (uint64_t index = 0; index < count; ++index) {
    uint64_t result = move(opened, vector[2 * index], vector[2 * index + 1], write);
    if ((int64_t)result < 0) return moved ? moved : result;
    moved += result;
    if (result < vector[2 * index + 1]) break;
  }
  return moved;
}

static uint64_t seek(struct opened *opened, uint64_t offset, uint64_t from) {
  if (opened->kind != REGULAR) return failed(ILLEGAL_SEEK);
  if (from > 2) return failed(INVALID);
  uint64_t base = from == 0 ? 0 : from == 1 ? opened->offset : file_size(opened->file);
  if ((int64_t)(base + offset) < 0) return failed(INVALID);
  return opened->offset = base + offset;
}

/* struct stat of 64-bit architectures (include/uapi/asm-generic/stat.h). */
static uint64_t tell_status(uint8_t kind, const struct file *file, uint8_t *status) {
  clear_bytes(status, 128);
  *(uint64_t *)(status + 8) = file ? file_number(file) : 0;
  *(uint32_t *)(status + 16) = kind == REGULAR ? 0100644 : kind == DIRECTORY ? 0040755 : kind == PIPE ? 0010600 : 0020620;
  *(uint32_t *)(status + 20) = 1;
  *(uint32_t *)(status + 24) = *(uint32_t *)(status + 28) = 1000;
  *(uint64_t *)(status + 32) = kind == CONSOLE ? 0x8801 : 0;
  *(uint64_t *)(status + 48) = file ? file_size(file) : 0;
  *(uint32_t *)(status + 56) = kind == CONSOLE ? 1024 : PAGE;
  *(uint64_t *)(status + 64) = file ? (file_size(file) + 511) / 512 : 0;
  return 0;
}

static uint64_t status_of_name(const char *path, uint8_t *status) {
  const char *name = plain(path);
  if (is_directory(name)) return tell_status(DIRECTORY, NULL, status);
  const struct file *file = file_named(name);
  return file ? tell_status(REGULAR, file, status) : failed(NO_ENTRY);
}

static uint64_t rename(const char *from, const char *to) {
  struct file *file = file_at(from);
  if (!file) return failed(NO_ENTRY);
  return file_rename(file, plain(to)) ? 0 : failed(NO_SPACE);
}

static uint64_t unlink(const char *path) {
  struct file *file = file_at(path);
  if (!file) return failed(NO_ENTRY);
  file_unlink(file);
  return 0;
}

static uint64_t working_directory(char *to, uint64_t count) {
  if (count < 2) return failed(OUT_OF_RANGE);
  copy_bytes(to, "/", 2);
  return 2;
}

static uint64_t duplicate(struct opened *opened, uint64_t to, uint64_t flags) {
  if (to >= MOST_DESCRIPTORS) return failed(BAD_FILE);
  if (process->descriptors[to] == opened) return to;
  if (process->descriptors[to]) close_one(to);
  describe(opened, to);
  set_close(to, flags & OPEN_CLOSE);
  return to;
}

static uint64_t duplicate_above(struct opened *opened, uint64_t least, bool close) {
  uint64_t number = describe(opened, least);
  if (number < MOST_DESCRIPTORS) set_close(number, close);
  return number;
}

void descriptors_copy(struct process *into) {
  for (unsigned index = 0; index < MOST_DESCRIPTORS; ++index) {
    struct opened *opened = process->descriptors[index];
    into->descriptors[index] = opened;
    if (opened) ++opened->descriptors;
  }
  into->close_on_execute = process->close_on_execute;
}

void descriptors_close(uint32_t which) {
  for (unsigned index = 0; index < MOST_DESCRIPTORS; ++index) {
    if (which >> index & 1 && process->descriptors[index]) close_one(index);
  }
}

/* Locks are always granted. */
static uint64_t control(uint64_t descriptor, uint64_t command, uint64_t argument) {
  enum { DUPLICATE = 0, GET_CLOSE = 1, SET_CLOSE = 2, GET_FLAGS = 3, GET_LOCK = 5, DUPLICATE_CLOSE = 1030, UNLOCKED = 2 };
  struct opened *opened = process->descriptors[descriptor];
  switch (command) {
    case DUPLICATE:
    case DUPLICATE_CLOSE: return duplicate_above(opened, argument, command == DUPLICATE_CLOSE);
    case GET_CLOSE: return process->close_on_execute >> descriptor & 1;
    case SET_CLOSE: set_close(descriptor, argument & 1); return 0;
    case GET_FLAGS: return opened->kind == CONSOLE ? 2 : opened->flags;
    case GET_LOCK: *(uint16_t *)argument = UNLOCKED; return 0;
    default: return 0;
  }
}

/* Calls that are not about a descriptor: about a name, or a new pipe. */
static bool name_call(uint64_t number, const uint64_t *a, uint64_t *answer) {
  switch (number) {
    case GETCWD: *answer = working_directory((char *)a[0], a[1]); return true;
    case UNLINKAT: *answer = unlink((const char *)a[1]); return true;
    case PIPE2: *answer = open_pipe((int32_t *)a[0], a[1]); return true;
    case OPENAT: *answer = open((const char *)a[1], a[2]); return true;
    case RENAMEAT2: *answer = rename((const char *)a[1], (const char *)a[3]); return true;
    case READLINKAT: *answer = failed(file_at((const char *)a[1]) ? INVALID : NO_ENTRY); return true;
    case FACCESSAT:
    case FACCESSAT2: {
      const char *name = plain((const char *)a[1]);
      *answer = is_directory(name) || file_named(name) ? 0 : failed(NO_ENTRY);
      return true;
    }
    case FCHMODAT:
    case UTIMENSAT: *answer = 0; return true;
    case NEWFSTATAT:
      if (!*(const char *)a[1] && (a[3] & EMPTY_PATH)) return false;
      *answer = status_of_name((const char *)a[1], (uint8_t *)a[2]);
      return true;
    default: return false;
  }
}

static uint64_t descriptor_call(uint64_t number, struct opened *opened, const uint64_t *a) {
  switch (number) {
    case DUP: return describe(opened, 0);
    case DUP3: return duplicate(opened, a[1], a[2]);
    case FCNTL: return control(a[0], a[1], a[2]);
    case CLOSE: close_one(a[0]); return 0;
    case LSEEK: return seek(opened, a[1], a[2]);
    case READ:
    case WRITE: return move(opened, a[1], a[2], number == WRITE);
    case READV:
    case WRITEV: return move_vector(opened, (const uint64_t *)a[1], a[2], number == WRITEV);
    case PREAD: return opened->kind == REGULAR ? read_at(opened, a[3], a[1], a[2]) : failed(ILLEGAL_SEEK);
    case PWRITE: return opened->kind == REGULAR ? write_at(opened, a[3], a[1], a[2]) : failed(ILLEGAL_SEEK);
    case FTRUNCATE:
      if (opened->kind != REGULAR) return failed(INVALID);
      file_resize(opened->file, a[1]);
      return 0;
    case NEWFSTATAT: return tell_status(opened->kind, opened->file, (uint8_t *)a[2]);
    case FSTAT: return tell_status(opened->kind, opened->file, (uint8_t *)a[1]);
    case IOCTL: return failed(NOT_A_TERMINAL);
    default: return 0; /* what would be about rights, owners and a disk */
  }
}

bool file_call(uint64_t number, const uint64_t *a, uint64_t *answer) {
  if (name_call(number, a, answer)) return true;
  switch (number) {
    case DUP: case DUP3: case FCNTL: case IOCTL: case FTRUNCATE: case FCHMOD: case FCHOWN: case CLOSE: case LSEEK:
    case READ: case WRITE: case READV: case WRITEV: case PREAD: case PWRITE: case NEWFSTATAT: case FSTAT: case FSYNC:
    case FDATASYNC: case FADVISE: break;
    default: return false;
  }
  struct opened *opened = opened_as(a[0]);
  *answer = opened ? descriptor_call(number, opened, a) : failed(BAD_FILE);
  return true;
}
