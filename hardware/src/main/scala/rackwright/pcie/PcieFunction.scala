package rackwright.pcie

import chisel3._
import chisel3.util._

import rackwright.port.{MmioPort, StreamFlit}

/** A function of PCI Express above the data link layer: its configuration space, registers in one window, DMA, and the
  * credits of both directions. README.md is the contract.
  */
class PcieFunction(params: Params, identity: Identity) extends Module {
  val packetsIn = IO(Flipped(Decoupled(new StreamFlit(Params.beatBytes))))
  val packetsOut = IO(Decoupled(new StreamFlit(Params.beatBytes)))
  val creditsIn = IO(Flipped(Decoupled(new StreamFlit(PcieFunction.creditBytes))))
  val creditsOut = IO(Decoupled(new StreamFlit(PcieFunction.creditBytes)))

  /** Registers of the device behind the function. */
  val registers = IO(new MmioPort)
  val read = IO(Flipped(Decoupled(new DmaRequest)))
  val readBeat = IO(Decoupled(new ReadBeat))
  val write = IO(Flipped(Decoupled(new DmaRequest)))
  val writeData = IO(Flipped(Decoupled(UInt((8 * Params.beatBytes).W))))

  /** The last packet of a range has left. */
  val written = IO(Output(Bool()))

  /** A beat that another card has written, and the end of its packet. */
  val peerBeat = IO(Valid(UInt((8 * Params.beatBytes).W)))
  val peerEnd = IO(Output(Bool()))

  /** Interrupts that are raised: their messages leave behind the writes that have left before. */
  val raise = IO(Input(UInt(identity.vectors.W)))
  val errors = IO(Output(new FunctionErrors))

  /** A packet waits for credits. */
  val starved = IO(Output(Bool()))
  val idle = IO(Output(Bool()))

  private val receiver = Module(new Receiver(params))
  private val target = Module(new Target(identity))
  private val reader = Module(new DmaReader(params))
  private val writer = Module(new DmaWriter)
  private val messages = Module(new MessageTable(identity.vectors))
  private val log = Module(new ErrorLog)
  private val told = Module(new PacketJoin(steady = true))
  private val posted = Module(new PacketJoin)
  private val transmitter = Module(new Transmitter)
  private val advertiser = Module(new CreditAdvertiser(params))

  receiver.in <> packetsIn
  receiver.settings := target.settings
  target.request <> receiver.request
  registers <> target.registers
  reader.completion := receiver.completion
  reader.settings := target.settings
  reader.range <> read
  readBeat <> reader.beat
  writer.settings := target.settings
  writer.range <> write
  writer.data <> writeData
  written := writer.done
  peerBeat := receiver.written
  peerEnd := receiver.writtenEnd
  messages.access := target.table
  target.tableValue := messages.value
  messages.settings := target.settings
  messages.raise := raise

  log.target <> target.error
  log.reader := reader.error
  log.timedOut := reader.timedOut
  log.settings := target.settings
  log.access := target.configuration
  target.logged := log.value
  target.deviceStatus := log.status

  told.first <> log.packet
  told.second <> messages.packet
  posted.first <> told.out
  posted.second <> writer.packet
  transmitter.packets(Credits.posted) <> posted.out
  transmitter.packets(Credits.nonPosted) <> reader.packet
  transmitter.packets(Credits.completion) <> target.packet
  transmitter.credits.valid := creditsIn.valid
  transmitter.credits.bits := creditsIn.bits.data(31, 0)
  creditsIn.ready := true.B
  packetsOut <> transmitter.out
  advertiser.freed := receiver.freed
  creditsOut <> advertiser.out

  errors.unexpected := reader.unexpected
  errors.timedOut := reader.timedOut
  errors.unsupported := target.error.fire
  errors.dropped := receiver.dropped
  starved := transmitter.starved
  idle := Seq(
    receiver.idle,
    target.idle,
    reader.idle,
    writer.idle,
    messages.idle,
    log.idle,
    transmitter.idle,
    advertiser.idle
  ).reduce(_ && _)
}

object PcieFunction {

  /** Bytes per beat of the credit streams; half of them are used. */
  val creditBytes: Int = 8
}

/** Errors, in the cycle in which they occur. */
class FunctionErrors extends Bundle {
  val unexpected = Bool()
  val timedOut = Bool()
  val unsupported = Bool()
  val dropped = Bool()
}

/** Advertises credits to the other end of the link: once after reset, and again when room becomes free. Completions
  * have infinite credits, as the specification requires of endpoints (PCI Express 5.0, 2.6.1).
  */
class CreditAdvertiser(params: Params) extends Module {
  val freed = IO(Flipped(Valid(new CreditUpdate)))
  val out = IO(Decoupled(new StreamFlit(PcieFunction.creditBytes)))
  val idle = IO(Output(Bool()))

  /** Data of a request, eight bytes of which are stored in the queue, or bypass it. */
  private val data = Seq(params.packets * Params.payloadBytes / Params.creditBytes, params.packets, 0)
  private val headers = Seq(params.packets, params.packets, 0)
  private val dataLimits = RegInit(VecInit(data.map(_.U(Credits.dataBits.W))))
  private val headerLimits = RegInit(VecInit(headers.map(_.U(Credits.headerBits.W))))

  /** Classes to advertise for the first time, and again. */
  private val first = RegInit(((1 << Credits.classes) - 1).U(Credits.classes.W))
  private val changed = RegInit(0.U(Credits.classes.W))
  private val of = PriorityEncoder(Mux(first.orR, first, changed))
  private val kind = Mux(first.orR, Credits.initial, Credits.update)
  private val told = Mux(out.fire, UIntToOH(of, Credits.classes), 0.U)
  out.valid := first.orR || changed.orR
  out.bits.data := Credits.pack(kind, of, headerLimits(of), dataLimits(of)).pad(64)
  out.bits.keep := "hf".U
  out.bits.last := true.B
  first := first & ~told
  // Freed room is summed a cycle later, separately from its detection.
  private val free = RegNext(freed, 0.U.asTypeOf(chiselTypeOf(freed)))
  private val again = Mux(free.valid, UIntToOH(free.bits.of, Credits.classes), 0.U)
  changed := Mux(first.orR, changed, changed & ~told) | again
  when(free.valid) {
    headerLimits(free.bits.of) := headerLimits(free.bits.of) + free.bits.headers
    dataLimits(free.bits.of) := dataLimits(free.bits.of) + free.bits.data
  }
  idle := !out.valid && !free.valid
}
