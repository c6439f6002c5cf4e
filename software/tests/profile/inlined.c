/* Functions that a compiler puts into others, and what they call. */

#define ALONE __attribute__((noipa))
#define INTO static inline __attribute__((always_inline))

static volatile unsigned long work;

ALONE void leaf(unsigned long n) {
    for (unsigned long i = 0; i < n; i++) work += i;
}

INTO void innermost(unsigned long n) {
    for (unsigned long i = 0; i < n; i++) work *= 3;
}

INTO void middle(unsigned long n) {
    for (unsigned long i = 0; i < n; i++) work ^= i;
    leaf(n);
    innermost(2 * n);
}

ALONE void outer(unsigned long n) {
    for (unsigned long i = 0; i < n; i++) work -= i;
    middle(n);
}

int main(void) {
    for (int i = 0; i < 3; i++) outer(1000);
    return 0;
}
