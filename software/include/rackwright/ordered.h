/* An ordered index of keys in memory, which the unit `ordered-index` answers from; C and C++.
 *
 * It is a B+ tree of nodes of 64 bytes, in the layout of hardware/src/main/scala/rackwright/ordered/README.md. A program inserts keys
 * while no operation is under way, and opens the tree again afterwards. */
#ifndef RACKWRIGHT_ORDERED_H
#define RACKWRIGHT_ORDERED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "rackwright/ordered_commands.h"
#include "rackwright/rocc.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { RW_ORDERED_KEYS = 5, RW_ORDERED_LEVELS = 15, RW_ORDERED_FIRST = 2 };
#define RW_ORDERED_END UINT64_MAX /* no key: what a place of a node has that is not used */

/* In a leaf, words are the values of the keys, and the last one is the next leaf; above, they are the children, one more than keys. */
typedef struct {
    uint64_t keys[RW_ORDERED_KEYS];
    uint32_t words[RW_ORDERED_KEYS + 1];
} rw_ordered_node;

/* In the place of the first two nodes. */
typedef struct {
    uint32_t root, height, used, total, version, unused; /* numbers of nodes; height: of the root, leaves have 0 */
    uint64_t entries, lowest, highest;
    uint32_t nodes[RW_ORDERED_LEVELS + 1]; /* of each level */
    uint64_t reserved[2];
} rw_ordered;

/* All keys from low to high, both included. */
typedef struct {
    uint64_t low, high;
} rw_ordered_query;

typedef struct {
    uint32_t count, first; /* keys, and the value of the first one */
    uint64_t sum;          /* of all values */
} rw_ordered_answer;

/* Nodes of these two levels are in the cache; the keys of a block are a power of two. */
typedef struct {
    unsigned near_level, near_shift, wide_level, wide_shift;
} rw_ordered_pattern;
#define RW_ORDERED_NO_LEVEL 15u

static inline rw_ordered_node *rw_ordered_at(rw_ordered *tree, uint32_t number) { return (rw_ordered_node *)tree + number; }

/* A new node of that level; its number. The caller has checked that there is room. */
static inline uint32_t rw_ordered_new(rw_ordered *tree, unsigned level)
{
    rw_ordered_node *node = rw_ordered_at(tree, tree->used);
    for (unsigned i = 0; i < RW_ORDERED_KEYS; i++) node->keys[i] = RW_ORDERED_END;
    memset(node->words, 0, sizeof node->words);
    tree->nodes[level]++;
    return tree->used++;
}

/* Makes an empty tree of memory that is aligned to 64 bytes; false where there is no room for it. */
static inline bool rw_ordered_format(void *memory, size_t bytes)
{
    rw_ordered *tree = (rw_ordered *)memory;
    const size_t total = bytes / sizeof(rw_ordered_node);
    if ((uintptr_t)memory % 64 || total <= RW_ORDERED_FIRST || total > UINT32_MAX) return false;
    memset(tree, 0, sizeof *tree);
    tree->total = (uint32_t)total, tree->used = RW_ORDERED_FIRST, tree->lowest = RW_ORDERED_END;
    tree->root = rw_ordered_new(tree, 0);
    return true;
}

/* The keys of a node up to this one, or below it. */
static inline unsigned rw_ordered_upto(const rw_ordered_node *node, uint64_t key)
{
    unsigned i = 0;
    while (i < RW_ORDERED_KEYS && node->keys[i] <= key && node->keys[i] != RW_ORDERED_END) i++;
    return i;
}

static inline unsigned rw_ordered_below(const rw_ordered_node *node, uint64_t key)
{
    unsigned i = 0;
    while (i < RW_ORDERED_KEYS && node->keys[i] < key) i++;
    return i;
}

