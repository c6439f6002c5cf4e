# Tiles of 160 columns and 90 rows of the result, nine of them. Their pixels come in groups of four pairs of
# columns, of which the next is loaded while one is computed: pairs of columns first, then pairs of rows, in blocks
# of 15 rows, whose columns are 16 bytes apart, so that 32 of them are read at once when the tile is transposed.
# The greatest of pairs of columns are written twice, since two operands are not read from one bank.
#
# Calculators 7 to 13, in memory: 7 the first group of three tiles, 8 odd groups, 9 even ones, 10 the last group,
# 11 the first one of the tile below, 12 and 13 even and odd blocks of the result.
region calculator=7 region=1
region calculator=8 region=1
region calculator=9 region=1
region calculator=10 region=1
region calculator=11 region=1
base calculator=7 value=0
upper value=0
stride calculator=7 level=0 value=-0x1700
stride calculator=7 level=1 value=0x654
stride calculator=7 level=2 value=0xca8
base calculator=8 value=0x32a0
upper value=0
stride calculator=8 level=0 value=-0x1700
stride calculator=8 level=1 value=0x21c
stride calculator=8 level=2 value=0x6540
stride calculator=8 level=3 value=0x654
stride calculator=8 level=4 value=0xca8
base calculator=9 value=0x6540
upper value=0
stride calculator=9 level=0 value=-0x1700
stride calculator=9 level=1 value=0x21c
stride calculator=9 level=2 value=0x6540
stride calculator=9 level=3 value=0x654
stride calculator=9 level=4 value=0xca8
base calculator=10 value=0x7b660
upper value=0
stride calculator=10 level=0 value=-0x1700
stride calculator=10 level=1 value=0x21c
stride calculator=10 level=2 value=0x654
stride calculator=10 level=3 value=0xca8
base calculator=11 value=0x21c
upper value=0
stride calculator=11 level=0 value=-0x1700
stride calculator=11 level=1 value=0x21c
stride calculator=11 level=2 value=0x654
stride calculator=11 level=3 value=0xca8
base calculator=12 value=0
stride calculator=12 level=0 value=0xa0
stride calculator=12 level=1 value=0xa8c0
stride calculator=12 level=2 value=0x1fa40
stride calculator=12 level=3 value=0x3840
stride calculator=12 level=4 value=0x1e0
base calculator=13 value=0x1c20
stride calculator=13 level=0 value=0xa0
stride calculator=13 level=1 value=0xa8c0
stride calculator=13 level=2 value=0x1fa40
stride calculator=13 level=3 value=0x3840
stride calculator=13 level=4 value=0x1e0
loop value=3
base calculator=0 value=0xc000
stride calculator=0 level=1 value=0x870
stride calculator=0 level=2 value=0x21c
loop value=2
loop value=4
load scratchpad=0 memory=7 size=0x21c ends=2
loop value=3
# Pairs of columns and of rows. Calculators 1 and 2: columns, 3 and 14: their greatest, 4 and 5: the same as rows,
# 6 and 15: blocks.
base calculator=1 value=0
format calculator=1 type=u8 value=1
base calculator=2 value=0
format calculator=2 type=u8 value=1
base calculator=3 value=0xb400
format calculator=3 type=u8 value=1
base calculator=14 value=0xe1c0
format calculator=14 type=u8 value=1
base calculator=6 value=0
format calculator=6 type=u8 value=1
base calculator=15 value=0x40
format calculator=15 type=u8 value=1
format calculator=4 type=u8 value=6
format calculator=5 type=u8 value=6
stride calculator=6 level=2 value=0x80
stride calculator=6 level=3 value=0x3c00
stride calculator=6 level=4 value=0xa00
stride calculator=6 level=5 value=0x10
stride calculator=15 level=2 value=0x80
stride calculator=15 level=3 value=0x3c00
stride calculator=15 level=4 value=0xa00
stride calculator=15 level=5 value=0x10
wait_stores count=15
base calculator=4 value=0xb400
stride calculator=4 level=3 value=1
stride calculator=4 level=4 value=0x5a
stride calculator=4 level=5 value=0x21c
base calculator=5 value=0xe1c3
stride calculator=5 level=3 value=1
stride calculator=5 level=4 value=0x5a
stride calculator=5 level=5 value=0x21c
loop value=19
base calculator=4 value=0xb400
stride calculator=4 level=3 value=1
stride calculator=4 level=4 value=0x5a
stride calculator=4 level=5 value=0x21c
base calculator=5 value=0xe1c3
stride calculator=5 level=3 value=1
stride calculator=5 level=4 value=0x5a
stride calculator=5 level=5 value=0x21c
base calculator=0 value=0xd0e0
stride calculator=0 level=3 value=0x870
stride calculator=0 level=4 value=0x21c
loop value=2
loop value=4
load scratchpad=0 memory=8 size=0x21c ends=2
wait_loads count=8
base calculator=1 value=0xc000
base calculator=2 value=0xc870
length value=2160
maximum destination=3 first=1 second=2
maximum destination=14 first=1 second=2
length value=15
loop value=3
loop value=6
loop value=4
maximum destination=6 first=4 second=5 ends=3
base calculator=0 value=0xc000
stride calculator=0 level=3 value=0x870
stride calculator=0 level=4 value=0x21c
loop value=2
loop value=4
load scratchpad=0 memory=9 size=0x21c ends=2
wait_loads count=8
base calculator=1 value=0xd0e0
base calculator=2 value=0xd950
length value=2160
maximum destination=3 first=1 second=2
maximum destination=14 first=1 second=2
length value=15
loop value=3
loop value=6
loop value=4
maximum destination=15 first=4 second=5 ends=4
# The last two groups, and the first one of the next tile.
base calculator=4 value=0xb400
stride calculator=4 level=2 value=1
stride calculator=4 level=3 value=0x5a
stride calculator=4 level=4 value=0x21c
base calculator=5 value=0xe1c3
stride calculator=5 level=2 value=1
stride calculator=5 level=3 value=0x5a
stride calculator=5 level=4 value=0x21c
base calculator=6 value=0x980
stride calculator=6 level=2 value=0x3c00
stride calculator=6 level=3 value=0xa00
stride calculator=6 level=4 value=0x10
base calculator=15 value=0x9c0
stride calculator=15 level=2 value=0x3c00
stride calculator=15 level=3 value=0xa00
stride calculator=15 level=4 value=0x10
base calculator=0 value=0xd0e0
stride calculator=0 level=2 value=0x870
stride calculator=0 level=3 value=0x21c
loop value=2
loop value=4
load scratchpad=0 memory=10 size=0x21c ends=2
wait_loads count=8
base calculator=1 value=0xc000
base calculator=2 value=0xc870
length value=2160
maximum destination=3 first=1 second=2
maximum destination=14 first=1 second=2
length value=15
loop value=3
loop value=6
loop value=4
maximum destination=6 first=4 second=5 ends=3
base calculator=0 value=0xc000
stride calculator=0 level=2 value=0x870
stride calculator=0 level=3 value=0x21c
loop value=2
loop value=4
load scratchpad=0 memory=11 size=0x21c ends=2
wait_loads count=8
base calculator=1 value=0xd0e0
base calculator=2 value=0xd950
length value=2160
maximum destination=3 first=1 second=2
maximum destination=14 first=1 second=2
length value=15
loop value=3
loop value=6
loop value=4
maximum destination=15 first=4 second=5 ends=3
# Columns become rows. Calculators 1 and 2: even and odd blocks, 3: products, 4 and 5: results, 6 and 14: factors.
base calculator=1 value=0
base calculator=2 value=0xa00
format calculator=1 type=u8 value=16
stride calculator=1 level=2 value=0x3c00
stride calculator=1 level=3 value=0x1400
stride calculator=1 level=4 value=1
format calculator=2 type=u8 value=16
stride calculator=2 level=2 value=0x3c00
stride calculator=2 level=3 value=0x1400
stride calculator=2 level=4 value=1
base calculator=3 value=0xe1c0
format calculator=3 type=i16 value=2
stride calculator=3 level=4 value=0x140
base calculator=4 value=0xb400
format calculator=4 type=i8 value=1
stride calculator=4 level=4 value=0xa0
base calculator=5 value=0xf480
format calculator=5 type=i8 value=1
stride calculator=5 level=4 value=0xa0
format calculator=6 type=constant
base calculator=6 value=0x7f
format calculator=14 type=constant
base calculator=14 value=8
loop value=3
loop value=3
length value=160
loop value=15
multiply destination=3 first=1 second=6 ends=1
length value=2400
wait_stores count=15
shift_right destination=4 first=3 second=14
loop value=15
store scratchpad=4 memory=12 size=0xa0 ends=1
length value=160
loop value=15
multiply destination=3 first=2 second=6 ends=1
length value=2400
wait_stores count=15
shift_right destination=5 first=3 second=14
loop value=15
store scratchpad=5 memory=13 size=0xa0 ends=5
end
