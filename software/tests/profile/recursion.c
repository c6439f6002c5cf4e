/* Functions that call themselves, directly and through others, deeper than any stack that is looked at frame by frame. */
#include <stdio.h>

#define ALONE __attribute__((noinline, optimize("no-optimize-sibling-calls")))

static volatile long sink;

ALONE long work(long count)
{
    for (long step = 0; step < count; step++)
        sink += step;
    return sink;
}

/* What is kept across the call has each of them need a frame. */
ALONE long down(int depth)
{
    volatile long kept = depth;
    long below = depth ? down(depth - 1) : work(1000);
    return below + kept;
}

ALONE long odd(int depth);

ALONE long even(int depth)
{
    volatile long kept = depth;
    long below = depth ? odd(depth - 1) : work(1000);
    return below + kept;
}

ALONE long odd(int depth)
{
    volatile long kept = depth;
    return even(depth - 1) + kept;
}

int main(void)
{
    printf("%ld %ld\n", down(20000), even(20000));
    return 0;
}
