package rackwright.protobuf

import chisel3._
import chisel3.util._

import rackwright.contract.Status
import rackwright.memory.{MemoryPort, MemoryPortParams, TagAllocator, WriteBeat}

/** Where the output of a request goes, and what is told at its end. */
class OutputTicket extends Bundle {

  /** The output ends at `tail` and doesn't begin before `limit`; without `fresh` it ends where the one before began. */
  val fresh = Bool()
  val tail = UInt(DescriptorTable.addressBits.W)
  val limit = UInt(DescriptorTable.addressBits.W)

  /** Where the address of the output goes, and the record; 0 for nowhere. */
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

  /** Bytes of the request at hand were dropped; and which of two requests it is. */
  val full = IO(Output(Bool()))
  val turn = IO(Output(Bool()))

  /** One per request, when its writes have been answered. */
  val report = IO(Decoupled(new OutputReport))

  /** Writes only. */
  val memory = IO(new MemoryPort(port))

  /** No request is under way. */
  val idle = IO(Output(Bool()))

  private val open = RegInit(false.B)
  private val at = Reg(new OutputTicket)
  private val end = Reg(UInt(addressBits.W))
  private val head = RegInit(0.U(addressBits.W))
  private val limit = RegInit(0.U(addressBits.W))
  private val dropped = RegInit(false.B)
  ticket.ready := !open
  when(ticket.fire) {
    open := true.B
    at := ticket.bits
    dropped := false.B
    end := Mux(ticket.bits.fresh, ticket.bits.tail, head)
    when(ticket.bits.fresh) {
      head := ticket.bits.tail
      limit := ticket.bits.limit
    }
  }

  // The beat below `head`: lanes that are filled.
  private val partial = Reg(UInt((8 * port.bytes).W))
  private val filled = RegInit(0.U(port.bytes.W))
  private val bits = chunk.bits
  private val below = head - bits.count
  private val fits = head - limit >= bits.count
  private val top = Cat(head(offsetBits - 1, 0) === 0.U, head(offsetBits - 1, 0))
  private val crosses = bits.count > top
  private val completes = bits.count >= top
  private val shift = below(offsetBits - 1, 0) - bits.offset
  private val rotated = (Cat(bits.data, bits.data) << Cat(shift, 0.U(3.W)))(16 * port.bytes - 1, 8 * port.bytes)

  private def lanesBelow(lane: UInt): UInt = ((1.U << lane) - 1.U)(port.bytes - 1, 0)
  private val fromBelow = ~lanesBelow(below(offsetBits - 1, 0))
  private val upper = lanesBelow(top) & Mux(crosses, ~0.U(port.bytes.W), fromBelow)
  private def bytesOf(lanes: UInt): UInt = FillInterleaved(8, lanes)
  private val merged = (partial & bytesOf(filled)) | (rotated & bytesOf(upper))

  // Several requests may have writes under way: which one a write belongs to is kept by its tag.
  private val groups = DescendingWriter.groups
  private val groupBits = log2Ceil(groups)
  private val group = RegInit(0.U(groupBits.W))
  private val beats = Module(new Queue(new WriteBeat(port), 2))
  private val groupOfBeat = Module(new Queue(UInt(groupBits.W), 2))
  private val tags = Module(new TagAllocator(port.outstanding))
  private val groupOf = Mem(port.outstanding, UInt(groupBits.W))
  private val unanswered = RegInit(VecInit.fill(groups)(0.U((port.tagBits + 2).W)))
  private val faulty = RegInit(VecInit.fill(groups)(false.B))

  // Ended requests wait for the answers to their writes; one group of writes is that of the request at hand.
  private val ended = Module(new Queue(new OutputReport, groups - 1))
  private val endedGroup = RegInit(0.U(groupBits.W))

