package rackwright.zstd.decode

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.stream.StreamRange

/** What a dictionary contributes to a frame. The reset value describes a frame without dictionary. */
class FrameDictionary extends Bundle {

  /** The dictionary brings entropy tables, which the first block may reuse as if an earlier block had described them.
    */
  val trained = Bool()
  val id = UInt(32.W)

  /** Address of the dictionary content, which precedes the output in the history. */
  val content = UInt(64.W)
  val contentBytes = UInt(DictionaryReader.lengthBits.W)

  /** The repeated offsets with which a frame starts. */
  val offsets = Vec(3, UInt(32.W))
}

/** Prepares a dictionary for a frame (RFC 8878, section 5): either raw content, or a trained dictionary, in which an
  * id, a Huffman code, three FSE tables and three repeated offsets precede the content. [[BlockReader]] parses those.
  *
  * While it is active, the input stream reads from the dictionary.
  */
class DictionaryReader extends Module {
  import DictionaryReader.State

  /** An operation starts with this dictionary (length 0: none), and whether the dictionary has the same bytes as the
    * last one that was read.
    */
  val begin = IO(Flipped(Valid(new StreamRange)))
  val isKept = IO(Input(Bool()))

  /** Abandons the dictionary in progress. */
  val clear = IO(Input(Bool()))

  /** A frame starts at this position of the input. Accepted when the dictionary is ready and the input has been moved
    * to this position.
    */
  val frame = IO(Flipped(Decoupled(UInt(64.W))))

  /** Whether the operation has a dictionary, and what it contributes; valid once a frame has been accepted. */
  val isGiven = IO(Output(Bool()))
  val dictionary = IO(Output(new FrameDictionary))

  /** The input stream reads from the dictionary, which starts at `source`. */
  val active = IO(Output(Bool()))
  val source = IO(Output(UInt(64.W)))

  /** Switches the input stream between the dictionary and the input of the operation; it continues at this position. */
  val enter = IO(Valid(UInt(64.W)))

  /** Same contract as the port of [[BlockReader]]. */
  val head = IO(Input(new InputHead(FrameReader.headBytes)))
  val position = IO(Input(UInt(64.W)))
  val consume = IO(Output(UInt(4.W)))
  val block = IO(Decoupled(new CompressedBlock))
  val blockDone = IO(Input(Bool()))
  val offsets = IO(Input(Vec(3, UInt(32.W))))

  /** A table or the code is being rebuilt, by the dictionary or by a block. */
  val tablesChange = IO(Input(Bool()))

  /** Error status; held until `clear`. */
  val failed = IO(Output(Bool()))
  val status = IO(Output(UInt(Status.width.W)))

  private val state = RegInit(State.idle)
  private val why = Reg(UInt(Status.width.W))
  private val range = Reg(new StreamRange)
  private val there = RegInit(false.B)

  /** The dictionary of this range has been parsed, and the tables still are its tables. */
  private val known = RegInit(false.B)
  private val intact = RegInit(false.B)
  private val result = Reg(new FrameDictionary)

  /** The largest size of the tables behind the header of a trained dictionary. */
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
    // The position is stable in this state; the values computed from it are valid two cycles later.
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

/** Constants of the format. */
object DictionaryReader {
  val magic: BigInt = BigInt("EC30A437", 16)

  /** Width of a dictionary length. */
  val lengthBits: Int = 31

  /** Upper bound of the size of tables and offsets: 1 + 127 bytes of weights, three descriptions of at most 53 codes
    * with up to ten bits each, and twelve bytes of offsets.
    */
  val tablesMost: Int = 1 << 10

  /** The initial state of a frame without dictionary. */
  def none: FrameDictionary = {
    val value = Wire(new FrameDictionary)
    value.trained := false.B
    value.id := 0.U
    value.content := 0.U
    value.contentBytes := 0.U
    value.offsets := VecInit(Seq(1, 4, 8).map(_.U(32.W)))
    value
  }

  /** `header` checks the magic number of a trained dictionary; `measure` and `check` compare its repeated offsets with
    * the size of the content.
    */
  object State extends ChiselEnum {
    val idle, header, tables, inTables, measure, check, failed = Value
  }
}
