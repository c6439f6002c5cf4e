// Counts words in a hash table, as many as the first argument says: something to look into with a profiler.
#include <stdio.h>
#include <stdlib.h>

#define SLOTS 4096

struct entry {
    struct entry *next;
    unsigned word;
    unsigned count;
};

static struct entry *table[SLOTS];

__attribute__((noinline)) static unsigned next_word(unsigned *state) {
    *state = *state * 1664525 + 1013904223;
    // Small words are more frequent, as in a language.
    return (*state >> 20) * (*state >> 12 & 0xfff) >> 12;
}

__attribute__((noinline)) static struct entry *insert(unsigned word) {
    struct entry **place = &table[word % 61];
    while (*place && (*place)->word != word)
        place = &(*place)->next;
    if (!*place) {
        *place = calloc(1, sizeof **place);
        (*place)->word = word;
    }
    return *place;
}

int main(int count, char **arguments) {
    unsigned state = 1;
    long words = count > 1 ? atol(arguments[1]) : 1000;
    for (long word = 0; word < words; word++)
        insert(next_word(&state))->count++;
    unsigned most = 0;
    for (int slot = 0; slot < SLOTS; slot++)
        for (struct entry *entry = table[slot]; entry; entry = entry->next)
            most = entry->count > most ? entry->count : most;
    printf("%u\n", most);
    return 0;
}
