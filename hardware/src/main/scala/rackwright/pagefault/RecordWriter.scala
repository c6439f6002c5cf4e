package rackwright.pagefault

import chisel3._
import chisel3.util._

import rackwright.port.MemoryPort

/** A page that has arrived: information for software, and its destination. */
class NewPage extends Bundle {
  val record = UInt(Sizes.recordPlaceBits.W)
  val place = UInt(Sizes.entryPlaceBits.W)

  /** The remote entry that it had. */
  val entry = UInt(64.W)
}

/** A frame that is returned to software. */
class ReturnedFrame extends Bundle {
  val frame = UInt(Sizes.frameBits.W)

  /** Its contents are not needed: they have been stored, or no page arrived. If not, its page could not be stored. */
  val settled = Bool()
}

/** The ring of returned frames: a page of memory, a beat for each. */
object Ring {
  val entries: Int = 256
  val indexBits: Int = log2Ceil(entries)
  val countBits: Int = indexBits + 1
}

/** Writes information for software to memory, where software can process many pages together: a new page to the record
  * of its frame, a returned frame to a ring.
  */
class RecordWriter(params: Params) extends Module {
  val newPage = IO(Flipped(Decoupled(new NewPage)))
  val returned = IO(Flipped(Decoupled(new ReturnedFrame)))

  /** The record of the new page that was accepted last is in memory. */
  val recorded = IO(Output(Bool()))

  /** New pages so far. */
  val newPages = IO(Output(UInt(RecordWriter.totalBits.W)))

  /** The page of the ring. It empties that. */
  val ring = IO(Flipped(Valid(UInt(Sizes.frameBits.W))))

  /** Number of entries of the ring that have been read. */
  val taken = IO(Flipped(Valid(UInt(Ring.countBits.W))))

  /** A frame has been returned, and software has not taken it yet. */
  val interrupt = IO(Output(Bool()))
  val memory = IO(new MemoryPort(params.records))
  val idle = IO(Output(Bool()))

  private object State extends ChiselEnum {
    val ready, send, written = Value
  }
  private val state = RegInit(State.ready)
  private val page = Reg(UInt(Sizes.frameBits.W))
  private val ofNewPage = Reg(Bool())
  private val place = Reg(UInt(Sizes.recordPlaceBits.W))
  private val record = Reg(UInt(128.W))
  private val total = RegInit(0.U(RecordWriter.totalBits.W))

  // Places in the ring: none before software has set its address. The bit above the index is the turn around it.
  private val next = RegInit(0.U((Ring.indexBits + 1).W))
  private val room = RegInit(0.U(Ring.countBits.W))
  private val unread = RegInit(false.B)
  private val roomAfter = room - returned.fire + Mux(taken.valid, taken.bits, 0.U)
  room := roomAfter
  unread := roomAfter =/= Ring.entries.U
  interrupt := unread
  when(returned.fire) { next := next + 1.U }
  when(ring.valid) {
    page := ring.bits
    next := 0.U
    room := Ring.entries.U
    unread := false.B
  }
  assert(
    ring.valid || room -& returned.fire +& Mux(taken.valid, taken.bits, 0.U) <= Ring.entries.U,
    "too much is taken"
  )

  // One write at a time; an awaited page has priority.
  newPage.ready := state === State.ready
  returned.ready := state === State.ready && room =/= 0.U && !newPage.valid
  when(newPage.fire || returned.fire) {
    state := State.send
    ofNewPage := newPage.valid
    place := Mux(newPage.valid, newPage.bits.record, Cat(page, next(Ring.indexBits - 1, 0)))
    record := Mux(
      newPage.valid,
      Cat(newPage.bits.entry, 0.U(24.W), newPage.bits.place, 1.U(3.W)),
      Cat(returned.bits.frame, 0.U(10.W), returned.bits.settled, !next(Ring.indexBits))
    )
  }
  memory.request.valid := state === State.send
  memory.request.bits.address := Cat(place, 0.U(4.W))
  memory.request.bits.write := true.B
  memory.request.bits.data := record
  memory.request.bits.mask := "hffff".U
  memory.request.bits.tag := 0.U
  memory.response.ready := true.B
  when(memory.request.fire) { state := State.written }
  when(memory.response.valid) { state := State.ready }
  recorded := memory.response.valid && ofNewPage
  when(recorded) { total := total + 1.U }
  newPages := total
  idle := !newPage.fire && !returned.fire && !memory.request.valid && !memory.response.valid
  assert(!memory.response.valid || state === State.written, "an answer to no record")
}

object RecordWriter {

  /** Width of the count of new pages, which wraps. */
  val totalBits: Int = 32
}
