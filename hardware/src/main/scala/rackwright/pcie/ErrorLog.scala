package rackwright.pcie

import chisel3._
import chisel3.util._

/** An error in a packet. */
class PacketError extends Bundle {

  /** Its bit in the registers for uncorrectable errors. */
  val fault = UInt(ErrorLog.faultBits.W)

  /** Another one reports it too: the requester by the completion, or the sender of the completion (6.2.3.2.4). */
  val advisory = Bool()
  val header = new Header
}

/** Advanced error reporting (PCI Express 5.0, 7.8.4): the errors of the function, the header of the first one, and the
  * messages to the root complex by which software has it report them.
  *
  * One error is recorded in a cycle; the target waits for that, the reader does not have to.
  */
class ErrorLog extends Module {
  import ErrorLog._

  val target = IO(Flipped(Decoupled(new PacketError)))
  val reader = IO(Flipped(Valid(new PacketError)))
  val timedOut = IO(Input(Bool()))
  val settings = IO(Input(new FunctionSettings))
  val access = IO(Flipped(Valid(new ConfigurationAccess)))

  /** The value of a read of the capability, in the same cycle. */
  val value = IO(Output(UInt(32.W)))

  /** The device status register, which is in another capability (7.5.3.5). */
  val status = IO(Output(UInt(4.W)))
  val packet = IO(Decoupled(new PacketBeat))
  val idle = IO(Output(Bool()))

  // The next error to record.
  private val brought = RegNext(reader.valid, false.B)
  private val late = RegInit(false.B)
  private val held = RegInit(false.B)
  private val ofTarget = Reg(new PacketError)
  private val isLate = late && !brought
  private val isOfTarget = held && !brought && !late
  target.ready := !held || isOfTarget
  when(target.fire) { ofTarget := target.bits }
  late := late && !isLate || timedOut
  held := held && !isOfTarget || target.fire
  // Which request it was is not recorded (7.8.4.8).
  private val ofTimeOut = WireDefault(0.U.asTypeOf(new PacketError))
  ofTimeOut.fault := completionTimeout
  private val error = Mux(brought, RegNext(reader.bits), Mux(late, ofTimeOut, ofTarget))
  private val fault = error.fault
  private val occurs = brought || late || held

  // Registers of one bit for each error.
  private val uncorrectable = RegInit(VecInit.fill(32)(false.B))
  private val masked = RegInit(VecInit.fill(32)(false.B))
  private val fatal = RegInit(VecInit.tabulate(32)(bit => fatalAtFirst.contains(bit).B))
  private val advised = RegInit(false.B)
  private val advisoryMasked = RegInit(true.B)
  private val device = RegInit(0.U(4.W))
  private val first = RegInit(0.U(faultBits.W))
  private val header = RegInit(0.U.asTypeOf(new Header))

  private val mask = Cat(access.bits.enables.asBools.reverse.map(Fill(8, _)))
  private val chosen = access.bits.data & mask
  private def writes(word: Int): Bool = access.valid && access.bits.write && access.bits.register === word.U
  private def clears(word: Int): UInt = Mux(writes(word), chosen, 0.U)
  private def set(word: Int, register: Vec[Bool]): Unit = when(writes(word)) {
    faults.foreach(bit => when(mask(bit)) { register(bit) := access.bits.data(bit) })
  }
  set(word + 2, masked)
  set(word + 3, fatal)
  when(writes(word + 5) && mask(advisoryBit)) { advisoryMasked := access.bits.data(advisoryBit) }

  // An error that another one reports counts as correctable, unless software calls it fatal (6.2.4.3).
  private val advises = error.advisory && !fatal(fault)
  private val severity = Mux(advises, correctable, Mux(fatal(fault), fatalError, nonFatal))
  private val signals = Mux(advises, !advisoryMasked, !masked(fault))
  private val keeps = occurs && (!advises || !advisoryMasked)
  private val isUnsupported = fault === unsupportedRequest
  faults.foreach { bit =>
    uncorrectable(bit) := uncorrectable(bit) && !clears(word + 1)(bit) || keeps && fault === bit.U
  }
  advised := advised && !clears(word + 4)(advisoryBit) || occurs && advises
  private val seen = UIntToOH(severity, 3) | Mux(isUnsupported, unsupportedSeen, 0.U)
  device := device & ~clears(statusWord)(19, 16) | Mux(occurs, seen, 0.U)
  when(keeps && !masked(fault) && !uncorrectable(first)) {
    first := fault
    header := error.header
  }
  status := device

  value := MuxLookup(access.bits.register, 0.U)(
    Seq(
      word.U -> capability.U(32.W),
      (word + 1).U -> uncorrectable.asUInt,
      (word + 2).U -> masked.asUInt,
      (word + 3).U -> fatal.asUInt,
      (word + 4).U -> (advised << advisoryBit).pad(32),
      (word + 5).U -> (advisoryMasked << advisoryBit).pad(32),
      (word + 6).U -> first.pad(32)
    ) ++ header.words.zipWithIndex.map { case (each, index) => (word + 7 + index).U -> each }
  )

  // Messages leave in the order of their errors; those of further errors are merged with them.
  private val messages = Module(new Queue(UInt(2.W), waiting))
  private val reports = settings.reports(severity) && (!isUnsupported || settings.reports(3))
  messages.io.enq.valid := occurs && signals && reports
  messages.io.enq.bits := severity
  private val message = Wire(new Header)
  message.words(0) := Cat(Header.Kind.message, 0.U(24.W))
  message.words(1) := Cat(settings.id, 0.U(8.W), codes(messages.io.deq.bits))
  message.words(2) := 0.U
  message.words(3) := 0.U
  packet.valid := messages.io.deq.valid
  messages.io.deq.ready := packet.ready
  packet.bits.data := Header.toBeat(message)
  packet.bits.keep := Fill(Params.beatBytes, 1.U(1.W))
  packet.bits.last := true.B
  packet.bits.credits := 0.U
  idle := !occurs && !reader.valid && !messages.io.deq.valid
}

object ErrorLog {

  /** The number of its first word, of an extended capability in its second version, and the only one. */
  val word: Int = 0x100 / 4
  private val capability = 0x00020001

  /** The word with the device status register. */
  private val statusWord = 0x48 / 4

  /** Uncorrectable errors: poisoned data, completion time-outs, unexpected completions, receiver overflows, malformed
    * packets, unsupported requests (7.8.4.2). This function detects four of them. Two are fatal at first.
    */
  val faultBits: Int = 5
  val poisoned: UInt = 12.U(faultBits.W)
  val completionTimeout: UInt = 14.U(faultBits.W)
  val unexpectedCompletion: UInt = 16.U(faultBits.W)
  val unsupportedRequest: UInt = 20.U(faultBits.W)
  private val fatalAtFirst = Seq(17, 18)
  private val faults = Seq(12, 14, 16, 17, 18, 20)

  /** The correctable error that another one reports. */
  private val advisoryBit = 13

  /** Severities, with the codes of their messages (2.2.8.3), and the bit of the device status for unsupported requests.
    */
  private val correctable = 0.U(2.W)
  private val nonFatal = 1.U(2.W)
  private val fatalError = 2.U(2.W)
  private def codes(severity: UInt): UInt =
    MuxLookup(severity, 0x33.U(8.W))(Seq(correctable -> 0x30.U(8.W), nonFatal -> 0x31.U(8.W)))
  private val unsupportedSeen = 8.U(4.W)

  /** Messages that wait to leave. */
  private val waiting = 4
}
