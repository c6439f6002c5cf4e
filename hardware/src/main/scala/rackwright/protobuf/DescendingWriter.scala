package rackwright.protobuf

import chisel3._
import chisel3.util._

import rackwright.contract.Status
import rackwright.memory.{MemoryPort, MemoryPortParams}

/** Where the output of a request goes, and what is told at its end. */
class OutputTicket extends Bundle {

  /** The output ends at `tail` and doesn't begin before `limit`; without `fresh` it ends where the one before began. */
  val fresh = Bool()
  val tail = UInt(DescriptorTable.addressBits.W)
  val limit = UInt(DescriptorTable.addressBits.W)

  /** Where length and address of the output go, and the record; 0 for nowhere. */
  val entry = UInt(DescriptorTable.addressBits.W)
  val record = UInt(DescriptorTable.addressBits.W)
}

/** How a request ended. */
class OutputReport extends Bundle {
  val status = UInt(Status.width.W)

  /** Address of the output, or where the next one would end. */
  val head = UInt(DescriptorTable.addressBits.W)
  val length = UInt(32.W)
  val record = UInt(DescriptorTable.addressBits.W)
}

/** Writes bytes downward, a beat per cycle.
  *
  * The bytes of the next request may come while writes of the one before are not answered.
  *
  * @param port
  *   shape of the memory port.
  */
class DescendingWriter(port: MemoryPortParams) extends Module {
  private val addressBits = DescriptorTable.addressBits
  private val offsetBits = port.offsetBits

  /** One per request. */
  val ticket = IO(Flipped(Decoupled(new OutputTicket)))

  /** Bytes, and ends of requests. */
  val chunk = IO(Flipped(Decoupled(new DescendingChunk(port.bytes))))

  /** Bytes of the request at hand were dropped; and which of some requests it is. */
  val full = IO(Output(Bool()))
  val turn = IO(Output(UInt(DescendingWriter.groupBits.W)))

  /** One per request, when its writes have been answered. */
  val report = IO(Decoupled(new OutputReport))

  /** Writes only. */
  val memory = IO(new MemoryPort(port))

  /** No request is under way. */
  val idle = IO(Output(Bool()))

  import DescendingWriter.{groupBits, groups}
  private val writes = Module(new GroupedWrites(port, groups, 3))
  private val entries = Module(new OutputEntries(port, groups))
  // Ended requests wait for the answers to their writes; one group of writes is that of the request at hand.
  private val ended = Module(new Queue(new OutputReport, groups - 1))
  private val told = Module(new Queue(new OutputEntry(groups), DescendingWriter.entries))
  private val group = RegInit(0.U(groupBits.W))
  private val endedGroup = RegInit(0.U(groupBits.W))

  private val open = RegInit(false.B)
  private val at = Reg(new OutputTicket)
  private val end = Reg(UInt(addressBits.W))
  private val head = RegInit(0.U(addressBits.W))
  // Room below `head`, and below `end`.
  private val room = RegInit(0.U(addressBits.W))
  private val roomAtEnd = RegInit(0.U(addressBits.W))
  private val dropped = RegInit(false.B)
  // What a failed request wrote is written over, once its writes have been answered: nothing else orders the two.
  private val wrote = RegInit(false.B)
  private val settles = RegInit(false.B)
  full := dropped && open
  turn := group

  // The beat below `head`: lanes that are filled.
  private val partial = Reg(UInt((8 * port.bytes).W))
  private val filled = RegInit(0.U(port.bytes.W))
  private val bits = chunk.bits
  private val below = head - bits.count
  private val fits = room >= bits.count
  private val top = Cat(head(offsetBits - 1, 0) === 0.U, head(offsetBits - 1, 0))
  private val crosses = bits.count > top
  private val completes = bits.count >= top
  private val shift = below(offsetBits - 1, 0) - bits.offset
  private val rotated = (Cat(bits.data, bits.data) << Cat(shift, 0.U(3.W)))(16 * port.bytes - 1, 8 * port.bytes)

  private def lanesBelow(lane: UInt): UInt = ((1.U << lane) - 1.U)(port.bytes - 1, 0)
  private val fromBelow = ~lanesBelow(below(offsetBits - 1, 0))
  private def bytesOf(lanes: UInt): UInt = FillInterleaved(8, lanes)
  private val hasBytes = bits.count =/= 0.U
  private val upper = lanesBelow(top) & Mux(crosses, ~0.U(port.bytes.W), fromBelow) & Fill(port.bytes, hasBytes)
  private val merged = (partial & bytesOf(filled)) | (rotated & bytesOf(upper))

