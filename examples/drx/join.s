# 1024 pieces of 2048 keys: 16 KiB come in, the lower half of each key is moved, 8 KiB go out.
# A piece is loaded while the one before is computed and the one before that is stored.
#
# Calculators 0 and 1: buffers of keys, 2 and 3: of results, 4 and 5: what is loaded, 6 and 7: what is stored.
format calculator=0 type=i32 value=8
format calculator=1 type=i32 value=8
format calculator=2 type=i32 value=4
format calculator=3 type=i32 value=4
base calculator=0 value=0
base calculator=1 value=0x4000
base calculator=2 value=0x8000
base calculator=3 value=0xc000
length value=2048
region calculator=4 region=1
region calculator=5 region=1
base calculator=4 value=0
load scratchpad=0 memory=4 size=0x4000
# In each of 511 rounds, pieces 2 i + 1 and 2 i + 2 are loaded, and 2 i and 2 i + 1 computed.
base calculator=5 value=0x4000
stride calculator=5 level=0 value=0x8000
base calculator=4 value=0x8000
stride calculator=4 level=0 value=0x8000
base calculator=6 value=0
stride calculator=6 level=0 value=0x4000
base calculator=7 value=0x2000
stride calculator=7 level=0 value=0x4000
loop value=511
load scratchpad=1 memory=5 size=0x4000
wait_loads count=1
wait_stores count=1
move destination=2 first=0
store scratchpad=2 memory=6 size=0x2000
load scratchpad=0 memory=4 size=0x4000
wait_loads count=1
wait_stores count=1
move destination=3 first=1
store scratchpad=3 memory=7 size=0x2000 ends=1
# The last two pieces, of which one is there.
upper value=3
base calculator=5 value=-0x4000
upper value=1
base calculator=6 value=-0x4000
upper value=1
base calculator=7 value=-0x2000
load scratchpad=1 memory=5 size=0x4000
wait_loads count=1
wait_stores count=1
move destination=2 first=0
store scratchpad=2 memory=6 size=0x2000
wait_loads count=0
wait_stores count=1
move destination=3 first=1
store scratchpad=3 memory=7 size=0x2000
end