/* What all keys from low to high, both included, add up to, by the program. */
static inline rw_ordered_answer rw_ordered_ask(rw_ordered *tree, uint64_t low, uint64_t high)
{
    rw_ordered_answer answer = {0, 0, 0};
    const rw_ordered_node *node = rw_ordered_at(tree, tree->root);
    for (uint32_t level = tree->height; level; level--) node = rw_ordered_at(tree, node->words[rw_ordered_upto(node, low)]);
    for (unsigned i = rw_ordered_below(node, low);; i = 0) {
        for (; i < RW_ORDERED_KEYS && node->keys[i] != RW_ORDERED_END; i++) {
            if (node->keys[i] > high) return answer;
            if (!answer.count++) answer.first = node->words[i];
            answer.sum += node->words[i];
        }
        if (!node->words[RW_ORDERED_KEYS]) return answer;
        node = rw_ordered_at(tree, node->words[RW_ORDERED_KEYS]);
    }
}

/* Puts a key with its word at a place of a node that has `keys` keys and room for one; words are `skip` behind their keys. */
static inline void rw_ordered_put(rw_ordered_node *node, unsigned keys, unsigned place, unsigned skip, uint64_t key, uint32_t word)
{
    for (unsigned i = keys; i > place; i--) node->keys[i] = node->keys[i - 1], node->words[i + skip] = node->words[i + skip - 1];
    node->keys[place] = key, node->words[place + skip] = word;
}

/* The same for a full node: moves the upper half to a new one; gives its number, and the key that it begins with. */
static inline uint32_t rw_ordered_split(rw_ordered *tree, uint32_t number, unsigned level, unsigned place, uint64_t *key, uint32_t word)
{
    enum { ALL = RW_ORDERED_KEYS + 1, HALF = ALL / 2 };
    const unsigned skip = level ? 1 : 0;
    const uint32_t made = rw_ordered_new(tree, level);
    rw_ordered_node *node = rw_ordered_at(tree, number), *upper = rw_ordered_at(tree, made);
    uint64_t keys[ALL];
    uint32_t words[ALL];
    for (unsigned i = 0, from = 0; i < ALL; i++) {
        keys[i] = i == place ? *key : node->keys[from];
        words[i] = i == place ? word : node->words[from++ + skip];
    }
    for (unsigned i = 0; i < RW_ORDERED_KEYS; i++) {
        node->keys[i] = i < HALF ? keys[i] : RW_ORDERED_END;
        node->words[i + skip] = i < HALF ? words[i] : 0;
    }
    *key = keys[HALF];
    const unsigned first = HALF + skip; /* above the leaves, the key in the middle moves up */
    if (skip) upper->words[0] = words[HALF];
    for (unsigned i = first; i < ALL; i++) upper->keys[i - first] = keys[i], upper->words[i - first + skip] = words[i];
    return made;
}

/* Inserts a key, or gives it another value; false where there is no room, or for RW_ORDERED_END. */
static inline bool rw_ordered_insert(rw_ordered *tree, uint64_t key, uint32_t value)
{
    uint32_t path[RW_ORDERED_LEVELS + 1], number = tree->root;
    const unsigned most = tree->height + 2;
    if (key == RW_ORDERED_END || tree->total - tree->used < most || most > RW_ORDERED_LEVELS) return false;
    for (unsigned level = tree->height; level; level--) {
        path[level] = number;
        number = rw_ordered_at(tree, number)->words[rw_ordered_upto(rw_ordered_at(tree, number), key)];
    }
    tree->version++;
    rw_ordered_node *leaf = rw_ordered_at(tree, number);
    const unsigned at = rw_ordered_below(leaf, key);
    if (at < RW_ORDERED_KEYS && leaf->keys[at] == key) {
        leaf->words[at] = value;
        return true;
    }
    tree->entries++;
    if (key < tree->lowest) tree->lowest = key;
    if (key > tree->highest) tree->highest = key;
    path[0] = number;
    uint32_t word = value;
    for (unsigned level = 0;; level++) {
        if (level > tree->height) {
            const uint32_t root = rw_ordered_new(tree, level);
            rw_ordered_at(tree, root)->words[0] = tree->root;
            tree->root = path[level] = root, tree->height = level;
        }
        rw_ordered_node *node = rw_ordered_at(tree, path[level]);
        const unsigned keys = rw_ordered_below(node, RW_ORDERED_END), place = rw_ordered_below(node, key), skip = level ? 1 : 0;
        if (keys < RW_ORDERED_KEYS) {
            rw_ordered_put(node, keys, place, skip, key, word);
            return true;
        }
        const uint32_t next = node->words[RW_ORDERED_KEYS];
        word = rw_ordered_split(tree, path[level], level, place, &key, word);
        if (!level) rw_ordered_at(tree, word)->words[RW_ORDERED_KEYS] = next, node->words[RW_ORDERED_KEYS] = word;
    }
}

