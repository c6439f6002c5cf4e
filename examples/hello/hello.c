/* An ordinary C program: what runs on Linux on a RISC-V machine runs on the simulated server. */
#include <stdio.h>

int main(int count, char **words)
{
    for (int i = 1; i < count; i++) printf("hello, %s\n", words[i]);
    return 0;
}
