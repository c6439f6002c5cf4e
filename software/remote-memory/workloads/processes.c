/* processes [COUNT [PAGES [STEPS]]]: COUNT processes (4) that begin with copies of one table of PAGES pages (16) and
   change them in STEPS places (200) each, at the same time; then what else processes do to each other. Prints what each
   has found, in an order that does not depend on who is faster, and ends with status 0 if all is as it must be. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, WORDS = PAGE / 8, MOST = 24, TURNS = 6, LONG = 50000 };

static uint64_t mixed(uint64_t value) {
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

static void must(int what, const char *about) {
  if (what) return;
  printf("wrong: %s\n", about);
  exit(1);
}

static uint64_t sum_of(const uint64_t *table, uint64_t words) {
  uint64_t sum = 0;
  for (uint64_t at = 0; at < words; ++at) sum = mixed(sum + table[at]);
  return sum;
}

static void change(uint64_t *table, uint64_t words, uint64_t seed, uint64_t steps) {
  for (uint64_t step = 0; step < steps; ++step) {
    uint64_t random = mixed(seed + step);
    table[random % words] += random >> 8 ^ table[(random >> 32) % words];
  }
}

static double halves(unsigned count) {
  double sum = 0;
  for (unsigned index = 1; index <= count; ++index) sum += 1.0 / (index * index);
  return sum;
}

static int status_of(pid_t process) {
  int status = -1;
  must(waitpid(process, &status, 0) == process, "waiting for a process");
  return status;
}

/* What one of them does; the odd ones have a process of their own do a part of it. */
static void work(uint64_t *table, uint64_t words, unsigned index, uint64_t steps, int into) {
  double before = halves(100 + index);
  if (index % 2) {
    pid_t further = fork();
    must(further >= 0, "a process of a process");
    if (!further) {
      change(table, words, 99, steps);
      _exit(sum_of(table, words) == 0);
    }
    must(status_of(further) == 0, "the end of a process of a process");
  }
  change(table, words, 1000 * index, steps);
  const uint64_t result[2] = {sum_of(table, words), (uint64_t)(1e9 * before)};
  must(write(into, result, sizeof result) == sizeof result, "writing to a pipe");
  _exit((int)index + 1);
}

static void side_by_side(uint64_t *table, uint64_t words, unsigned count, uint64_t steps) {
  pid_t processes[MOST];
  int ends[MOST][2];
  for (unsigned index = 0; index < count; ++index) {
    must(pipe(ends[index]) == 0, "a pipe");
    processes[index] = fork();
    must(processes[index] >= 0, "a process");
    if (!processes[index]) work(table, words, index, steps, ends[index][1]);
    close(ends[index][1]);
    table[index] += index;
  }
  uint64_t own = sum_of(table, words);
  for (unsigned index = count; index-- > 0;) {
    uint64_t result[2];
    must(read(ends[index][0], result, sizeof result) == sizeof result, "reading from a pipe");
    must(read(ends[index][0], result, 1) == 0, "the end of a pipe");
    close(ends[index][0]);
    int status = status_of(processes[index]);
    printf("%u: %016llx %llu, status %d\n", index, (unsigned long long)result[0], (unsigned long long)result[1],
           WEXITSTATUS(status));
  }
  must(sum_of(table, words) == own, "the table of a parent");
}

/* One after the other, so that places of processes are used again; memory that is new must be zero. */
static void in_turns(uint64_t *table, uint64_t words) {
  uint64_t sum = 0;
  for (unsigned turn = 0; turn < TURNS; ++turn) {
    pid_t process = fork();
    if (!process) {
      uint64_t *fresh = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      must(fresh != MAP_FAILED && sum_of(fresh, WORDS) == sum_of((uint64_t[WORDS]){0}, WORDS), "new memory");
      change(table, words, turn, 20);
      fresh[turn] = sum_of(table, words);
      _exit(fresh[turn] & 63);
    }
    sum = mixed(sum + (unsigned)status_of(process));
  }
  printf("in turns: %016llx\n", (unsigned long long)sum);
}

static void ends(void) {
  int waits[2];
  must(pipe(waits) == 0, "a pipe");
  pid_t killed = fork();
  if (!killed) _exit((int)read(waits[0], &killed, 1));
  must(kill(killed, SIGKILL) == 0, "ending a process");
  printf("ended by signal %d\n", WTERMSIG(status_of(killed)));
  pid_t wild = fork();
  if (!wild) *(volatile int *)8 = 1;
  printf("ended by signal %d\n", WTERMSIG(status_of(wild)));
  int status;
  must(waitpid(-1, &status, 0) == -1, "no process is left");
}

/* More than a pipe has room for, by the program begun anew. */
static void begun_anew(char *name) {
  int ends[2];
  must(pipe(ends) == 0, "a pipe");
  pid_t process = fork();
  if (!process) {
    dup2(ends[1], 1);
    close(ends[0]);
    close(ends[1]);
    char *arguments[] = {name, "anew", "with words", NULL}, *environment[] = {"PLACE=here", NULL};
    execve(name, arguments, environment);
    _exit(127);
  }
  close(ends[1]);
  uint64_t sum = 0, count = 0;
  char text[999];
  for (ssize_t got; (got = read(ends[0], text, sizeof text)) > 0; count += (uint64_t)got) {
    for (ssize_t at = 0; at < got; ++at) sum = mixed(sum + (unsigned char)text[at]);
  }
  printf("anew: %llu bytes, %016llx, status %d\n", (unsigned long long)count, (unsigned long long)sum,
         WEXITSTATUS(status_of(process)));
}

static int anew(char **arguments) {
  const char *place = getenv("PLACE");
  printf("%s in %s\n", arguments[2], place ? place : "nowhere");
  for (unsigned index = 0; index < LONG; ++index) putchar('a' + (int)(mixed(index) % 26));
  return 7;
}

int main(int argument_count, char **arguments) {
  setvbuf(stdout, NULL, _IOFBF, 8192);
  if (argument_count > 1 && !strcmp(arguments[1], "anew")) return anew(arguments);
  unsigned count = argument_count > 1 ? (unsigned)atoi(arguments[1]) : 4;
  uint64_t words = (argument_count > 2 ? (uint64_t)atoi(arguments[2]) : 16) * WORDS;
  uint64_t steps = argument_count > 3 ? (uint64_t)atoi(arguments[3]) : 200;
  must(count <= MOST, "at most 24 processes");
  uint64_t *table = mmap(NULL, words * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  must(table != MAP_FAILED, "memory");
  for (uint64_t at = 0; at < words; ++at) table[at] = mixed(at);
  side_by_side(table, words, count, steps);
  in_turns(table, words);
  ends();
  fflush(stdout);
  begun_anew(arguments[0]);
  return 0;
}
