# Sums of 32 frames in 128 bands are in bank 2. The bins of a frame are taken in 16 parts of 24, of which the next is
# loaded while one is added: its spectra are in bank 0, the rows of the mel bank in banks 1 and 3 in turns, so that
# the operands of a sum are in three banks. Then come the logarithms of 16 frames at a time, in buffers that are free:
# with all bits of binary32, but without numbers below 1, of which there are none.
#
# Calculators 7 to 10: spectra in memory, the first part, odd ones, even ones, and the last; 11 to 14: the mel bank, in
# the same parts; 15: results. All others are set where they are used.
region calculator=7 region=1
region calculator=8 region=1
region calculator=9 region=1
region calculator=10 region=1
region calculator=11 region=2
region calculator=12 region=2
region calculator=13 region=2
region calculator=14 region=2
base calculator=7 value=0
stride calculator=7 level=0 value=0x18000
stride calculator=7 level=1 value=0xc00
base calculator=8 value=0xc0
stride calculator=8 level=0 value=0x18000
stride calculator=8 level=1 value=0x180
stride calculator=8 level=2 value=0xc00
base calculator=9 value=0x180
stride calculator=9 level=0 value=0x18000
stride calculator=9 level=1 value=0x180
stride calculator=9 level=2 value=0xc00
base calculator=10 value=0xb40
stride calculator=10 level=0 value=0x18000
stride calculator=10 level=1 value=0xc00
base calculator=11 value=0
base calculator=12 value=0x3000
stride calculator=12 level=1 value=0x6000
base calculator=13 value=0x6000
stride calculator=13 level=1 value=0x6000
base calculator=14 value=0x2d000
base calculator=15 value=0
stride calculator=15 level=0 value=0x1000
base calculator=0 value=0x4000
load scratchpad=0 memory=11 size=0x3000
loop value=256
base calculator=0 value=0
stride calculator=0 level=1 value=0xc0
loop value=32
load scratchpad=0 memory=7 size=0xc0 ends=1
base calculator=5 value=0x8000
format calculator=5 type=f32 value=4
format calculator=6 type=constant
base calculator=6 value=0
length value=4096
move destination=5 first=6
# Parts in turns: squares, loads of the next part, powers, and sums.
loop value=7
wait_loads count=0
base calculator=1 value=0
format calculator=1 type=f32 value=4
length value=1536
multiply destination=1 first=1 second=1
base calculator=0 value=0x1800
stride calculator=0 level=2 value=0xc0
loop value=32
load scratchpad=0 memory=8 size=0xc0 ends=1
base calculator=0 value=0xc000
load scratchpad=0 memory=12 size=0x3000
base calculator=2 value=0x3000
format calculator=2 type=f32 value=4
base calculator=3 value=0
format calculator=3 type=f32 value=8
base calculator=4 value=4
format calculator=4 type=f32 value=8
length value=768
add destination=2 first=3 second=4
base calculator=5 value=0x8000
format calculator=5 type=f32 value=4
stride calculator=5 level=3 value=0x200
base calculator=6 value=0x4000
format calculator=6 type=f32 value=4
stride calculator=6 level=2 value=0x200
base calculator=2 value=0x3000
format calculator=2 type=f32 value=0
stride calculator=2 level=2 value=4
stride calculator=2 level=3 value=0x60
length value=128
loop value=24
loop value=32
multiply_add destination=5 first=2 second=6 ends=2
wait_loads count=0
base calculator=1 value=0x1800
format calculator=1 type=f32 value=4
length value=1536
multiply destination=1 first=1 second=1
base calculator=0 value=0
stride calculator=0 level=2 value=0xc0
loop value=32
load scratchpad=0 memory=9 size=0xc0 ends=1
base calculator=0 value=0x4000
load scratchpad=0 memory=13 size=0x3000
base calculator=2 value=0x3000
format calculator=2 type=f32 value=4
base calculator=3 value=0x1800
format calculator=3 type=f32 value=8
base calculator=4 value=0x1804
format calculator=4 type=f32 value=8
length value=768
add destination=2 first=3 second=4
base calculator=5 value=0x8000
format calculator=5 type=f32 value=4
stride calculator=5 level=3 value=0x200
base calculator=6 value=0xc000
format calculator=6 type=f32 value=4
stride calculator=6 level=2 value=0x200
base calculator=2 value=0x3000
format calculator=2 type=f32 value=0
stride calculator=2 level=2 value=4
stride calculator=2 level=3 value=0x60
length value=128
loop value=24
loop value=32
multiply_add destination=5 first=2 second=6 ends=3
# The last two, and the first rows of the mel bank for the next frames.
wait_loads count=0
base calculator=1 value=0
format calculator=1 type=f32 value=4
length value=1536
multiply destination=1 first=1 second=1
base calculator=0 value=0x1800
stride calculator=0 level=1 value=0xc0
loop value=32
load scratchpad=0 memory=10 size=0xc0 ends=1
base calculator=0 value=0xc000
load scratchpad=0 memory=14 size=0x3000
base calculator=2 value=0x3000
format calculator=2 type=f32 value=4
base calculator=3 value=0
format calculator=3 type=f32 value=8
base calculator=4 value=4
format calculator=4 type=f32 value=8
length value=768
add destination=2 first=3 second=4
base calculator=5 value=0x8000
format calculator=5 type=f32 value=4
stride calculator=5 level=2 value=0x200
base calculator=6 value=0x4000
format calculator=6 type=f32 value=4
stride calculator=6 level=1 value=0x200
base calculator=2 value=0x3000
format calculator=2 type=f32 value=0
stride calculator=2 level=1 value=4
stride calculator=2 level=2 value=0x60
length value=128
loop value=24
loop value=32
multiply_add destination=5 first=2 second=6 ends=2
wait_loads count=0
base calculator=1 value=0x1800
format calculator=1 type=f32 value=4
length value=1536
multiply destination=1 first=1 second=1
base calculator=0 value=0x4000
load scratchpad=0 memory=11 size=0x3000
base calculator=2 value=0x3000
format calculator=2 type=f32 value=4
base calculator=3 value=0x1800
format calculator=3 type=f32 value=8
base calculator=4 value=0x1804
format calculator=4 type=f32 value=8
length value=768
add destination=2 first=3 second=4
base calculator=5 value=0x8000
format calculator=5 type=f32 value=4
stride calculator=5 level=2 value=0x200
base calculator=6 value=0xc000
format calculator=6 type=f32 value=4
stride calculator=6 level=1 value=0x200
base calculator=2 value=0x3000
format calculator=2 type=f32 value=0
stride calculator=2 level=1 value=4
stride calculator=2 level=2 value=0x60
length value=128
loop value=24
loop value=32
multiply_add destination=5 first=2 second=6 ends=2
# Logarithms. Calculators 0 and 1: the number, as its bits too, 2 and 3: a polynomial, 4: the exponent, 5: results,
# 6: constants.
wait_stores count=0
base calculator=0 value=0x8000
format calculator=0 type=f32 value=4
base calculator=1 value=0x8000
format calculator=1 type=i32 value=4
base calculator=2 value=0x1800
format calculator=2 type=f32 value=4
base calculator=3 value=0xe000
format calculator=3 type=f32 value=4
base calculator=4 value=0xc000
format calculator=4 type=f32 value=4
base calculator=5 value=0x7000
format calculator=5 type=u8 value=1
stride calculator=0 level=1 value=0x2000
stride calculator=1 level=1 value=0x2000
stride calculator=5 level=1 value=0x800
format calculator=6 type=constant
length value=2048
loop value=2
# Absolute sums over 512, plus 1.
upper value=0x1ff
base calculator=6 value=-0x1
and destination=1 first=1 second=6
upper value=0xec
base calculator=6 value=0
multiply destination=0 first=0 second=6
upper value=0xfe
base calculator=6 value=0
add destination=0 first=0 second=6
# The number is 2 to the power of the exponent, times 1 and a fraction between the roots of 1/2 and 2.
upper value=0xfc
base calculator=6 value=-0xafb0d
subtract destination=1 first=1 second=6
base calculator=6 value=0x17
shift_right destination=4 first=1 second=6
upper value=1
base calculator=6 value=-0x1
and destination=1 first=1 second=6
upper value=0xfc
base calculator=6 value=-0xafb0d
add destination=1 first=1 second=6
upper value=0xfe
base calculator=6 value=0
subtract destination=0 first=0 second=6
# log(1 + f) = f + f^2 P(f): the coefficients are those of functions.py.
upper value=0xf6
base calculator=6 value=0x126382
multiply destination=2 first=0 second=6
upper value=0x2f7
base calculator=6 value=-0x13082b
add destination=2 first=2 second=6
upper value=0xf7
base calculator=6 value=-0x112a0b
move destination=3 first=6
multiply_add destination=3 first=2 second=0
upper value=0x2f7
base calculator=6 value=-0x1d1ef
move destination=2 first=6
multiply_add destination=2 first=3 second=0
upper value=0xf8
base calculator=6 value=0x11eb48
move destination=3 first=6
multiply_add destination=3 first=2 second=0
upper value=0x2f8
base calculator=6 value=-0x155097
move destination=2 first=6
multiply_add destination=2 first=3 second=0
upper value=0xf9
base calculator=6 value=0xccea8
move destination=3 first=6
multiply_add destination=3 first=2 second=0
upper value=0x2f9
base calculator=6 value=-0x7
move destination=2 first=6
multiply_add destination=2 first=3 second=0
upper value=0xfa
base calculator=6 value=-0x155556
move destination=3 first=6
multiply_add destination=3 first=2 second=0
upper value=0x2fc
base calculator=6 value=0
move destination=2 first=6
multiply_add destination=2 first=3 second=0
multiply destination=3 first=0 second=0
multiply_add destination=0 first=3 second=2
# Eight times the logarithm to the base of 10, without its fraction.
upper value=0x101
base calculator=6 value=0x1e5bd9
multiply destination=3 first=0 second=6
upper value=0x100
base calculator=6 value=0x1a209b
multiply_add destination=3 first=4 second=6
move destination=5 first=3 ends=1
base calculator=5 value=0x7000
store scratchpad=5 memory=15 size=0x1000 ends=1
end
