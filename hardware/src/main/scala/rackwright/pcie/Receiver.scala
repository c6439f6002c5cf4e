package rackwright.pcie

import chisel3._
import chisel3.util._

import rackwright.port.StreamFlit

/** A request from the fabric, with up to eight bytes of data. */
class TargetRequest extends Bundle {
  val header = new Header
  val data = UInt(64.W)
}

/** A beat of a completion. */
class CompletionBeat extends Bundle {
  val header = new Header
  val data = UInt((8 * Params.beatBytes).W)

  /** The first of its packet, which is the only one for a completion without data. */
  val first = Bool()
  val last = Bool()
}

/** Parses incoming packets: completions go to the reader directly, requests wait in a queue.
  *
  * The queue has room for all advertised credits, so that a pending request never blocks a completion behind it
  * (2.4.1). Writes into the window for other cards pass by the queue, beat by beat.
  */
class Receiver(params: Params) extends Module {
  val in = IO(Flipped(Decoupled(new StreamFlit(Params.beatBytes))))
  val settings = IO(Input(new FunctionSettings))
  val completion = IO(Valid(new CompletionBeat))
  val request = IO(Decoupled(new TargetRequest))

  /** A beat that another card writes. */
  val written = IO(Valid(UInt((8 * Params.beatBytes).W)))

  /** Its packet has ended. */
  val writtenEnd = IO(Output(Bool()))

  /** Room for a packet that was no completion is free again: its class, and its data credits. */
  val freed = IO(Valid(new CreditUpdate))

  /** A posted packet that could not be used was dropped. */
  val dropped = IO(Output(Bool()))
  val idle = IO(Output(Bool()))

  private val queue = Module(new Queue(new TargetRequest, 2 * params.packets))
  private val within = RegInit(false.B)
  private val first = RegInit(false.B)
  private val header = Reg(new Header)
  private val arriving = Mux(within, header, Header.ofBeat(in.bits.data))
  private val ends = in.fire && in.bits.last
  in.ready := true.B
  when(in.fire) {
    within := !in.bits.last
    first := !within
    header := arriving
  }

  completion.valid := in.fire && arriving.isCompletion && (within || in.bits.last)
  completion.bits.header := arriving
  completion.bits.data := in.bits.data
  completion.bits.first := !within || first
  completion.bits.last := in.bits.last

  // Only short packets go to the queue. The rest of a longer payload is let pass, and the packet is refused there.
  private val intoWindow = arriving.isMemory && arriving.hasData && settings.memoryEnabled &&
    PeerWindow.contains(settings, arriving.address)
  private val data = Reg(UInt(64.W))
  when(in.fire && within && first) { data := in.bits.data }
  private val short = !within || first
  queue.io.enq.valid := ends && !arriving.isCompletion && !intoWindow
  queue.io.enq.bits.header := arriving
  queue.io.enq.bits.data := Mux(short, in.bits.data, data)
  assert(!queue.io.enq.valid || queue.io.enq.ready, "more requests arrive than were advertised")
  written.valid := in.fire && within && intoWindow
  written.bits := in.bits.data

  // A request keeps its room until the target has taken it.
  private val passed = RegNext(ends && intoWindow, false.B)
  writtenEnd := passed
  private val taken = queue.io.deq.bits.header
  request <> queue.io.deq
  queue.io.deq.ready := request.ready && !passed
  request.valid := queue.io.deq.valid && !passed
  freed.valid := passed || request.fire
  private val leaving = Mux(passed, RegNext(arriving), taken)
  freed.bits.initial := false.B
  freed.bits.of := Mux(leaving.isPosted, Credits.posted.U, Credits.nonPosted.U)
  freed.bits.headers := 1.U
  freed.bits.data := Mux(leaving.hasData, (leaving.lengthInWords +& 3.U) >> 2, 0.U)
  dropped := ends && arriving.isPosted && !intoWindow && arriving.lengthInWords > 2.U
  idle := !within && !queue.io.deq.valid && !passed
}

/** The window into which other cards write: data are accepted, counted and summed, and not stored. */
object PeerWindow {
  val number: Int = 1

  /** One MiB. */
  val bits: Int = 20

  def contains(settings: FunctionSettings, address: UInt): Bool =
    address(63, bits) === settings.windows(number)(63, bits)
}
