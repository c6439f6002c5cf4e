package rackwright.protobuf.table

import chisel3._

/** One line of a descriptor table in memory: 16 bytes, or a fault. */
class DescriptorLine extends Bundle {
  val data = UInt((8 * DescriptorTable.lineBytes).W)
  val fault = Bool()

  /** The first and the second 64-bit word. */
  def word0: UInt = data(63, 0)
  def word1: UInt = data(127, 64)
}

/** The table entry of a field: README.md has the layout. */
class DescriptorEntry extends Bundle {
  val repeated = Bool()

  /** Type of a field descriptor, 1 to 18; 0 for no field. */
  val kind = UInt(5.W)
  val unsupported = Bool()
  val utf8 = Bool()
  val implicitPresence = Bool()
  val packed = Bool()
  val closedEnum = Bool()

  /** The values of the closed enum are in a set in memory. */
  val inSet = Bool()
  val isMap = Bool()

  /** The string or message is embedded in the object. */
  val inline = Bool()

  /** A field of a map entry: it is always serialized. */
  val inEntry = Bool()
  val hasbit = UInt(16.W)
  val offset = UInt(32.W)

  /** Offset of the oneof case word divided by 4; 0 outside of oneofs. */
  val oneof = UInt(16.W)

  /** Table of the field's message type. */
  val table = UInt(DescriptorTable.addressBits.W)

  /** The smallest value of a closed enum that the bitmap covers, and the bitmap: the declared values, starting with
    * that one.
    */
  val enumLeast = SInt(8.W)
  val enumMap = UInt(DescriptorTable.mappedValues.W)

  def hasHasbit: Bool = hasbit =/= DescriptorTable.noHasbit.U
  def inOneof: Bool = oneof =/= 0.U

  /** Offset of the case word in the object. */
  def caseOffset: UInt = oneof << 2
}

/** Constants of descriptor tables, and the decoding of their lines. */
object DescriptorTable {
  val addressBits: Int = 48
  val lineBytes: Int = 16

  /** Number of lines of the header, which the first entry follows. */
  val headerLines: Int = 4

  /** Maximum number of entries of a table. */
  val maximumEntries: Int = 4096

  /** Values of a closed enum that the bitmap of an entry covers. */
  val mappedValues: Int = 40

  /** Hasbit index of a field without one. */
  val noHasbit: Int = 0xffff

  /** The entry in a line of 16 bytes; in a serialize list, the first line of an entry. */
  def entry(data: UInt): DescriptorEntry = {
    val entry = Wire(new DescriptorEntry)
    entry.repeated := data(63)
    entry.kind := data(62, 58)
    entry.unsupported := data(57)
    entry.utf8 := data(56)
    entry.implicitPresence := data(55)
    entry.packed := data(54)
    entry.closedEnum := data(53)
    entry.inSet := isInSet(data)
    entry.isMap := data(51)
    entry.inline := data(50)
    entry.inEntry := data(49)
    entry.hasbit := data(47, 32)
    entry.offset := data(31, 0)
    entry.oneof := data(127, 112)
    entry.table := data(111, 64)
    entry.enumLeast := data(111, 104).asSInt
    entry.enumMap := data(103, 64)
    entry
  }

  /** Whether the values of the field are looked up in a set. */
  def isInSet(data: UInt): Bool = data(53) && data(52)
}

/** Types of field descriptors (descriptor.proto), and their properties. */
object FieldKind {
  val double = 1
  val float = 2
  val int64 = 3
  val uint64 = 4
  val int32 = 5
  val fixed64 = 6
  val fixed32 = 7
  val bool = 8
  val string = 9
  val group = 10
  val message = 11
  val bytes = 12
  val uint32 = 13
  val enumeration = 14
  val sfixed32 = 15
  val sfixed64 = 16
  val sint32 = 17
  val sint64 = 18

  private def isOneOf(kind: UInt, kinds: Int*): Bool = VecInit.tabulate(32)(i => kinds.contains(i).B).asUInt(kind)

  def isVarint(kind: UInt): Bool = isOneOf(kind, int64, uint64, int32, bool, uint32, enumeration, sint32, sint64)
  def isZigzag(kind: UInt): Bool = isOneOf(kind, sint32, sint64)
  def isFixed32(kind: UInt): Bool = isOneOf(kind, float, fixed32, sfixed32)
  def isFixed64(kind: UInt): Bool = isOneOf(kind, double, fixed64, sfixed64)
  def isStringLike(kind: UInt): Bool = isOneOf(kind, string, bytes)
  def isMessage(kind: UInt): Bool = kind === message.U

  /** A value of eight bytes in memory. */
  def isWide(kind: UInt): Bool = isOneOf(kind, int64, uint64, sint64, double, fixed64, sfixed64)
  def isBool(kind: UInt): Bool = kind === bool.U

  /** log2 of the size of a value in memory: 0 for bool, 2 or 3; 3 for pointers. */
  def log2Bytes(kind: UInt): UInt =
    Mux(isBool(kind), 0.U(2.W), Mux(isWide(kind) || isStringLike(kind) || isMessage(kind), 3.U, 2.U))
}

/** Wire types: the low three bits of a tag. */
object WireType {
  val varint = 0
  val fixed64 = 1
  val lengthDelimited = 2
  val startGroup = 3
  val endGroup = 4
  val fixed32 = 5

  /** A start or end tag of a group, without a value. */
  def isGroup(wire: UInt): Bool = wire === startGroup.U || wire === endGroup.U
}
