# The four records lie one behind the other already: 384 pieces of 16 KiB go through four buffers, each a bank.
# Two pieces are loaded ahead. A buffer is loaded again when the store of its last piece is done.
#
# Calculators 0 to 3: buffers. 4 to 7: what is loaded into them, 8 to 11: what is stored from them.
base calculator=0 value=0
base calculator=1 value=0x4000
base calculator=2 value=0x8000
base calculator=3 value=0xc000
region calculator=4 region=1
region calculator=5 region=1
region calculator=6 region=1
region calculator=7 region=1
base calculator=4 value=0
base calculator=5 value=0x4000
load scratchpad=0 memory=4 size=0x4000
load scratchpad=1 memory=5 size=0x4000
# From here on, in each of 95 rounds: pieces 4 i + 2 to 4 i + 5 are loaded, and 4 i to 4 i + 3 stored.
base calculator=6 value=0x8000
stride calculator=6 level=0 value=0x10000
base calculator=7 value=0xc000
stride calculator=7 level=0 value=0x10000
base calculator=4 value=0x10000
stride calculator=4 level=0 value=0x10000
base calculator=5 value=0x14000
stride calculator=5 level=0 value=0x10000
base calculator=8 value=0
stride calculator=8 level=0 value=0x10000
base calculator=9 value=0x4000
stride calculator=9 level=0 value=0x10000
base calculator=10 value=0x8000
stride calculator=10 level=0 value=0x10000
base calculator=11 value=0xc000
stride calculator=11 level=0 value=0x10000
loop value=95
wait_stores count=1
load scratchpad=2 memory=6 size=0x4000
wait_loads count=2
store scratchpad=0 memory=8 size=0x4000
wait_stores count=1
load scratchpad=3 memory=7 size=0x4000
wait_loads count=2
store scratchpad=1 memory=9 size=0x4000
wait_stores count=1
load scratchpad=0 memory=4 size=0x4000
wait_loads count=2
store scratchpad=2 memory=10 size=0x4000
wait_stores count=1
load scratchpad=1 memory=5 size=0x4000
wait_loads count=2
store scratchpad=3 memory=11 size=0x4000 ends=1
# The last four pieces, of which two are there.
upper value=1
base calculator=6 value=0x1f8000
upper value=1
base calculator=7 value=0x1fc000
upper value=1
base calculator=8 value=0x1f0000
upper value=1
base calculator=9 value=0x1f4000
upper value=1
base calculator=10 value=0x1f8000
upper value=1
base calculator=11 value=0x1fc000
wait_stores count=1
load scratchpad=2 memory=6 size=0x4000
wait_loads count=2
store scratchpad=0 memory=8 size=0x4000
wait_stores count=1
load scratchpad=3 memory=7 size=0x4000
wait_loads count=2
store scratchpad=1 memory=9 size=0x4000
wait_loads count=1
store scratchpad=2 memory=10 size=0x4000
wait_loads count=0
store scratchpad=3 memory=11 size=0x4000
end
