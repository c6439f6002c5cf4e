package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.protobuf.table.DescriptorTable

/** A string or an array of numbers to write. */
class FieldTask extends Bundle {

  /** A `std::string`, or the first element; of an array of strings, a word before the first pointer. */
  val address = UInt(DescriptorTable.addressBits.W)
  val isString = Bool()
  val isArray = Bool()

  /** Of a string of an array: it can't be read; another one comes behind it. */
  val isWild = Bool()
  val continues = Bool()

  /** Elements of an array. */
  val count = UInt(31.W)
  val kind = UInt(5.W)
  val packed = Bool()
  val tag = UInt(32.W)

  /** Write nothing if the string is empty. */
  val skipEmpty = Bool()

  /** Number of the request that it belongs to. */
  val request = UInt(SerializerEncoder.requestBits.W)
}

/** A field to write whose bytes are known to lie somewhere. */
class FieldSource extends Bundle {

  /** The task; of a string, `address` and `count` are those of its bytes. */
  val task = new FieldTask

  /** Bytes of all of it, and of an element of an array. */
  val bytes = UInt(FieldSource.bytesBits.W)
  val elementBytes = UInt(4.W)

  /** The bytes are written as they lie in memory. */
  val asIs = Bool()

  /** The bytes of a short string, which have been read. */
  val local = Valid(UInt(128.W))

  /** Not ok: there is nothing to write. */
  val status = UInt(Status.width.W)
}

/** Constants of a [[FieldSource]]. */
object FieldSource {

  /** Bits of the number of elements of an array, and of the bytes of a string; of the bytes of either. */
  val countBits: Int = 31
  val bytesBits: Int = countBits + 3
}

/** What becomes a task. */
object FieldTask {

  /** Strings or numbers that are a field of a message. */
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

/** What a piece of a field is. */
object PieceKind extends ChiselEnum {

  /** Bytes as they are; a number with or without its tag; tag and length of what this field wrote so far; nothing. */
  val bytes, tagged, bare, prefix, nothing = Value
}

/** A number and its tag. */
class TaggedNumber extends Bundle {
  val number = new WireNumber
  val tag = UInt(32.W)
}

/** A piece of what a field serializer writes, whose numbers are still as they lie in memory. */
class LoadedPiece(beatBytes: Int) extends Bundle {
  private val offsetBits = log2Ceil(beatBytes)
  val kind = PieceKind()

  /** Bytes `offset` to `offset + count - 1` are to be written, or the numbers of a type at two places. */
  val data = UInt((8 * beatBytes).W)
  val offset = UInt(offsetBits.W)
  val count = UInt(log2Ceil(beatBytes + 1).W)
  val numberKind = UInt(5.W)
  val lane = UInt(offsetBits.W)

  /** The one that is written before it. */
  val before = Valid(UInt(offsetBits.W))

  /** Tag and length of what this field wrote are before these bytes. */
  val prefixed = Bool()
  val tag = UInt(32.W)

  /** The field, or a string of an array, ends with this one; another string of the array comes behind it. */
  val last = Bool()
  val continues = Bool()

  /** With `last`: how. */
  val status = UInt(Status.width.W)
}

/** A piece of a field in descending order of address, as it is to be written. */
class FieldPiece(beatBytes: Int) extends Bundle {
  val kind = PieceKind()

  /** Bytes `offset` to `offset + count - 1` are to be written. */
  val data = UInt((8 * beatBytes).W)
  val offset = UInt(log2Ceil(beatBytes).W)
  val count = UInt(log2Ceil(beatBytes + 1).W)

  /** Tag and length of what this field wrote are before these bytes. */
  val prefixed = Bool()
  val number = new WireNumber
  val tag = UInt(32.W)

  /** For a number: another one of the same kind, which is written before it. */
  val before = Valid(new TaggedNumber)

  /** The field ends with this one. */
  val last = Bool()

  /** With `last`: how. */
  val status = UInt(Status.width.W)
}

/** Constants of a [[FieldPiece]]. */
object FieldPiece {

  /** Two numbers with their tags are no longer than a beat. */
  def mayHoldTwo(beatBytes: Int): Boolean = beatBytes >= 2 * SerializerEncoder.mostBytes

  /** So many bytes and any tag and length before them are no longer than a beat. */
  def mayBePrefixed(beatBytes: Int, count: UInt): Bool = count <= (beatBytes - SerializerEncoder.mostPrefixBytes).U
}
