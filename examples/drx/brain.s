# Squares of spectra over the power at rest, which is the same in all 256 windows: its inverse is computed once.
# 4 groups of 2048 columns, whose windows are loaded 2 at a time, while those before are computed.
#
# A small power at rest is scaled by 2^48, as its inverse would not be a number; a square is scaled with it.
# The inverse of |x| begins with 0x7ef311c7 - bits(x), and three steps of Newton give all bits.
#
# Calculators 0 and 1: windows, 2: scales, 3: inverses, 4 and 5: results. 7 to 10: windows in memory, 11 to 14:
# results in memory, 15: power at rest in memory.
region calculator=7 region=1
region calculator=8 region=1
region calculator=9 region=1
region calculator=10 region=1
region calculator=15 region=2
base calculator=7 value=0
stride calculator=7 level=0 value=0x2000
stride calculator=7 level=1 value=0x8000
base calculator=8 value=0x10000
stride calculator=8 level=0 value=0x2000
stride calculator=8 level=1 value=0x20000
stride calculator=8 level=2 value=0x8000
base calculator=9 value=0x20000
stride calculator=9 level=0 value=0x2000
stride calculator=9 level=1 value=0x20000
stride calculator=9 level=2 value=0x8000
upper value=1
base calculator=10 value=-0x10000
stride calculator=10 level=0 value=0x2000
stride calculator=10 level=1 value=0x8000
base calculator=11 value=0
stride calculator=11 level=0 value=0x800
stride calculator=11 level=1 value=0x8000
stride calculator=11 level=2 value=0x2000
base calculator=12 value=0x4000
stride calculator=12 level=0 value=0x800
stride calculator=12 level=1 value=0x8000
stride calculator=12 level=2 value=0x2000
base calculator=13 value=0x1f8000
stride calculator=13 level=0 value=0x800
stride calculator=13 level=1 value=0x2000
base calculator=14 value=0x1fc000
stride calculator=14 level=0 value=0x800
stride calculator=14 level=1 value=0x2000
base calculator=15 value=0
stride calculator=15 level=0 value=0x2000
format calculator=6 type=constant
length value=2048
loop value=4
# The scale and the inverse of each column.
base calculator=0 value=0
format calculator=0 type=i32 value=4
wait_stores count=0
load scratchpad=0 memory=15 size=0x2000
wait_loads count=0
base calculator=1 value=0x2000
format calculator=1 type=i32 value=4
upper value=0x1ff
base calculator=6 value=-0x1
and destination=1 first=0 second=6
format calculator=1 type=f32 value=4
base calculator=3 value=0x4000
format calculator=3 type=i32 value=4
upper value=0x36
base calculator=6 value=0
less destination=3 first=1 second=6
base calculator=2 value=0x8000
format calculator=2 type=f32 value=4
upper value=0xfe
base calculator=6 value=0
move destination=2 first=6
upper value=0x15e
base calculator=6 value=0
select destination=2 first=3 second=6
multiply destination=1 first=1 second=2
upper value=0x2f6
base calculator=6 value=0
multiply destination=1 first=1 second=6
format calculator=1 type=i32 value=4
base calculator=4 value=0x6000
format calculator=4 type=i32 value=4
upper value=0x3fb
base calculator=6 value=-0xcee39
subtract destination=4 first=6 second=1
format calculator=1 type=f32 value=4
format calculator=4 type=f32 value=4
format calculator=3 type=f32 value=4
upper value=0xfe
base calculator=6 value=0
move destination=3 first=6
multiply_add destination=3 first=1 second=4
multiply_add destination=4 first=4 second=3
move destination=3 first=6
multiply_add destination=3 first=1 second=4
multiply_add destination=4 first=4 second=3
move destination=3 first=6
multiply_add destination=3 first=1 second=4
multiply_add destination=4 first=4 second=3
# By 0, quotients are infinite; the inverse has the sign of what it is of.
format calculator=3 type=i32 value=4
base calculator=6 value=0
equal destination=3 first=1 second=6
upper value=0x1fe
base calculator=6 value=0
select destination=4 first=3 second=6
format calculator=4 type=i32 value=4
upper value=0x200
base calculator=6 value=0
and destination=3 first=0 second=6
base calculator=5 value=0xa000
format calculator=5 type=i32 value=4
or destination=5 first=4 second=3
# The windows.
base calculator=3 value=0xa000
format calculator=3 type=f32 value=4
base calculator=0 value=0
format calculator=0 type=f32 value=4
base calculator=1 value=0x4000
format calculator=1 type=f32 value=4
base calculator=4 value=0xc000
format calculator=4 type=i8 value=1
base calculator=5 value=0xd000
format calculator=5 type=i8 value=1
stride calculator=0 level=1 value=0x2000
loop value=2
load scratchpad=0 memory=7 size=0x2000 ends=1
loop value=63
base calculator=0 value=0
stride calculator=0 level=2 value=0x2000
base calculator=1 value=0x4000
stride calculator=1 level=2 value=0x2000
base calculator=4 value=0xc000
stride calculator=4 level=2 value=0x800
base calculator=5 value=0xd000
stride calculator=5 level=2 value=0x800
loop value=2
load scratchpad=1 memory=8 size=0x2000 ends=1
wait_loads count=2
wait_stores count=2
loop value=2
multiply destination=0 first=0 second=0 ends=1
loop value=2
multiply destination=0 first=0 second=2 ends=1
loop value=2
multiply destination=0 first=0 second=3 ends=1
loop value=2
saturate destination=4 first=0 ends=1
loop value=2
store scratchpad=4 memory=11 size=0x800 ends=1
loop value=2
load scratchpad=0 memory=9 size=0x2000 ends=1
wait_loads count=2
wait_stores count=2
loop value=2
multiply destination=1 first=1 second=1 ends=1
loop value=2
multiply destination=1 first=1 second=2 ends=1
loop value=2
multiply destination=1 first=1 second=3 ends=1
loop value=2
saturate destination=5 first=1 ends=1
loop value=2
store scratchpad=5 memory=12 size=0x800 ends=2
# The last two groups of windows.
base calculator=0 value=0
stride calculator=0 level=1 value=0x2000
base calculator=1 value=0x4000
stride calculator=1 level=1 value=0x2000
base calculator=4 value=0xc000
stride calculator=4 level=1 value=0x800
base calculator=5 value=0xd000
stride calculator=5 level=1 value=0x800
loop value=2
load scratchpad=1 memory=10 size=0x2000 ends=1
wait_loads count=2
wait_stores count=2
loop value=2
multiply destination=0 first=0 second=0 ends=1
loop value=2
multiply destination=0 first=0 second=2 ends=1
loop value=2
multiply destination=0 first=0 second=3 ends=1
loop value=2
saturate destination=4 first=0 ends=1
loop value=2
store scratchpad=4 memory=13 size=0x800 ends=1
wait_loads count=0
wait_stores count=2
loop value=2
multiply destination=1 first=1 second=1 ends=1
loop value=2
multiply destination=1 first=1 second=2 ends=1
loop value=2
multiply destination=1 first=1 second=3 ends=1
loop value=2
saturate destination=5 first=1 ends=1
loop value=2
store scratchpad=5 memory=14 size=0x800 ends=2
end