  // With these bytes.
  private val adds = hasBytes && fits
  private val headNow = Mux(adds, below, head)
  private val roomNow = Mux(adds, room - bits.count, room)
  private val filledNow = Mux(adds, Mux(crosses, fromBelow, Mux(completes, 0.U, filled | upper)), filled)
  private val partialNow = Mux(crosses, rotated, merged)
  private val droppedNow = dropped || (hasBytes && !fits)

  // At the end come the last beat, if it is not full, and what is told about the output.
  private val status = Mux(bits.status =/= Status.ok, bits.status, Mux(droppedNow, Status.outputFull, Status.ok))
  private val isOk = status === Status.ok
  private val finalHead = Mux(isOk, headNow, end)
  private val length = Mux(isOk, (end - headNow)(31, 0), 0.U)
  private val (entry, rest, body) = (writes.beats(0), writes.beats(1), writes.beats(2))
  private val emits = adds && completes
  private val flushes = bits.finishes && isOk && filledNow =/= 0.U
  private val tells = bits.finishes && at.entry =/= 0.U
  private val mayEnd = ended.io.enq.ready && (!tells || told.io.enq.ready) && (!flushes || rest.ready)
  private val space = !settles && (!emits || body.ready) && (!bits.finishes || mayEnd)
  private val proceeds = chunk.valid && open && space
  private val ends = proceeds && bits.finishes
  chunk.ready := open && space
  body.valid := proceeds && emits
  body.bits.group := group
  body.bits.beat.address := (head - 1.U) >> offsetBits << offsetBits
  body.bits.beat.data := merged
  body.bits.beat.mask := filled | upper
  rest.valid := proceeds && flushes
  rest.bits.group := group
  rest.bits.beat.address := headNow >> offsetBits << offsetBits
  rest.bits.beat.data := partialNow
  rest.bits.beat.mask := filledNow
  told.io.enq.valid := ends && tells
  told.io.enq.bits.address := at.entry
  told.io.enq.bits.length := length
  told.io.enq.bits.head := Mux(isOk, headNow, 0.U)
  told.io.enq.bits.group := group
  ended.io.enq.valid := ends
  ended.io.enq.bits.status := status
  ended.io.enq.bits.head := finalHead
  ended.io.enq.bits.length := length
  ended.io.enq.bits.record := at.record

  when(proceeds) {
    head := headNow
    room := roomNow
    filled := filledNow
    partial := partialNow
    dropped := droppedNow
    wrote := wrote || emits
  }
  when(writes.settled) { settles := false.B }
  when(ends) {
    wrote := false.B
    settles := !isOk && (wrote || emits)
    open := false.B
    filled := 0.U
    group := group + 1.U
    head := finalHead
    room := Mux(isOk, roomNow, roomAtEnd)
  }
  ticket.ready := !open || ends
  when(ticket.fire) {
    open := true.B
    at := ticket.bits
    dropped := false.B
    end := Mux(ends, finalHead, head)
    roomAtEnd := Mux(ends, Mux(isOk, roomNow, roomAtEnd), room)
    when(ticket.bits.fresh) {
      val roomOfRegion = ticket.bits.tail - ticket.bits.limit
      end := ticket.bits.tail
      head := ticket.bits.tail
      room := roomOfRegion
      roomAtEnd := roomOfRegion
    }
  }

  entries.entry <> told.io.deq
  entry <> entries.beat
  memory <> writes.memory
  writes.group := endedGroup
  writes.release := report.fire
  private val untold = told.io.deq.valid && told.io.deq.bits.group === endedGroup
  report.valid := ended.io.deq.valid && writes.quiet && !untold
  ended.io.deq.ready := report.fire
  report.bits := ended.io.deq.bits
  when(writes.faulty && ended.io.deq.bits.status === Status.ok) {
    report.bits.status := Status.accessFault
    report.bits.length := 0.U
  }
  when(report.fire) { endedGroup := endedGroup + 1.U }
  idle := !open && !ended.io.deq.valid
}

/** Constants of a [[DescendingWriter]]. */
object DescendingWriter {

  /** Requests that may have writes under way. */
  val groups: Int = 16
  val groupBits: Int = log2Ceil(groups)

  /** Requests that may wait for the write of their entry. */
  val entries: Int = 4
}
