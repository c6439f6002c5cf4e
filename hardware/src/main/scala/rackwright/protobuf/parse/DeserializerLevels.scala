package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.memory.LevelStack
import rackwright.protobuf.table.DescriptorTable

/** A message that is being read. */
class MessageLevel extends Bundle {
  val kind = new MessageType

  /** Address of its object. */
  val target = UInt(DescriptorTable.addressBits.W)

  /** Bytes of it that are left in the input. */
  val left = UInt(32.W)

  /** Which repeated fields and messages, by where they lie in the object, it may have had already. */
  val seen = UInt(MessageLevel.seenBits.W)
}

/** Constants of a [[MessageLevel]]. */
object MessageLevel {
  val seenBits: Int = 64
}

/** A message to go into. */
class LevelEntry extends Bundle {
  val kind = new MessageType
  val target = UInt(DescriptorTable.addressBits.W)

  /** It lies within the current one, and has `length` bytes of that. */
  val within = Bool()
  val length = UInt(32.W)

  /** Its object may have any of its fields. */
  val merges = Bool()
}

/** The messages within each other that are being read.
  *
  * @param depth
  *   messages kept, the current one included.
  */
class DeserializerLevels(depth: Int) extends Module {

  /** A new input: where in it we are after this cycle. */
  val start = IO(Flipped(Valid(new ScannerPlace)))

  /** Goes into a message; comes back to the one around it, which takes one more cycle. */
  val enter = IO(Flipped(Valid(new LevelEntry)))
  val pop = IO(Input(Bool()))

  /** Bytes that leave the input in this cycle. */
  val consumed = IO(Input(UInt(8.W)))

  /** The offset of a field; whether it is taken in this cycle, and has to be known again; whether it may have been. */
  val offset = IO(Input(UInt(32.W)))
  val marks = IO(Input(Bool()))
  val seen = IO(Output(Bool()))

  val level = IO(Output(new MessageLevel))

  /** Where in the input we are. */
  val position = IO(Output(UInt(32.W)))

  /** No further message can be gone into; the message is the outermost one. */
  val full = IO(Output(Bool()))
  val outermost = IO(Output(Bool()))

  private val current = Reg(new MessageLevel)
  private val passed = Reg(UInt(32.W))
  private val stack = Module(new LevelStack(new MessageLevel, depth - 1))
  level := current
  position := passed
  full := stack.full
  outermost := stack.empty

  // Words of the object, not field numbers: these are far apart in some types.
  private val seenBit = (offset >> 3)(log2Ceil(MessageLevel.seenBits) - 1, 0)
  seen := current.seen(seenBit)

  passed := passed + consumed
  current.left := current.left - consumed
  when(marks) { current.seen := current.seen.bitSet(seenBit, true.B) }

  stack.clear := start.valid
  stack.pop := pop
  stack.push.valid := enter.valid && enter.bits.within
  stack.push.bits := current
  stack.push.bits.left := current.left - enter.bits.length
  when(enter.valid) {
    current.kind := enter.bits.kind
    current.target := enter.bits.target
    current.seen := Fill(MessageLevel.seenBits, enter.bits.merges)
    when(enter.bits.within) { current.left := enter.bits.length }
  }
  when(stack.popped.valid) { current := stack.popped.bits }
  when(start.valid) {
    passed := start.bits.position
    current.left := start.bits.left
  }
}
