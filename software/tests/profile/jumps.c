// Ways to leave a function: returns, tail calls, recursion, calls through pointers, and longjmp over many frames.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define ALONE __attribute__((noipa))

static jmp_buf outer, inner;
static volatile unsigned long work;

ALONE unsigned long spend(unsigned long steps) {
    for (unsigned long step = 0; step < steps; step++)
        work += step;
    return work;
}

ALONE int ackermann(int m, int n) {
    if (m == 0)
        return n + 1;
    int value = ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
    // Without this, the compiler makes a loop of the last call.
    work += 1;
    return value;
}

ALONE int is_odd(int n);
ALONE int is_even(int n) { return n == 0 ? 1 : is_odd(n - 1); }
ALONE int is_odd(int n) { return n == 0 ? 0 : is_even(n - 1); }

ALONE int compare(const void *one, const void *other) {
    return *(const int *)one - *(const int *)other;
}

ALONE void dive(int depth, int jump_at) {
    volatile char frame[64];
    frame[depth % 64] = (char)depth;
    if (depth == jump_at)
        longjmp(depth % 2 ? inner : outer, depth);
    dive(depth + 1, jump_at);
    frame[0]++;
}

ALONE int catch_inner(int depth) {
    int come = setjmp(inner);
    if (come == 0)
        dive(0, depth);
    spend(come);
    return come;
}

ALONE int catch_outer(int depth) {
    int come = setjmp(outer);
    if (come == 0)
        return catch_inner(depth);
    spend(2 * come);
    return -come;
}

// A function that jumps to itself again and again, as event loops do.
ALONE int again(int times) {
    volatile int left = times;
    setjmp(inner);
    spend(3);
    if (--left > 0)
        longjmp(inner, 1);
    return left;
}

int main(void) {
    int numbers[200];
    for (int index = 0; index < 200; index++)
        numbers[index] = index * 7919 % 211;
    qsort(numbers, 200, sizeof numbers[0], compare);
    int sum = ackermann(2, 5) + is_even(101);
    for (int depth = 1; depth < 30; depth++)
        sum += catch_outer(depth);
    sum += again(17);
    printf("%d %d\n", sum, numbers[100]);
    return 0;
}
