# 1536 pieces of 4096 bytes: 4 KiB come in, each byte becomes a token of 32 bits, 16 KiB go out. A piece is loaded
# while the one before is computed and the one before that is stored.
#
# Calculators 0 and 1: buffers of bytes, 2 and 3: of tokens, 4, 5 and 8: what is loaded, 6, 7, 9 and 10: what is stored.
format calculator=0 type=u8 value=1
base calculator=0 value=0
format calculator=1 type=u8 value=1
base calculator=1 value=0x4000
format calculator=2 type=i32 value=4
base calculator=2 value=0x8000
format calculator=3 type=i32 value=4
base calculator=3 value=0xc000
length value=4096
region calculator=4 region=1
region calculator=5 region=1
region calculator=8 region=1
base calculator=8 value=0
load scratchpad=0 memory=8 size=0x1000
base calculator=5 value=0x1000
stride calculator=5 level=0 value=0x2000
base calculator=4 value=0x2000
stride calculator=4 level=0 value=0x2000
base calculator=6 value=0
stride calculator=6 level=0 value=0x8000
base calculator=7 value=0x4000
stride calculator=7 level=0 value=0x8000
loop value=767
load scratchpad=1 memory=5 size=0x1000
wait_loads count=1
wait_stores count=1
move destination=2 first=0
store scratchpad=2 memory=6 size=0x4000
load scratchpad=0 memory=4 size=0x1000
wait_loads count=1
wait_stores count=1
move destination=3 first=1
store scratchpad=3 memory=7 size=0x4000 ends=1
upper value=1
base calculator=8 value=0x1ff000
upper value=5
base calculator=9 value=-0x8000
upper value=5
base calculator=10 value=-0x4000
load scratchpad=1 memory=8 size=0x1000
wait_loads count=1
wait_stores count=1
move destination=2 first=0
store scratchpad=2 memory=9 size=0x4000
wait_loads count=0
wait_stores count=1
move destination=3 first=1
store scratchpad=3 memory=10 size=0x4000
end
