/* Files in memory: those that the program is given, and those that it makes. */
#ifndef RACKWRIGHT_FILES_H
#define RACKWRIGHT_FILES_H

#include "paging.h"

struct file;
/* Puts what an archive in the format ustar has into the list of files. */
void files_start(void);
/* The one that came first, which is the program. */
const struct file *file_first(void);
/* The file of that name, or null. Names have no `/` in front. */
struct file *file_named(const char *name);
/* A new one; null when there are too many or the name is too long. */
struct file *file_make(const char *name);
uint64_t file_size(const struct file *file);
unsigned file_number(const struct file *file);
/* Both give the bytes that were moved, and may fault on the user's memory. */
uint64_t file_read(const struct file *file, uint64_t at, uint8_t *to, uint64_t count);
uint64_t file_write(struct file *file, uint64_t at, const uint8_t *from, uint64_t count);
/* Cuts it, or lets zeros follow. */
void file_resize(struct file *file, uint64_t size);
/* Takes the name away; what was in it goes with the last descriptor. */
void file_unlink(struct file *file);
/* In place of a file that has the new name; false when that is too long. */
bool file_rename(struct file *file, const char *name);
void file_hold(struct file *file);
void file_release(struct file *file);
/* Its bytes from `at` on, where they lie in one piece and stay; null where they do not. */
const uint8_t *file_fixed(const struct file *file, uint64_t at);

/* pipes.c: bytes from one end to the other. Null when there are too many. */
struct pipe;
struct pipe *pipe_make(void);
void pipe_close(struct pipe *pipe, bool writer);
/* Waits for the first byte; 0 when none can come any more. */
uint64_t pipe_read(struct pipe *pipe, uint8_t *to, uint64_t count);
/* Waits until all have room; as Linux answers. */
uint64_t pipe_write(struct pipe *pipe, const uint8_t *from, uint64_t count);

/* descriptors.c: calls about files. True when it was one, with its answer. */
bool file_call(uint64_t number, const uint64_t *a, uint64_t *answer);
void descriptors_start(void);
/* Has another process have those of `process`. */
void descriptors_copy(struct process *into);
/* Closes those of which there is a bit. */
void descriptors_close(uint32_t which);
/* The file of that path, or null. */
struct file *file_at(const char *path);
/* The file that a descriptor is of; null when it is of none. */
struct file *file_of(uint64_t descriptor);

#endif