  private val takes = chunk.valid && open
  private val status = Mux(bits.status =/= Status.ok, bits.status, Mux(dropped, Status.outputFull, Status.ok))
  private val isOk = status === Status.ok
  // At the end come the last beat, if it is not full, and the address of the output.
  private val flushes = bits.finishes && filled =/= 0.U && isOk
  private val tells = bits.finishes && !flushes && at.entry =/= 0.U
  private val entryLane = at.entry(offsetBits - 1, 3)
  private val emits = Mux(bits.finishes, flushes || tells, fits && completes)
  private val isLast = bits.finishes && !(flushes && at.entry =/= 0.U)
  private val space = beats.io.enq.ready || !emits
  private val mayEnd = !isLast || ended.io.enq.ready
  private val proceeds = takes && space && mayEnd
  chunk.ready := open && space && mayEnd && (!bits.finishes || isLast)
  beats.io.enq.valid := proceeds && emits
  beats.io.enq.bits.address := Mux(tells, at.entry, head - 1.U) >> offsetBits << offsetBits
  beats.io.enq.bits.data := Mux(bits.finishes, partial, merged)
  beats.io.enq.bits.mask := Mux(bits.finishes, filled, filled | upper)
  when(tells) {
    beats.io.enq.bits.data := Fill(port.bytes / 8, Mux(isOk, head, 0.U).pad(64))
    beats.io.enq.bits.mask := (0xff.U << Cat(entryLane, 0.U(3.W)))(port.bytes - 1, 0)
  }
  groupOfBeat.io.enq.valid := beats.io.enq.fire
  groupOfBeat.io.enq.bits := group
  full := dropped && open
  turn := group(0)

  when(chunk.fire && !bits.finishes) {
    when(fits) {
      head := below
      filled := Mux(crosses, fromBelow, Mux(completes, 0.U, filled | upper))
      partial := Mux(crosses, rotated, merged)
    }.otherwise { dropped := true.B }
  }
  when(proceeds && flushes) { filled := 0.U }
  ended.io.enq.valid := proceeds && isLast
  ended.io.enq.bits.status := status
  ended.io.enq.bits.head := Mux(isOk, head, end)
  ended.io.enq.bits.length := Mux(isOk, (end - head)(31, 0), 0.U)
  ended.io.enq.bits.record := at.record
  when(ended.io.enq.fire) {
    open := false.B
    filled := 0.U
    group := group + 1.U
    when(!isOk) { head := end }
  }

  private val writable = beats.io.deq.valid && tags.allocate.valid
  memory.request.valid := writable
  memory.request.bits.address := beats.io.deq.bits.address
  memory.request.bits.write := true.B
  memory.request.bits.data := beats.io.deq.bits.data
  memory.request.bits.mask := beats.io.deq.bits.mask
  memory.request.bits.tag := tags.allocate.bits
  beats.io.deq.ready := memory.request.ready && tags.allocate.valid
  groupOfBeat.io.deq.ready := beats.io.deq.fire
  tags.allocate.ready := memory.request.ready && beats.io.deq.valid
  tags.free.valid := memory.response.valid
  tags.free.bits := memory.response.bits.tag
  memory.response.ready := true.B
  when(memory.request.fire) { groupOf.write(tags.allocate.bits, groupOfBeat.io.deq.bits) }

  private val answered = groupOf.read(memory.response.bits.tag)
  for (index <- 0 until groups) {
    val asks = beats.io.enq.fire && group === index.U
    val comes = memory.response.valid && answered === index.U
    unanswered(index) := unanswered(index) + asks - comes
    when(comes && memory.response.bits.fault) { faulty(index) := true.B }
  }
  report.valid := ended.io.deq.valid && unanswered(endedGroup) === 0.U
  ended.io.deq.ready := report.fire
  report.bits := ended.io.deq.bits
  when(faulty(endedGroup) && ended.io.deq.bits.status === Status.ok) {
    report.bits.status := Status.accessFault
    report.bits.length := 0.U
  }
  when(report.fire) {
    endedGroup := endedGroup + 1.U
    faulty(endedGroup) := false.B
  }
  idle := !open && !ended.io.deq.valid
}

/** Constants of a [[DescendingWriter]]. */
object DescendingWriter {

  /** Requests that may have writes under way. */
  val groups: Int = 8
}
