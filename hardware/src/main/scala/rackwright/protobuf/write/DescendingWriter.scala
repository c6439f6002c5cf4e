package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.port.{MemoryPort, MemoryPortParams, Status}
import rackwright.protobuf.table.DescriptorTable

/** The output buffer of a request, and what is reported at its end. */
class OutputTicket extends Bundle {

  /** The output ends at `tail` and must not begin before `limit`; without `fresh`, it ends where the previous one
    * begins.
    */
  val fresh = Bool()
  val tail = UInt(DescriptorTable.addressBits.W)
  val limit = UInt(DescriptorTable.addressBits.W)

  /** Addresses for the output's length and address, and of the completion record; 0 for none. */
  val entry = UInt(DescriptorTable.addressBits.W)
  val record = UInt(DescriptorTable.addressBits.W)
}

/** The result of a request. */
class OutputReport extends Bundle {
  val status = UInt(Status.width.W)

  /** Address of the output, or the end of the next one. */
  val head = UInt(DescriptorTable.addressBits.W)
  val length = UInt(32.W)
  val record = UInt(DescriptorTable.addressBits.W)
}

/** Bytes with their address, and the end of a request. */
class PlacedChunk(port: MemoryPortParams) extends Bundle {
  private val addressBits = DescriptorTable.addressBits
  val data = UInt((8 * port.bytes).W)

  /** The rotation of the bytes; their number, and the lane of the byte above them. */
  val shift = UInt(port.offsetBits.W)
  val count = UInt((port.offsetBits + 1).W)
  val top = UInt((port.offsetBits + 1).W)

  /** There are bytes, and room for them. */
  val adds = Bool()

  /** Number of the beat that holds the byte below the previous ones; address of these bytes; end of the output. */
  val beat = UInt((addressBits - port.offsetBits).W)
  val head = UInt(addressBits.W)
  val end = UInt(addressBits.W)
  val group = UInt(DescendingWriter.groupBits.W)
  val finishes = Bool()
  val status = UInt(Status.width.W)
  val entry = UInt(addressBits.W)
  val record = UInt(addressBits.W)

  /** The bytes continue in the beat below; they fill the current beat. */
  def crosses: Bool = count > top
  def completes: Bool = count >= top

  /** The lanes from the first byte upward, in its beat; those of the current beat that they fill. */
  def fromBelow: UInt = ~PlacedChunk.lanesBelow(port, head(port.offsetBits - 1, 0))
  def upper: UInt = {
    val lanes = PlacedChunk.lanesBelow(port, top) & Mux(crosses, ~0.U(port.bytes.W), fromBelow)
    lanes & Fill(port.bytes, adds)
  }

  /** The bytes, rotated into their lanes. */
  def turned: UInt = (Cat(data, data) << Cat(shift, 0.U(3.W)))(16 * port.bytes - 1, 8 * port.bytes)
}

/** Masks of lanes. */
object PlacedChunk {
  private def lanesBelow(port: MemoryPortParams, lane: UInt): UInt = ((1.U << lane) - 1.U)(port.bytes - 1, 0)
}

/** Bytes in their lanes, and a mask of these lanes. */
class TurnedChunk(port: MemoryPortParams) extends Bundle {
  val placed = new PlacedChunk(port)
  val length = UInt(32.W)
  val fromBelow = UInt(port.bytes.W)
  val upper = UInt(port.bytes.W)
  val crosses = Bool()
  val completes = Bool()
}

/** Writes bytes at descending addresses, a beat per cycle; the first pipeline stage computes the addresses.
  *
  * Bytes of the next request are accepted while writes of the previous one are outstanding.
  *
  * @param port
  *   parameters of the memory port.
  */
class DescendingWriter(port: MemoryPortParams) extends Module {
  private val addressBits = DescriptorTable.addressBits
  private val offsetBits = port.offsetBits

  /** One for each request. */
  val ticket = IO(Flipped(Decoupled(new OutputTicket)))

  /** Bytes, and ends of requests. */
  val chunk = IO(Flipped(Decoupled(new DescendingChunk(port.bytes))))

  /** Bytes of the current request were dropped, as its buffer is full; the number of that request, modulo a small power
    * of two.
    */
  val full = IO(Output(Bool()))
  val turn = IO(Output(UInt(DescendingWriter.groupBits.W)))

  /** One for each request, when its writes have been answered. */
  val report = IO(Decoupled(new OutputReport))

  /** Writes only. */
  val memory = IO(new MemoryPort(port))

  /** No request is in flight. */
  val idle = IO(Output(Bool()))

  import DescendingWriter.{groupBits, groups}
  private val writes = Module(new GroupedWrites(port, groups, 3))
  private val entries = Module(new OutputEntries(port, groups))
  // Ended requests wait for the responses to their writes; some write groups belong to the requests in the pipeline.
  private val ended = Module(new Queue(new OutputReport, groups - DescendingWriter.atHand))
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
  // The output of a failed request is overwritten only after its writes have been answered, as writes are not ordered
  // otherwise.
  private val wrote = RegInit(false.B)
  private val settles = RegInit(false.B)
  full := dropped && open
  turn := group

