/* De-novo assembly by a de Bruijn graph: a hash table of the k-mers of synthetic reads with errors, and the contigs
   that its unambiguous chains make. Verifies that contigs are pieces of the genome that the reads were drawn from.
   Arguments: bases of the genome (40000), reads per base in hundredths (300), slots of the table (4194304: 64 MiB), and
   how many k-mers ahead a slot is prefetched before it is written (0: none, nor of contigs; at most 64). */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { K = 31, READ = 100, ERRORS_PER_MILLION = 2000, FARTHEST = 64, WALKERS = 8 };
#define MASK ((1ull << 2 * K) - 1)

struct slot {
  uint64_t kmer; /* plus one; 0 is empty */
  uint32_t count;
  uint8_t after[4]; /* how often each base followed, up to 255 */
};

static struct slot *table;
static uint64_t slots, random_state = 0x2545f4914f6cdd1dull;

static uint64_t next_random(void) {
  random_state ^= random_state >> 12;
  random_state ^= random_state << 25;
  random_state ^= random_state >> 27;
  return random_state * 0x2545f4914f6cdd1dull;
}

static uint64_t hash(uint64_t kmer) {
  kmer ^= kmer >> 33;
  kmer *= 0xff51afd7ed558ccdull;
  kmer ^= kmer >> 33;
  kmer *= 0xc4ceb9fe1a85ec53ull;
  return kmer ^ kmer >> 33;
}

static uint64_t home(uint64_t kmer) { return hash(kmer) & (slots - 1); }

static struct slot *find(uint64_t kmer) {
  uint64_t place = home(kmer);
  while (table[place].kmer && table[place].kmer != kmer + 1) place = (place + 1) & (slots - 1);
  return &table[place];
}

static void insert(uint64_t kmer, uint8_t base) {
  struct slot *slot = find(kmer);
  slot->kmer = kmer + 1;
  ++slot->count;
  if (slot->after[base] < 255) ++slot->after[base];
}

/* A hint that the slot where a k-mer belongs will be written (prefetch.w of Zicbop); no operation where harts lack it. */
static void prefetch(uint64_t kmer) {
#ifdef __riscv
  __asm__ volatile(".option push\n.option arch, +zicbop\nprefetch.w 0(%0)\n.option pop" : : "r"(&table[home(kmer)]));
#else
  __builtin_prefetch(&table[home(kmer)], 1);
#endif
}

/* The k-mers whose slots are on their way, in a ring. */
static struct {
  uint64_t kmer;
  uint8_t base;
} ahead[FARTHEST];
static unsigned distance, oldest, waiting;

static void insert_oldest(void) {
  insert(ahead[oldest].kmer, ahead[oldest].base);
  oldest = (oldest + 1) % FARTHEST;
  --waiting;
}

static void insert_later(uint64_t kmer, uint8_t base) {
  if (!distance) {
    insert(kmer, base);
    return;
  }
  prefetch(kmer);
  ahead[(oldest + waiting) % FARTHEST].kmer = kmer;
  ahead[(oldest + waiting) % FARTHEST].base = base;
  if (++waiting == distance) insert_oldest();
}

static void insert_read(const uint8_t *read) {
  uint64_t kmer = 0;
  for (unsigned index = 0; index < READ; ++index) {
    if (index >= K) insert_later(kmer, read[index]);
    kmer = (kmer << 2 | read[index]) & MASK;
  }
}

static void draw_reads(const uint8_t *genome, uint64_t bases, uint64_t count) {
  uint8_t read[READ];
  for (uint64_t number = 0; number < count; ++number) {
    memcpy(read, genome + next_random() % (bases - READ + 1), READ);
    for (unsigned index = 0; index < READ; ++index) {
      if (next_random() % 1000000 < ERRORS_PER_MILLION) read[index] = (read[index] + 1 + next_random() % 3) & 3;
    }
    insert_read(read);
  }
  while (waiting) insert_oldest();
}

