package rackwright.internet

import chisel3._
import chisel3.util._

import rackwright.memory.Sram
import rackwright.network.Flit

/** The state of a destination whose address is being resolved. */
class WaitingSlot(params: Params) extends Bundle {
  val present = Bool()
  val address = UInt(32.W)
  val target = new DatagramTarget

  /** The reply has arrived. */
  val known = Bool()
  val mac = UInt(48.W)

  /** Cycles until the next request, and the number of remaining ones. */
  val timer = UInt(40.W)
  val queries = UInt(2.W)
}

/** Places for datagrams whose next station is not known yet, one for each: other datagrams do not wait for it.
  *
  * The station is requested immediately and, as long as it does not reply, after each interval; after the last one the
  * datagram is dropped. A new datagram for the same station takes the place of the one before (RFC 1122, 2.3.2.2).
  */
class WaitingRoom(params: Params) extends Module {
  private val slotBits = log2Ceil(params.waiting) max 1
  val settings = IO(Input(new Settings(params)))
  val learnt = IO(Flipped(Valid(new ArpPair)))
  val query = IO(Decoupled(UInt(32.W)))

  /** Whether a datagram for this station has a place, and its number; in the next cycle. */
  val address = IO(Input(UInt(32.W)))
  val room = IO(Output(Bool()))

  /** It contains another one, which is dropped. */
  val replaces = IO(Output(Bool()))

  /** A datagram enters the place that was found for it; its information, with its last flit. */
  val in = IO(Flipped(Valid(new Piece(new DatagramTarget))))

  /** Datagrams whose station has answered. */
  val out = IO(Decoupled(new Piece(new Routed)))

  /** No datagram enters in this cycle or before `busy` was low, so that one may start to leave. */
  val go = IO(Input(Bool()))

  /** A datagram leaves, or is about to. */
  val busy = IO(Output(Bool()))

  /** A station has not answered. */
  val unresolved = IO(Output(Bool()))
  val idle = IO(Output(Bool()))

  private val slots = RegInit(VecInit.fill(params.waiting)(0.U.asTypeOf(new WaitingSlot(params))))
  private val ram = Sram(params.waiting * params.waitingFlits, new Flit())
  private val flitBits = log2Ceil(params.waitingFlits)

  private val same = RegNext(VecInit(slots.map(slot => slot.present && slot.address === address))).asUInt
  private val free = VecInit(slots.map(!_.present)).asUInt
  private val chosen = Mux(same.orR, OHToUInt(same), PriorityEncoder(free))
  room := same.orR || free.orR
  replaces := same.orR

  // The place stays the same until the datagram has arrived.
  private val at = RegInit(0.U(flitBits.W))
  private val entering = RegInit(false.B)
  private val place = Reg(UInt(slotBits.W))
  private val into = Mux(entering, place, chosen)
  when(in.valid) {
    ram.write(Cat(into, at), in.bits.flit)
    entering := !in.bits.flit.last
    place := into
    at := Mux(in.bits.flit.last, 0.U, at + 1.U)
  }

  // Replies reach waiting datagrams, which leave when none enters.
  private val told = RegNext(learnt.valid, false.B)
  private val pair = RegNext(learnt.bits)
  private val hears = RegNext(VecInit(slots.map(_.address === learnt.bits.address)))
  private val leaving = RegInit(false.B)
  private val leaver = Reg(UInt(slotBits.W))
  private val ready = VecInit(slots.map(slot => slot.present && slot.known))
  private val position = RegInit(0.U(flitBits.W))
  private val ahead = Module(new Queue(new Flit(), FrameBuffer.readAhead))
  private val arriving = RegInit(false.B)
  private val readAll = RegInit(false.B)
  private val words = (slots(leaver).target.length +& 7.U) >> 3
  private val reading = leaving && !readAll && ahead.io.count +& arriving < FrameBuffer.readAhead.U
  arriving := reading
  ahead.io.enq.valid := arriving
  ahead.io.enq.bits := ram.read(Cat(leaver, position), reading)
  when(reading) {
    position := position + 1.U
    readAll := position +& 1.U >= words
  }
  out.valid := ahead.io.deq.valid
  ahead.io.deq.ready := out.ready
  out.bits.flit := ahead.io.deq.bits
  out.bits.about.datagram := slots(leaver).target
  out.bits.about.mac := slots(leaver).mac
  private val left = out.fire && out.bits.flit.last
  busy := leaving || ready.asUInt.orR
  when(!leaving && ready.asUInt.orR && go) {
    leaving := true.B
    leaver := PriorityEncoder(ready)
    position := 0.U
    readAll := false.B
  }
  when(left) { leaving := false.B }

  // One place at a time sends a request, or gives up.
  private val due = VecInit(slots.map(slot => slot.present && !slot.known && slot.timer === 0.U))
  private val asking = RegNext(due.asUInt.orR, false.B)
  private val asker = RegNext(PriorityEncoder(due))
  private val acts = asking && due(asker) && !entering && !in.valid
  private val last = slots(asker).queries === 0.U
  query.valid := acts && !last
  query.bits := slots(asker).address
  unresolved := acts && last

  for ((slot, i) <- slots.zipWithIndex) {
    when(slot.present && slot.timer =/= 0.U) { slot.timer := slot.timer - 1.U }
    when(acts && asker === i.U) {
      when(last) { slot.present := false.B }
        .elsewhen(query.ready) {
          slot.timer := settings.interval
          slot.queries := slot.queries - 1.U
        }
    }
    when(in.valid && in.bits.flit.last && into === i.U) {
      slot.target := in.bits.about
      when(!slot.present) {
        slot.present := true.B
        slot.address := RegNext(address)
        slot.known := false.B
        slot.timer := 0.U
        slot.queries := WaitingRoom.queries.U
      }
    }
    when(told && slot.present && hears(i)) {
      slot.known := true.B
      slot.mac := pair.mac
    }
    when(left && leaver === i.U) { slot.present := false.B }
  }
  idle := !slots.map(_.present).reduce(_ || _) && !told
}

/** The number of requests. */
object WaitingRoom {

  /** Queries for an address before its datagram is forgotten. */
  val queries: Int = 3
}
