/*
 * Functions of binary32 whose loops compilers vectorise: without branches, calls or tables.
 *
 * Errors are below 2 units in the last place; subnormal and special numbers are those of IEEE 754.
 */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline int32_t bits_of(float number)
{
    int32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static inline float number_of(int32_t bits)
{
    float number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* The logarithm to a base, whose inverse natural logarithm, and that times the one of 2, are given in two parts. */
static inline float logarithm(float x, float scale, float scale_rest, float two, float two_rest)
{
    const int32_t root_of_half = 0x3f3504f3;
    int small = x < 0x1p-126f;
    int32_t bits = bits_of(small ? x * 0x1p24f : x) - root_of_half;
    float exponent = (float)((bits >> 23) - (small ? 24 : 0));
    float f = number_of((bits & 0x007fffff) + root_of_half) - 1.0f;
    float p = 0.07147885859012604f;
    p = fmaf(p, f, -0.11570707708597183f);
    p = fmaf(p, f, 0.11661902815103531f);
    p = fmaf(p, f, -0.12411130219697952f);
    p = fmaf(p, f, 0.14249908924102783f);
    p = fmaf(p, f, -0.16668476164340973f);
    p = fmaf(p, f, 0.20000708103179932f);
    p = fmaf(p, f, -0.24999989569187164f);
    p = fmaf(p, f, 0.3333333134651184f);
    float tail = f * f * fmaf(f, p, -0.5f);
    float found = fmaf(f, scale, fmaf(tail, scale, f * scale_rest));
    found = fmaf(exponent, two, fmaf(exponent, two_rest, found));
    float special = x < 0.0f ? NAN : x == 0.0f ? -INFINITY : x;
    return x > 0.0f && x < INFINITY ? found : special;
}

/* What is given is `1 / log(base)` and `log(2) / log(base)`, each as a number of binary32 and the rest. */
#define SPLIT(value) (float)(value), (float)((value) - (double)(float)(value))

static inline float log_(float x)
{
    return logarithm(x, 1.0f, 0.0f, SPLIT(0.6931471805599453));
}

static inline float log2_(float x)
{
    return logarithm(x, SPLIT(1.4426950408889634), 1.0f, 0.0f);
}

static inline float log10_(float x)
{
    return logarithm(x, SPLIT(0.4342944819032518), SPLIT(0.3010299956639812));
}

/* 2 to a power from -126 to 127. */
static inline float power_of_two(int32_t exponent)
{
    return number_of((exponent + 127) << 23);
}

static inline float exp_(float x)
{
    float limited = x < -104.0f ? -104.0f : x > 89.0f ? 89.0f : x;
    /* Numbers of this size have no fraction. */
    const float large = 0x1.8p23f;
    float whole = fmaf(limited, 1.4426950408889634f, large) - large;
    float rest = fmaf(whole, -0.693145751953125f, limited);
    rest = fmaf(whole, -1.4286068e-06f, rest);
    float p = 1.0f / 5040;
    p = fmaf(p, rest, 1.0f / 720);
    p = fmaf(p, rest, 1.0f / 120);
    p = fmaf(p, rest, 1.0f / 24);
    p = fmaf(p, rest, 1.0f / 6);
    p = fmaf(p, rest, 0.5f);
    float found = fmaf(rest * rest, p, rest) + 1.0f;
    int32_t exponent = (int32_t)(x == x ? whole : 0.0f);
    int32_t half = exponent >> 1;
    return found * power_of_two(half) * power_of_two(exponent - half);
}
