package rackwright.pagefault

import chisel3._
import chisel3.util._

import rackwright.memory.MemoryPort

/** A page that has come: for software to record. */
class NewPage extends Bundle {
  val place = UInt(Sizes.entryPlaceBits.W)

  /** The remote entry that it had. */
  val entry = UInt(64.W)
  val frame = UInt(Sizes.frameBits.W)
}

/** A frame that software gets back. */
class ReturnedFrame extends Bundle {
  val frame = UInt(Sizes.frameBits.W)

  /** Nothing is in it that anybody needs: stored, or nothing came. If not, its page could not be stored. */
  val settled = Bool()
}

/** How many records software has taken. */
class Taken extends Bundle {
  val newPages = UInt(Records.countBits.W)
  val returned = UInt(Records.countBits.W)
}

/** The queues to software, in a page of memory: two rings of records, each of one beat. */
object Records {

  /** Of each ring; both are a page. */
  val entries: Int = 128
  val indexBits: Int = log2Ceil(entries)
  val countBits: Int = indexBits + 1

  /** Bits of a frame's number that a new page's record has. */
  val frameBits: Int = 24
}

/** Writes what software is to know into the rings, where it reads many at once: *newQ*, and frames that come back.
  *
  * A record's lowest bit, its phase, changes with each turn around the ring, so that software knows which are there.
  * One write is under way at a time: a record is never there before those in front of it.
  */
class RecordWriter(params: Params) extends Module {
  val newPage = IO(Flipped(Decoupled(new NewPage)))
  val returned = IO(Flipped(Decoupled(new ReturnedFrame)))

  /** The record of the new page that was accepted last is in memory. */
  val recorded = IO(Output(Bool()))

  /** The page of the rings. It empties them. */
  val rings = IO(Flipped(Valid(UInt(Sizes.frameBits.W))))
  val taken = IO(Flipped(Valid(new Taken)))

  /** New pages for which there are places; none before software has said where the rings are. */
  val room = IO(Output(UInt(Records.countBits.W)))

  /** A frame has come back, and software has not taken it yet. */
  val interrupt = IO(Output(Bool()))
  val memory = IO(new MemoryPort(params.records))
  val idle = IO(Output(Bool()))

  private object State extends ChiselEnum {
    val ready, send, written = Value
  }
  private val state = RegInit(State.ready)
  private val page = Reg(UInt(Sizes.frameBits.W))
  private val newRing = Module(new RingPlace)
  private val backRing = Module(new RingPlace)
  room := newRing.room
  interrupt := backRing.unread

  private val ofNewPage = Reg(Bool())
  private val index = Reg(UInt(Records.indexBits.W))
  private val record = Reg(UInt(128.W))
  private val accepts = state === State.ready
  newPage.ready := accepts && newRing.room =/= 0.U
  returned.ready := accepts && backRing.room =/= 0.U && !newPage.valid
  newRing.advance := newPage.fire
  backRing.advance := returned.fire
  for (ring <- Seq(newRing, backRing)) ring.clear := rings.valid
  newRing.taken := Mux(taken.valid, taken.bits.newPages, 0.U)
  backRing.taken := Mux(taken.valid, taken.bits.returned, 0.U)
  when(rings.valid) { page := rings.bits }

  when(newPage.fire || returned.fire) {
    state := State.send
    ofNewPage := newPage.valid
    index := Mux(newPage.valid, newRing.index, backRing.index)
  }
  when(newPage.fire) {
    val frame = newPage.bits.frame(Records.frameBits - 1, 0)
    record := Cat(newPage.bits.entry, frame, newPage.bits.place, 0.U(2.W), newRing.phase)
  }
  when(returned.fire) {
    record := Cat(0.U(88.W), returned.bits.frame, 0.U(10.W), returned.bits.settled, backRing.phase)
  }

  memory.request.valid := state === State.send
  memory.request.bits.address := Cat(page, !ofNewPage, index, 0.U(4.W))
  memory.request.bits.write := true.B
  memory.request.bits.data := record
  memory.request.bits.mask := "hffff".U
  memory.request.bits.tag := 0.U
  memory.response.ready := true.B
  when(memory.request.fire) { state := State.written }
  when(memory.response.valid) { state := State.ready }
  recorded := memory.response.valid && ofNewPage
  idle := !newPage.fire && !returned.fire && !memory.request.valid && !memory.response.valid
  assert(!memory.response.valid || state === State.written, "an answer to no record")
}

/** Where the next record of a ring goes, and how many places there are. */
class RingPlace extends Module {
  val advance = IO(Input(Bool()))
  val clear = IO(Input(Bool()))

  /** Places that are free again. */
  val taken = IO(Input(UInt(Records.countBits.W)))
  val index = IO(Output(UInt(Records.indexBits.W)))

  /** 1 in the first turn, then 0, and so on. */
  val phase = IO(Output(Bool()))
  val room = IO(Output(UInt(Records.countBits.W)))

  /** There are records that were not taken. */
  val unread = IO(Output(Bool()))

  private val next = RegInit(0.U((Records.indexBits + 1).W))
  private val free = RegInit(0.U(Records.countBits.W))
  private val some = RegInit(false.B)
  index := next(Records.indexBits - 1, 0)
  phase := !next(Records.indexBits)
  room := free
  unread := some
  private val after = free - advance + taken
  free := after
  some := after =/= Records.entries.U
  when(advance) { next := next + 1.U }
  when(clear) {
    next := 0.U
    free := Records.entries.U
    some := false.B
  }
  assert(!advance || free =/= 0.U, "a record for which there is no place")
  assert(clear || free -& advance +& taken <= Records.entries.U, "more records taken than there were")
}
