// A stack without a lock, of few nodes: what lies on top is taken, used and put back, so that the same node is on top again
// while others still hold what was below it (ABA). A reservation notices; a comparison would not.

#include "kernel.h"

enum { TIMES = 100, NODES = 3 };

typedef struct Node {
    struct Node *volatile next;
    volatile uint64_t user;
} __attribute__((aligned(LINE))) Node;

static Node nodes[NODES];
static Alone built;
static struct {
    Node *volatile top;
} __attribute__((aligned(LINE))) stack;

// With `delay` rounds of waiting in between, so that there is time for others.
static Node *pop(uint64_t delay) {
    Node *top, *next;
    uint64_t left;
    __asm__ volatile(
        "1: lr.d.aq %0, (%3)\n"
        "   beqz %0, 3f\n"
        "   ld %1, 0(%0)\n"
        "   mv %2, %4\n"
        "2: addi %2, %2, -1\n"
        "   bgtz %2, 2b\n"
        "   sc.d.rl %2, %1, (%3)\n"
        "   bnez %2, 1b\n"
        "3:"
        : "=&r"(top), "=&r"(next), "=&r"(left)
        : "r"(&stack.top), "r"(delay)
        : "memory");
    return top;
}

static void push(Node *node) {
    Node *top = stack.top;
    do {
        node->next = top;
    } while (!__atomic_compare_exchange_n(&stack.top, &top, node, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

static uint64_t nodes_on_stack(void) {
    uint64_t count = 0;
    for (const Node *node = stack.top; node; node = node->next) {
        count++;
    }
    return count;
}

uint64_t kernel(uint64_t hart) {
    if (hart == 0 && !built.value) {
        for (int node = 0; node < NODES; node++) {
            push(&nodes[node]);
        }
        built.value = 1;
    }
    meet();
    uint64_t wrong = 0;
    for (int time = 0; time < TIMES; time++) {
        const uint64_t delay = (7 * hart + 13 * (uint64_t)time) % 32;
        Node *first, *second;
        while (!(first = pop(delay))) {
        }
        wrong += __atomic_exchange_n(&first->user, 1, __ATOMIC_RELAXED);
        // A second one, when there is one, goes back below the first.
        second = pop(0);
        if (second) {
            wrong += __atomic_exchange_n(&second->user, 1, __ATOMIC_RELAXED);
            second->user = 0;
            push(second);
        }
        first->user = 0;
        push(first);
    }
    meet();
    return wrong + (nodes_on_stack() != NODES);
}
