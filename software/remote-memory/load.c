#include "files.h"

#define STACK_END (ADDRESS_END - PAGE)
enum { STACK = 1 << 20, MAGIC = 0x464c457f, LOADED = 1, EXECUTABLE = 2, MACHINE_RISCV = 243, AUXILIARY = 14, RANDOM = 16 };

struct elf {
  uint8_t ident[16];
  uint16_t type, machine;
  uint32_t version;
  uint64_t entry, segments, sections;
  uint32_t flags;
  uint16_t header_bytes, segment_bytes, segment_count;
};

struct segment {
  uint32_t type, flags;
  uint64_t offset, address, physical, file_bytes, memory_bytes, align;
};

static uint64_t rights_of(uint32_t flags) {
  return ENTRY_USER | (flags & 4 ? ENTRY_READ : 0) | (flags & 2 ? ENTRY_WRITE | ENTRY_READ : 0) |
         (flags & 1 ? ENTRY_EXECUTE : 0);
}

static uint64_t up(uint64_t address) { return (address + PAGE - 1) & ~(uint64_t)(PAGE - 1); }
static uint64_t down(uint64_t address) { return address & ~(uint64_t)(PAGE - 1); }

static const struct segment *segments_of(const struct elf *elf) {
  return (const struct segment *)((const uint8_t *)elf + elf->segments);
}

bool load_possible(const struct file *file) {
  const struct elf *elf = (const struct elf *)file_fixed(file, 0);
  uint64_t bytes = file_size(file);
  if (!elf || bytes < sizeof *elf || *(const uint32_t *)elf->ident != MAGIC || elf->ident[4] != 2 ||
      elf->machine != MACHINE_RISCV || elf->type != EXECUTABLE || elf->segments > bytes ||
      elf->segments + elf->segment_count * sizeof(struct segment) > bytes)
    return false;
  for (unsigned index = 0; index < elf->segment_count; ++index) {
    const struct segment *segment = &segments_of(elf)[index];
    if (segment->type != LOADED) continue;
    if (segment->offset > bytes || segment->file_bytes > bytes - segment->offset) return false;
    if (segment->address > LOADED_END || segment->memory_bytes > LOADED_END - segment->address) return false;
  }
  return true;
}

/* Gives the end of the program. */
static uint64_t map_segments(const struct elf *elf) {
  const struct segment *segments = segments_of(elf);
  uint64_t end = 0;
  for (unsigned index = 0; index < elf->segment_count; ++index) {
    const struct segment *segment = &segments[index];
    if (segment->type != LOADED) continue;
    uint64_t segment_end = segment->address + segment->memory_bytes;
    region_map(down(segment->address), up(segment_end), rights_of(segment->flags),
               (const uint8_t *)elf + segment->offset, segment->address, segment->file_bytes);
    if (segment_end > end) end = segment_end;
  }
  return up(end);
}

static uint64_t length_of(const char *text) {
  uint64_t length = 0;
  while (text[length]) ++length;
  return length;
}

/* Puts bytes below `top` on the user's stack; gives their place. */
static uint64_t push(uint64_t top, const void *bytes, uint64_t count) {
  uint8_t *place = (uint8_t *)(top - count);
  for (uint64_t index = 0; index < count; ++index) place[index] = ((const uint8_t *)bytes)[index];
  return (uint64_t)place;
}

bool strings_add(struct strings *strings, const char *text) {
  uint64_t bytes = length_of(text) + 1;
  if (strings->count == MOST_STRINGS || bytes > sizeof strings->text - strings->bytes) return false;
  copy_bytes(strings->text + strings->bytes, text, bytes);
  ++strings->count;
  strings->bytes += bytes;
  return true;
}

/* As Linux leaves it: the count, the arguments, the environment, the auxiliary vector. */
static uint64_t make_stack(const struct elf *elf, uint64_t headers, const struct strings *strings) {
  static const uint8_t random[RANDOM] = {0x52, 0x1d, 0x88, 0x03, 0x7b, 0xe4, 0x2f, 0x91,
                                         0x6a, 0xc7, 0x15, 0xb8, 0x40, 0xde, 0x39, 0xf6};
  uint64_t top = push(STACK_END, random, RANDOM);
  uint64_t random_at = top;
  uint64_t words[3 + MOST_STRINGS + 2 * AUXILIARY];
  unsigned used = 0;
  words[used++] = strings->arguments;
  const char *text = strings->text;
  for (unsigned index = 0; index < strings->count; ++index) {
    if (index == strings->arguments) words[used++] = 0;
    uint64_t bytes = length_of(text) + 1;
    top = push(top, text, bytes);
    words[used++] = top;
    text += bytes;
  }
  if (strings->arguments == strings->count) words[used++] = 0;
  words[used++] = 0;
  const uint64_t auxiliary[2 * AUXILIARY] = {
      3, headers, 4, elf->segment_bytes, 5, elf->segment_count, 6, PAGE, 9, elf->entry, 11, 1000, 12, 1000, 13, 1000,
      14, 1000, 16, 0x112d, 17, 100, 23, 0, 25, random_at, 0, 0,
  };
  for (unsigned index = 0; index < 2 * AUXILIARY; ++index) words[used++] = auxiliary[index];
  top = (top - 8ul * used) & ~15ul;
  return push(top + 8ul * used, words, 8ul * used);
}

struct start load_program(const struct file *file, const struct strings *strings) {
  const struct elf *elf = (const struct elf *)file_fixed(file, 0);
  process->break_start = process->break_end = map_segments(elf);
  region_map(STACK_END - STACK, STACK_END, ENTRY_USER | ENTRY_READ | ENTRY_WRITE, NULL, 0, 0);
  const struct segment *segments = segments_of(elf);
  uint64_t headers = elf->segments;
  for (unsigned index = 0; index < elf->segment_count; ++index) {
    if (segments[index].type == LOADED && segments[index].offset == 0) headers += segments[index].address;
  }
  return (struct start){elf->entry, make_stack(elf, headers, strings)};
}
