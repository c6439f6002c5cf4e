#include "files.h"

enum { MOST = 64, NAME = 100, PER_TABLE = PAGE / 8, LARGEST_PAGES = PER_TABLE * PER_TABLE };

struct file {
  char name[NAME];
  bool used, linked;
  unsigned holders;
  uint64_t size;
  const uint8_t *fixed; /* in the archive; null when it is in pages */
  uint8_t ***tables;    /* a page of places of pages of places of pages */
};

/* Of an archive (POSIX.1-2017, pax, "ustar interchange format"). */
struct member {
  char name[NAME], mode[8], user[8], group[8], size[12], time[12], checksum[8], kind;
};
enum { BLOCK = 512 };

extern const uint8_t file_archive[], file_archive_end[];

static struct file files[MOST];
static struct free_page {
  struct free_page *next;
} *free_pages;

static void *take_page(void) {
  if (!free_pages) return tables_page();
  struct free_page *page = free_pages;
  free_pages = page->next;
  clear_bytes(page, PAGE);
  return page;
}

static void give_page(void *place) {
  struct free_page *page = place;
  page->next = free_pages;
  free_pages = page;
}

static uint64_t octal(const char *digits, unsigned count) {
  uint64_t value = 0;
  for (unsigned index = 0; index < count && digits[index] >= '0' && digits[index] <= '7'; ++index)
    value = 8 * value + (uint64_t)(digits[index] - '0');
  return value;
}

void files_start(void) {
  for (const uint8_t *place = file_archive; place + BLOCK <= file_archive_end && *place;) {
    const struct member *member = (const struct member *)place;
    struct file *file = file_make(member->name);
    if (!file) fail("more files are given than", MOST);
    file->fixed = place + BLOCK;
    file->size = octal(member->size, sizeof member->size - 1);
    place += BLOCK + (file->size + BLOCK - 1) / BLOCK * BLOCK;
  }
}

static bool set_name(struct file *file, const char *name) {
  unsigned length = 0;
  while (name[length]) ++length;
  if (length == 0 || length >= NAME) return false;
  copy_bytes(file->name, name, length + 1);
  return true;
}

const struct file *file_first(void) { return &files[0]; }

struct file *file_named(const char *name) {
  for (unsigned index = 0; index < MOST; ++index) {
    if (files[index].used && files[index].linked && same_text(files[index].name, name)) return &files[index];
  }
  return NULL;
}

struct file *file_make(const char *name) {
  for (unsigned index = 0; index < MOST; ++index) {
    struct file *file = &files[index];
    if (file->used) continue;
    clear_bytes(file, sizeof *file);
    if (!set_name(file, name)) return NULL;
    file->used = file->linked = true;
    return file;
  }
  return NULL;
}

uint64_t file_size(const struct file *file) { return file->size; }
unsigned file_number(const struct file *file) { return (unsigned)(file - files) + 1; }

/* The page with that number; null when nothing was written there and `make` is false. */
static uint8_t *page_of(struct file *file, uint64_t number, bool make) {
  if (!file->tables) {
    if (!make) return NULL;
    file->tables = take_page();
  }
  uint8_t ***table = &file->tables[number / PER_TABLE];
  if (!*table) {
    if (!make) return NULL;
    *table = take_page();
  }
  uint8_t **page = &(*table)[number % PER_TABLE];
  if (!*page && make) *page = take_page();
  return *page;
}

static uint64_t within_page(uint64_t at, uint64_t count) {
  uint64_t rest = PAGE - at % PAGE;
  return count < rest ? count : rest;
}

uint64_t file_read(const struct file *file, uint64_t at, uint8_t *to, uint64_t count) {
  if (at >= file->size) return 0;
  if (count > file->size - at) count = file->size - at;
  if (file->fixed) {
    copy_bytes(to, file->fixed + at, count);
    return count;
  }
  for (uint64_t done = 0; done < count;) {
    uint64_t step = within_page(at + done, count - done);
    const uint8_t *page = page_of((struct file *)file, (at + done) / PAGE, false);
    if (page) copy_bytes(to + done, page + (at + done) % PAGE, step);
    else clear_bytes(to + done, step);
    done += step;
  }
  return count;
}

/* What is in the archive is copied before it is changed. */
static void unfix(struct file *file) {
  const uint8_t *fixed = file->fixed;
  if (!fixed) return;
  file->fixed = NULL;
  uint64_t size = file->size;
  file->size = 0;
  file_write(file, 0, fixed, size);
}

uint64_t file_write(struct file *file, uint64_t at, const uint8_t *from, uint64_t count) {
  unfix(file);
  if (at + count > (uint64_t)LARGEST_PAGES * PAGE) return 0;
  for (uint64_t done = 0; done < count;) {
    uint64_t step = within_page(at + done, count - done);
    copy_bytes(page_of(file, (at + done) / PAGE, true) + (at + done) % PAGE, from + done, step);
    done += step;
  }
  if (at + count > file->size) file->size = at + count;
  return count;
}

static void drop_page(struct file *file, uint64_t number) {
  uint8_t *page = page_of(file, number, false);
  if (!page) return;
  give_page(page);
  file->tables[number / PER_TABLE][number % PER_TABLE] = NULL;
}

void file_resize(struct file *file, uint64_t size) {
  unfix(file);
  for (uint64_t number = (size + PAGE - 1) / PAGE; number < (file->size + PAGE - 1) / PAGE; ++number)
    drop_page(file, number);
  uint8_t *last = size < file->size && size % PAGE ? page_of(file, size / PAGE, false) : NULL;
  if (last) clear_bytes(last + size % PAGE, PAGE - size % PAGE);
  file->size = size;
}

static void drop_if_unused(struct file *file) {
  if (file->linked || file->holders) return;
  file_resize(file, 0);
  for (unsigned index = 0; file->tables && index < PER_TABLE; ++index) {
    if (file->tables[index]) give_page(file->tables[index]);
  }
  if (file->tables) give_page(file->tables);
  file->used = false;
}

void file_unlink(struct file *file) {
  file->linked = false;
  drop_if_unused(file);
}

bool file_rename(struct file *file, const char *name) {
  struct file *other = file_named(name);
  if (other == file) return true;
  if (!set_name(file, name)) return false;
  if (other) file_unlink(other);
  return true;
}

void file_hold(struct file *file) { ++file->holders; }

void file_release(struct file *file) {
  --file->holders;
  drop_if_unused(file);
}

const uint8_t *file_fixed(const struct file *file, uint64_t at) {
  return file->fixed && at <= file->size ? file->fixed + at : NULL;
}
