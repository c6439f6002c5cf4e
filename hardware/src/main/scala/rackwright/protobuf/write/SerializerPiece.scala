package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.protobuf.table.DescriptorTable

/** A string or an array of numbers to write. */
class FieldTask extends Bundle {

  /** Address of a `std::string`, or of the first element; for an array of strings, of the word in front of the first
    * pointer.
    */
  val address = UInt(DescriptorTable.addressBits.W)
  val isString = Bool()
  val isArray = Bool()

  /** For a string of an array: it cannot be read; another string follows. */
  val isWild = Bool()
  val continues = Bool()

  /** Number of elements of an array. */
  val count = UInt(31.W)
  val kind = UInt(5.W)
  val packed = Bool()
  val tag = UInt(32.W)

  /** Omit the field if the string is empty. */
  val skipEmpty = Bool()

  /** Number of its request. */
  val request = UInt(SerializerEncoder.requestBits.W)
}

/** A field whose bytes have a known address. */
class FieldSource extends Bundle {

  /** The task; for a string, `address` and `count` are those of its characters. */
  val task = new FieldTask

  /** Total size in bytes, and size of an element of an array. */
  val bytes = UInt(FieldSource.bytesBits.W)
  val elementBytes = UInt(4.W)

  /** The bytes are the same in memory and in the wire format. */
  val asIs = Bool()

  /** The characters of a short string, which have been read. */
  val local = Valid(UInt(128.W))

  /** If it is not `ok`, there is nothing to write. */
  val status = UInt(Status.width.W)
}

/** Constants of a [[FieldSource]]. */
object FieldSource {

  /** Width of the number of elements of an array, and of the length of a string; of the size of either. */
  val countBits: Int = 31
  val bytesBits: Int = countBits + 3
}

/** Constructs tasks. */
object FieldTask {

  /** The strings or numbers of a field of a message. */
  def of(found: FoundField, request: UInt): FieldTask = {
    val field = found.entry.field
    val task = Wire(new FieldTask)
    task.address := found.address
    task.isString := found.kind === FoundKind.string || found.kind === FoundKind.strings
    task.isArray := found.kind === FoundKind.strings
    task.isWild := false.B
    task.continues := false.B
    task.count := found.count
    task.kind := field.kind
    task.packed := field.packed
    task.tag := found.entry.tag
    task.skipEmpty := field.implicitPresence && !field.inOneof && !task.isArray
    task.request := request
    task
  }
}

/** The kind of a piece of a field. */
object PieceKind extends ChiselEnum {

  /** Bytes without conversion; a number with or without its tag; tag and length of the preceding pieces; nothing. */
  val bytes, tagged, bare, prefix, nothing = Value
}

/** A number with its tag. */
class TaggedNumber extends Bundle {
  val number = new WireNumber
  val tag = UInt(32.W)
}

/** A piece of a field, whose numbers are in their representation in memory. */
class LoadedPiece(beatBytes: Int) extends Bundle {
  private val offsetBits = log2Ceil(beatBytes)
  val kind = PieceKind()

  /** Bytes `offset` to `offset + count - 1` are written, or the numbers of a type at two offsets. */
  val data = UInt((8 * beatBytes).W)
  val offset = UInt(offsetBits.W)
  val count = UInt(log2Ceil(beatBytes + 1).W)
  val numberKind = UInt(5.W)
  val lane = UInt(offsetBits.W)

  /** The second number, which precedes the first in the output. */
  val before = Valid(UInt(offsetBits.W))

  /** Tag and length of the field precede these bytes. */
  val prefixed = Bool()
  val tag = UInt(32.W)

  /** The field, or a string of an array, ends with this piece; another string of the array follows. */
  val last = Bool()
  val continues = Bool()

  /** With `last`: the status of the field. */
  val status = UInt(Status.width.W)
}

/** A piece of a field, in descending order of address. */
class FieldPiece(beatBytes: Int) extends Bundle {
  val kind = PieceKind()

  /** Bytes `offset` to `offset + count - 1` are written. */
  val data = UInt((8 * beatBytes).W)
  val offset = UInt(log2Ceil(beatBytes).W)
  val count = UInt(log2Ceil(beatBytes + 1).W)

  /** Tag and length of the field precede these bytes. */
  val prefixed = Bool()
  val number = new WireNumber
  val tag = UInt(32.W)

  /** For a number: another one of the same kind, which precedes it in the output. */
  val before = Valid(new TaggedNumber)

  /** The field ends with this piece. */
  val last = Bool()

  /** With `last`: the status of the field. */
  val status = UInt(Status.width.W)
}

/** Constants of a [[FieldPiece]]. */
object FieldPiece {

  /** Two numbers with their tags fit into a beat. */
  def mayHoldTwo(beatBytes: Int): Boolean = beatBytes >= 2 * SerializerEncoder.mostBytes

  /** This number of bytes, with any tag and length in front of them, fits into a beat. */
  def mayBePrefixed(beatBytes: Int, count: UInt): Bool = count <= (beatBytes - SerializerEncoder.mostPrefixBytes).U
}