/* The only base that followed more than once, or else the only one at all; 4 when there is none such. */
static unsigned successor(const struct slot *slot) {
  unsigned found = 4, weak = 4, strong_ones = 0, weak_ones = 0;
  for (unsigned base = 0; base < 4; ++base) {
    if (slot->after[base] > 1) found = base, ++strong_ones;
    else if (slot->after[base]) weak = base, ++weak_ones;
  }
  if (strong_ones == 1) return found;
  return strong_ones == 0 && weak_ones == 1 ? weak : 4;
}

static uint64_t kmer_at(const uint8_t *genome, uint64_t place) {
  uint64_t kmer = 0;
  for (unsigned index = 0; index < K; ++index) kmer = kmer << 2 | genome[place + index];
  return kmer;
}

struct contigs {
  uint64_t count, assembled, longest, wrong, sum;
};

/* Makes the contigs of a stretch of the genome, one base in each of its turns. */
struct walker {
  uint64_t place, length, end; /* where the contig began, its bases so far, and where the stretch ends */
  uint64_t kmer;
};

static void walker_goes_to(struct walker *walker, uint64_t kmer) {
  walker->kmer = kmer;
  if (distance && walker->place + walker->length < walker->end) prefetch(kmer);
}

static void walker_begins(struct walker *walker, const uint8_t *genome, uint64_t place) {
  walker->place = place;
  walker->length = 0;
  if (place < walker->end) walker_goes_to(walker, kmer_at(genome, place));
}

/* The contig goes on by a base, or ends; the next one begins behind the base at which it ended. */
static void walker_step(struct walker *walker, const uint8_t *genome, struct contigs *contigs) {
  uint64_t at = walker->place + walker->length;
  unsigned base = at < walker->end ? successor(find(walker->kmer)) : 4;
  if (base < 4 && genome[at + K] == base) {
    ++walker->length;
    walker_goes_to(walker, (walker->kmer << 2 | base) & MASK);
    contigs->sum = contigs->sum * 31 + base;
    return;
  }
  if (base < 4) ++contigs->wrong;
  if (walker->length) ++contigs->count;
  contigs->assembled += walker->length;
  if (walker->length > contigs->longest) contigs->longest = walker->length;
  walker_begins(walker, genome, at + 1);
}

/* Each k-mer of a contig depends on the one before, but contigs don't depend on each other: one is made in each of
   several stretches at a time, so that the slots of some may be on their way. */
static struct contigs find_contigs(const uint8_t *genome, uint64_t bases) {
  struct contigs contigs = {0};
  struct walker walkers[WALKERS];
  for (unsigned index = 0; index < WALKERS; ++index) {
    walkers[index].end = (bases - K) * (index + 1) / WALKERS;
    walker_begins(&walkers[index], genome, (bases - K) * index / WALKERS);
  }
  for (bool some = true; some;) {
    some = false;
    for (unsigned index = 0; index < WALKERS; ++index) {
      if (walkers[index].place >= walkers[index].end) continue;
      walker_step(&walkers[index], genome, &contigs);
      some = true;
    }
  }
  return contigs;
}

int main(int count_of_arguments, char **arguments) {
  uint64_t bases = count_of_arguments > 1 ? strtoull(arguments[1], NULL, 10) : 40000;
  uint64_t coverage = count_of_arguments > 2 ? strtoull(arguments[2], NULL, 10) : 300;
  slots = count_of_arguments > 3 ? strtoull(arguments[3], NULL, 10) : 4194304;
  distance = count_of_arguments > 4 ? (unsigned)strtoul(arguments[4], NULL, 10) : 0;
  uint8_t *genome = malloc(bases);
  table = calloc(slots, sizeof *table);
  if (!genome || !table || slots & (slots - 1) || bases < 2 * READ || distance > FARTHEST) return 2;
  for (uint64_t index = 0; index < bases; ++index) genome[index] = next_random() >> 62;
  draw_reads(genome, bases, bases * coverage / 100 / READ);
  struct contigs contigs = find_contigs(genome, bases);
  printf("%llu contigs, %llu of %llu bases, longest %llu, %llu wrong turns, checksum %016llx\n",
         (unsigned long long)contigs.count, (unsigned long long)contigs.assembled, (unsigned long long)bases,
         (unsigned long long)contigs.longest, (unsigned long long)contigs.wrong, (unsigned long long)contigs.sum);
  return contigs.assembled < bases / 2 || contigs.wrong > bases / 100;
}
