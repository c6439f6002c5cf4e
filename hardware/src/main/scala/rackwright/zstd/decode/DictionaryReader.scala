package rackwright.zstd.decode

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.stream.StreamRange

/** What a dictionary gives to a frame; as it stands after a reset, what there is without one. */
class FrameDictionary extends Bundle {

  /** It brings tables and a code, as if a block of the frame had described them. */
  val trained = Bool()
  val id = UInt(32.W)

  /** What stands before the output. */
  val content = UInt(64.W)
  val contentBytes = UInt(DictionaryReader.lengthBits.W)

  /** Offsets that a frame begins with. */
  val offsets = Vec(3, UInt(32.W))
}

/** Makes a dictionary ready for a frame (RFC 8878, section 5): content only, or a trained one, which has a number, a
  * Huffman code, three tables and three offsets before its content. [[BlockReader]] reads those.
  *
  * While it works, the input is the dictionary.
  */
class DictionaryReader extends Module {
  import DictionaryReader.State

  /** An operation begins, with this dictionary: no bytes for none; whether its bytes are those that were last read
    * there.
    */
  val begin = IO(Flipped(Valid(new StreamRange)))
  val isKept = IO(Input(Bool()))

  /** Forgets what is under way. */
  val clear = IO(Input(Bool()))

  /** A frame begins here: taken when the dictionary is ready and the input goes on at this place. */
  val frame = IO(Flipped(Decoupled(UInt(64.W))))

  /** There is a dictionary; what is known of it when a frame has been taken. */
  val isGiven = IO(Output(Bool()))
  val dictionary = IO(Output(new FrameDictionary))

  /** The input is the dictionary, which begins at `source`. */
  val active = IO(Output(Bool()))
  val source = IO(Output(UInt(64.W)))

  /** The input changes between the dictionary and that of the operation, and goes on at this place of it. */
  val enter = IO(Valid(UInt(64.W)))

  /** As in [[BlockReader]]. */
  val head = IO(Input(new InputHead(FrameReader.headBytes)))
  val position = IO(Input(UInt(64.W)))
  val consume = IO(Output(UInt(4.W)))
  val block = IO(Decoupled(new CompressedBlock))
  val blockDone = IO(Input(Bool()))
  val offsets = IO(Input(Vec(3, UInt(32.W))))

  /** A table or the code is made, here or by a block. */
  val tablesChange = IO(Input(Bool()))

  /** Something is wrong; stays until `clear`. */
  val failed = IO(Output(Bool()))
  val status = IO(Output(UInt(Status.width.W)))

  private val state = RegInit(State.idle)
  private val why = Reg(UInt(Status.width.W))
  private val range = Reg(new StreamRange)
  private val there = RegInit(false.B)

  /** What the range holds has been read; the tables are still those it holds. */
  private val known = RegInit(false.B)
  private val intact = RegInit(false.B)
  private val result = Reg(new FrameDictionary)

  /** Bytes behind the head of a trained dictionary, as many as its tables can have. */
  private val tableBytes =
    RegNext(Mux(range.length > DictionaryReader.tablesMost.U, DictionaryReader.tablesMost.U, range.length - 8.U))
  private val contentLeft = RegNext(range.length - position)
  private val contentAt = RegNext(range.address + position)
  private val tooFar = RegNext(VecInit(offsets.map(offset => offset === 0.U || offset > contentLeft)).asUInt.orR)

  isGiven := there
  dictionary := Mux(there, result, DictionaryReader.none)
  active := state =/= State.idle && state =/= State.failed
  source := range.address
  enter.valid := false.B
  enter.bits := Mux(active, frame.bits, 0.U)
  consume := 0.U
  frame.ready := false.B
  block.valid := state === State.tables
  block.bits := DontCare
  block.bits.bytes := tableBytes
  block.bits.first := true.B
  block.bits.tabled := false.B
  block.bits.isDictionary := true.B
  failed := state === State.failed
  status := why

  private def fail(status: UInt): Unit = {
    why := status
    state := State.failed
  }
  private def leave(): Unit = {
    enter.valid := true.B
    frame.ready := true.B
    known := true.B
    state := State.idle
  }

  switch(state) {
    is(State.idle) {
      when(frame.valid) {
        when(known && (intact || !result.trained)) {
          frame.ready := true.B
        }.otherwise {
          enter.valid := true.B
          known := false.B
          result := DictionaryReader.none
          state := State.header
        }
      }
    }
    is(State.header) {
      when(head.has(8.U) && head.number(4) === DictionaryReader.magic.U) {
        result.id := head.number(8)(63, 32)
        consume := 8.U
        state := State.tables
      }.elsewhen(head.has(8.U) || head.lacks(8.U)) {
        result.content := range.address
        result.contentBytes := range.length
        leave()
      }.elsewhen(head.unreadable) {
        fail(Status.accessFault)
      }
    }
    is(State.tables) { when(block.ready) { state := State.inTables } }
    is(State.inTables) {
      when(blockDone) { state := State.measure }
    }
    // The position stays; what is worked out of it is there two cycles later.
    is(State.measure) { state := State.check }
    is(State.check) {
      result.trained := true.B
      result.offsets := offsets
      result.content := contentAt
      result.contentBytes := contentLeft
      when(tooFar) { fail(Status.malformed) }.otherwise { leave() }
      intact := true.B
    }
  }
  when(tablesChange) { intact := false.B }
  private val isSame = RegNext(begin.bits.asUInt === range.asUInt)
  when(begin.valid) {
    there := begin.bits.length =/= 0.U
    when(begin.bits.length =/= 0.U) {
      range := begin.bits
      known := known && isKept && isSame
    }
  }
  when(clear) { state := State.idle }
}

/** What the format fixes. */
object DictionaryReader {
  val magic: BigInt = BigInt("EC30A437", 16)

  /** Bits of a dictionary's length. */
  val lengthBits: Int = 31

  /** No tables and offsets are longer: a byte and 127 of weights, three descriptions of at most 53 codes of up to ten
    * bits each, twelve bytes.
    */
  val tablesMost: Int = 1 << 10

  /** What a frame begins with where there is no dictionary. */
  def none: FrameDictionary = {
    val value = Wire(new FrameDictionary)
    value.trained := false.B
    value.id := 0.U
    value.content := 0.U
    value.contentBytes := 0.U
    value.offsets := VecInit(Seq(1, 4, 8).map(_.U(32.W)))
    value
  }

  /** `header` looks whether it is a trained one; `measure` and `check` compare its offsets with what is left. */
  object State extends ChiselEnum {
    val idle, header, tables, inTables, measure, check, failed = Value
  }
}