/* The logarithm of the keys of a block that has about the keys of a node of this level, or up to twice as many. */
static inline unsigned rw_ordered_shift(const rw_ordered *tree, unsigned level)
{
    uint64_t keys = tree->highest < tree->lowest ? 1 : (tree->highest - tree->lowest) / (tree->nodes[level] ? tree->nodes[level] : 1);
    unsigned shift = 0;
    while (keys && shift < 63) keys >>= 1, shift++;
    return shift;
}

/* Nodes of the near level, and of the lowest level above of which all nodes take up to half of the cache. Leaves are near for keys that
 * are asked for often, and the level above for keys that are asked for in order, of which a leaf has few. */
static inline rw_ordered_pattern rw_ordered_choose(const rw_ordered *tree, uint32_t cache_nodes, unsigned near_level)
{
    unsigned wide = near_level + 1;
    while (wide < tree->height && tree->nodes[wide] > cache_nodes / 2) wide++;
    if (wide > tree->height) wide = RW_ORDERED_NO_LEVEL;
    rw_ordered_pattern pattern = {near_level, rw_ordered_shift(tree, near_level), wide, rw_ordered_shift(tree, wide)};
    return pattern;
}

/* The tree that the unit answers from, and the nodes that its cache takes. */
static inline void rw_ordered_open(rw_ordered *tree, rw_ordered_pattern pattern)
{
    RACKWRIGHT_COMMAND(ORDERED_INDEX_CUSTOM, ORDERED_INDEX_NODES, (uintptr_t)tree, 0);
    RACKWRIGHT_COMMAND(ORDERED_INDEX_CUSTOM, ORDERED_INDEX_ROOT, tree->root | (uint64_t)tree->height << 32, 0);
    RACKWRIGHT_COMMAND(ORDERED_INDEX_CUSTOM, ORDERED_INDEX_NODE_LIMIT, tree->used, 0);
    RACKWRIGHT_COMMAND(ORDERED_INDEX_CUSTOM, ORDERED_INDEX_NEAR, pattern.near_level | pattern.near_shift << 4, 0);
    RACKWRIGHT_COMMAND(ORDERED_INDEX_CUSTOM, ORDERED_INDEX_WIDE, pattern.wide_level | pattern.wide_shift << 4, 0);
    RACKWRIGHT_COMMAND(ORDERED_INDEX_CUSTOM, ORDERED_INDEX_TREE_VERSION, tree->version, 0);
}

/* Has the unit answer queries; it takes a few operations, which it does one after the other. */
static inline void rw_ordered_start(const rw_ordered_query *queries, size_t count, rw_ordered_answer *answers)
{
    rackwright_fence();
    RACKWRIGHT_COMMAND(ORDERED_INDEX_CUSTOM, ORDERED_INDEX_SRC, (uintptr_t)queries, count * sizeof *queries);
    RACKWRIGHT_COMMAND(ORDERED_INDEX_CUSTOM, ORDERED_INDEX_LIMIT, count * sizeof *answers, 0);
    RACKWRIGHT_COMMAND(ORDERED_INDEX_CUSTOM, ORDERED_INDEX_DEST_AND_START, (uintptr_t)answers, 0);
}

/* Waits until all of them are answered; gives the number of the last one's answers. */
static inline size_t rw_ordered_wait(void)
{
    (void)RACKWRIGHT_QUERY(ORDERED_INDEX_CUSTOM, ORDERED_INDEX_CHECK_COMPLETION);
    const size_t bytes = RACKWRIGHT_QUERY(ORDERED_INDEX_CUSTOM, ORDERED_INDEX_OUTPUT_BYTES);
    rackwright_fence();
    return bytes / sizeof(rw_ordered_answer);
}

#ifdef __cplusplus
}
#endif

#endif
