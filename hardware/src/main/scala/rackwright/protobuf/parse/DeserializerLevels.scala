package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.memory.LevelStack
import rackwright.protobuf.table.DescriptorTable

/** A level of the stack of messages. */
class MessageLevel extends Bundle {
  val kind = new MessageType

  /** Address of its object. */
  val target = UInt(DescriptorTable.addressBits.W)

  /** Remaining bytes of the message in the input. */
  val left = UInt(32.W)

  /** A filter of the repeated fields and sub-messages, by offset in the object, that the message may already contain.
    */
  val seen = UInt(MessageLevel.seenBits.W)
}

/** Constants of a [[MessageLevel]]. */
object MessageLevel {
  val seenBits: Int = 64
}

/** A message to enter. */
class LevelEntry extends Bundle {
  val kind = new MessageType
  val target = UInt(DescriptorTable.addressBits.W)

  /** It is nested in the current one, and takes `length` bytes of its input. */
  val within = Bool()
  val length = UInt(32.W)

  /** Its object may already contain any field. */
  val merges = Bool()
}

/** The stack of nested messages.
  *
  * @param depth
  *   maximum number of messages on the stack, the current one included.
  */
class DeserializerLevels(depth: Int) extends Module {

  /** A new input, and the position in it after this cycle. */
  val start = IO(Flipped(Valid(new ScannerPlace)))

  /** Pushes a message; pops it, which takes one more cycle. */
  val enter = IO(Flipped(Valid(new LevelEntry)))
  val pop = IO(Input(Bool()))

  /** Bytes that are consumed in this cycle. */
  val consumed = IO(Input(UInt(8.W)))

  /** The offset of a field; whether the field is executed in this cycle, and must be remembered; whether it may have
    * occurred before.
    */
  val offset = IO(Input(UInt(32.W)))
  val marks = IO(Input(Bool()))
  val seen = IO(Output(Bool()))

  val level = IO(Output(new MessageLevel))

  /** Position in the input. */
  val position = IO(Output(UInt(32.W)))

  /** The stack is full; the current message is the top-level one. */
  val full = IO(Output(Bool()))
  val outermost = IO(Output(Bool()))

  private val current = Reg(new MessageLevel)
  private val passed = Reg(UInt(32.W))
  private val stack = Module(new LevelStack(new MessageLevel, depth - 1))
  level := current
  position := passed
  full := stack.full
  outermost := stack.empty

  // Indexed by words of the object, as field numbers are far apart in some types.
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