  // First stage: the address of the bytes, and the end of the request.
  private val bits = chunk.bits
  private val below = head - bits.count
  private val fits = room >= bits.count
  private val top = Cat(head(offsetBits - 1, 0) === 0.U, head(offsetBits - 1, 0))
  private val hasBytes = bits.count =/= 0.U
  private val adds = hasBytes && fits
  private val emits = adds && bits.count >= top
  private val headNow = Mux(adds, below, head)
  private val roomNow = Mux(adds, room - bits.count, room)
  private val droppedNow = dropped || (hasBytes && !fits)
  private val status = Mux(bits.status =/= Status.ok, bits.status, Mux(droppedNow, Status.outputFull, Status.ok))
  private val isOk = status === Status.ok
  private val finalHead = Mux(isOk, headNow, end)

  private val placed = Wire(Decoupled(new PlacedChunk(port)))
  private val ends = placed.fire && bits.finishes
  placed.valid := chunk.valid && open && !settles
  chunk.ready := open && !settles && placed.ready
  placed.bits.data := bits.data
  placed.bits.shift := below(offsetBits - 1, 0) - bits.offset
  placed.bits.top := top
  placed.bits.count := bits.count
  placed.bits.adds := adds
  placed.bits.beat := (head - 1.U) >> offsetBits
  placed.bits.head := headNow
  placed.bits.end := end
  placed.bits.group := group
  placed.bits.finishes := bits.finishes
  placed.bits.status := status
  placed.bits.entry := at.entry
  placed.bits.record := at.record

  when(placed.fire) {
    head := headNow
    room := roomNow
    dropped := droppedNow
    wrote := wrote || emits
  }
  when(ends) {
    wrote := false.B
    open := false.B
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

  // Second stage: the bytes are rotated into their lanes.
  private val turning = Queue(placed, 1, pipe = true)
  private val turned = Wire(Decoupled(new TurnedChunk(port)))
  turned.valid := turning.valid
  turning.ready := turned.ready
  turned.bits.placed := turning.bits
  turned.bits.placed.data := turning.bits.turned
  turned.bits.length := turning.bits.end - turning.bits.head
  turned.bits.fromBelow := turning.bits.fromBelow
  turned.bits.upper := turning.bits.upper
  turned.bits.crosses := turning.bits.crosses
  turned.bits.completes := turning.bits.completes

  // Third stage: the bytes are merged into the beat below `head`, of which some lanes are filled. At the end of a
  // request, the last beat, if it is not full, and the entry of the output are written.
  private val merging = Queue(turned, 1, pipe = true)
  private val now = merging.bits
  private val what = now.placed
  private val partial = Reg(UInt((8 * port.bytes).W))
  private val filled = RegInit(0.U(port.bytes.W))
  private def bytesOf(lanes: UInt): UInt = FillInterleaved(8, lanes)
  private val merged = (partial & bytesOf(filled)) | (what.data & bytesOf(now.upper))
  private val filledNow =
    Mux(what.adds, Mux(now.crosses, now.fromBelow, Mux(now.completes, 0.U, filled | now.upper)), filled)
  private val partialNow = Mux(now.crosses, what.data, merged)
  private val (entry, rest, body) = (writes.beats(0), writes.beats(1), writes.beats(2))
  private val ok = what.status === Status.ok
  private val writesBeat = what.adds && now.completes
  private val flushes = what.finishes && ok && filledNow =/= 0.U
  private val tells = what.finishes && what.entry =/= 0.U
  private val mayEnd = ended.io.enq.ready && (!tells || told.io.enq.ready) && (!flushes || rest.ready)
  private val space = (!writesBeat || body.ready) && (!what.finishes || mayEnd)
  private val proceeds = merging.valid && space
  merging.ready := space
  body.valid := proceeds && writesBeat
  body.bits.group := what.group
  body.bits.beat.address := what.beat << offsetBits
  body.bits.beat.data := merged
  body.bits.beat.mask := filled | now.upper
  rest.valid := proceeds && flushes
  rest.bits.group := what.group
  rest.bits.beat.address := what.head >> offsetBits << offsetBits
  rest.bits.beat.data := partialNow
  rest.bits.beat.mask := filledNow
  private val length = Mux(ok, now.length, 0.U)
  told.io.enq.valid := proceeds && tells
  told.io.enq.bits.address := what.entry
  told.io.enq.bits.length := length
  told.io.enq.bits.head := Mux(ok, what.head, 0.U)
  told.io.enq.bits.group := what.group
  ended.io.enq.valid := proceeds && what.finishes
  ended.io.enq.bits.status := what.status
  ended.io.enq.bits.head := Mux(ok, what.head, what.end)
  ended.io.enq.bits.length := length
  ended.io.enq.bits.record := what.record
  when(proceeds) {
    filled := Mux(what.finishes, 0.U, filledNow)
    partial := partialNow
  }
  when(!turning.valid && !merging.valid && writes.settled) { settles := false.B }
  when(ends && !isOk && (wrote || emits)) { settles := true.B }

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
  idle := !open && !turning.valid && !merging.valid && !ended.io.deq.valid
}

/** Constants of a [[DescendingWriter]]. */
object DescendingWriter {

  /** Requests that may have outstanding writes. */
  val groups: Int = 16
  val groupBits: Int = log2Ceil(groups)

  /** Requests of which bytes, or an end, may be in the pipeline. */
  val atHand: Int = 3

  /** Requests that may wait for the write of their entry. */
  val entries: Int = 4
}
