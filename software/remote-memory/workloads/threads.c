/* Threads that share their pages: each adds to words anywhere in a table, moves tokens between accounts below a lock, and
   fills pages that are mapped, made read-only, read by the next thread and unmapped. What is printed does not depend on
   the order in which they run. Arguments: threads, pages of the table, steps of each. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PAGE = 4096, WORDS = PAGE / sizeof(uint64_t), MOST = 32, ACCOUNTS = 4096, TOKENS = 100, OWN_PAGES = 4 };

static unsigned threads, steps;
static uint64_t words;
static uint64_t *table, *accounts;
static uint64_t *filled[MOST];
static uint64_t wrong;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all;

static uint64_t draw(uint64_t *state) {
  *state = *state * 6364136223846793005 + 1442695040888963407;
  return *state >> 33;
}

static void move_token(uint64_t *state) {
  uint64_t from = draw(state) % ACCOUNTS, to = draw(state) % ACCOUNTS;
  pthread_mutex_lock(&lock);
  if (accounts[from]) {
    --accounts[from];
    ++accounts[to];
  }
  pthread_mutex_unlock(&lock);
}

static void fill(unsigned number, unsigned turn) {
  uint64_t *own = mmap(NULL, OWN_PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (own == MAP_FAILED) abort();
  for (unsigned index = 0; index < OWN_PAGES * WORDS; ++index) own[index] = (uint64_t)number << 32 | turn;
  if (mprotect(own, OWN_PAGES * PAGE, PROT_READ)) abort();
  filled[number] = own;
}

static void check(unsigned number, unsigned turn) {
  const uint64_t *other = filled[number];
  for (unsigned index = 0; index < OWN_PAGES * WORDS; ++index) {
    if (other[index] != ((uint64_t)number << 32 | turn)) __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
  }
}

static void *work(void *argument) {
  unsigned number = (unsigned)(uintptr_t)argument;
  uint64_t state = number + 1;
  for (unsigned turn = 0; turn < 3; ++turn) {
    for (unsigned step = 0; step < steps; ++step) {
      __atomic_fetch_add(&table[draw(&state) % words], 1 + step, __ATOMIC_RELAXED);
      if (step % 16 == 0) move_token(&state);
    }
    fill(number, turn);
    pthread_barrier_wait(&all);
    check((number + 1) % threads, turn);
    pthread_barrier_wait(&all);
    munmap(filled[number], OWN_PAGES * PAGE);
  }
  return NULL;
}

int main(int count, char **arguments) {
  if (count != 4) return 2;
  threads = (unsigned)atoi(arguments[1]);
  words = (uint64_t)atoi(arguments[2]) * WORDS;
  steps = (unsigned)atoi(arguments[3]);
  if (threads < 1 || threads > MOST || words == 0) return 2;
  table = calloc(words, sizeof *table);
  accounts = malloc(ACCOUNTS * sizeof *accounts);
  if (!table || !accounts || pthread_barrier_init(&all, NULL, threads)) return 1;
  for (unsigned index = 0; index < ACCOUNTS; ++index) accounts[index] = TOKENS;
  pthread_t handles[MOST];
  for (unsigned number = 0; number < threads; ++number) {
    if (pthread_create(&handles[number], NULL, work, (void *)(uintptr_t)number)) return 1;
  }
  for (unsigned number = 0; number < threads; ++number) pthread_join(handles[number], NULL);
  uint64_t sum = 0, tokens = 0;
  for (uint64_t index = 0; index < words; ++index) sum = sum * 31 + table[index];
  for (unsigned index = 0; index < ACCOUNTS; ++index) tokens += accounts[index];
  printf("%u threads: table %016llx, %llu tokens, %llu wrong\n", threads, (unsigned long long)sum,
         (unsigned long long)tokens, (unsigned long long)wrong);
  return wrong != 0 || tokens != (uint64_t)ACCOUNTS * TOKENS;
}
