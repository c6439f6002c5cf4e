package rackwright.pcie

import chisel3._
import chisel3.util._

import rackwright.port.MmioPort

/** Executes the fabric's requests to the function: configuration, and registers in the first window, whose upper half
  * is the table of messages.
  *
  * A register is accessed completely: eight bytes at a multiple of eight, in one packet; reads of one half are allowed,
  * and in the table writes too. All others are unsupported requests (PCI Express 5.0, 2.3.1).
  */
class Target(identity: Identity) extends Module {
  val request = IO(Flipped(Decoupled(new TargetRequest)))
  val registers = IO(new MmioPort)
  val table = IO(Valid(new TableAccess))

  /** The value of a read of the table, in the same cycle. */
  val tableValue = IO(Input(UInt(64.W)))
  val packet = IO(Decoupled(new PacketBeat))
  val settings = IO(Output(new FunctionSettings))

  /** A request was refused: the next one waits until that is recorded. */
  val error = IO(Decoupled(new PacketError))

  /** Accesses to configuration, with the values of what is in the error log. */
  val configuration = IO(Valid(new ConfigurationAccess))
  val logged = IO(Input(UInt(32.W)))
  val deviceStatus = IO(Input(UInt(4.W)))
  val idle = IO(Output(Bool()))

  private object State extends ChiselEnum { val ready, access, answer, head, data = Value }
  private val state = RegInit(State.ready)
  private val current = Reg(new TargetRequest)
  private val value = Reg(UInt(64.W))
  private val words = Reg(UInt(2.W))
  private val refused = Reg(Bool())

  private val space = Module(new ConfigurationSpace(identity))
  settings := space.settings
  private val header = current.header
  private val address = header.address
  private val inRegisters = settings.memoryEnabled && address(63, 12) === settings.windows(0)(63, 12)
  private val wide = header.length === 2.U && address(2) === 0.U && header.byteEnables === "hff".U
  private val inTable = address(MessageTable.offsetBits)
  private val half = header.length === 1.U && header.byteEnables === "h0f".U && (inTable || !header.hasData)
  private val fits = header.isMemory && inRegisters && (wide || half) && !header.isPoisoned
  private val toRegisters = fits && !inTable
  private val ours = header.isConfiguration && header.length === 1.U && header.words(0)(24) === 0.U

  /** The half at the address of a value of eight bytes, or all of it. */
  private def halfOf(value: UInt): UInt = Mux(address(2), value(63, 32), value)

  request.ready := state === State.ready && error.ready
  when(request.fire) {
    current := request.bits
    state := State.access
  }

  private val accesses = state === State.access
  space.access.valid := accesses && ours
  space.access.bits.register := header.words(2)(11, 2)
  space.access.bits.write := header.hasData
  space.access.bits.enables := header.byteEnables(3, 0)
  space.access.bits.data := current.data(31, 0)
  space.access.bits.id := header.words(2)(31, 16)
  configuration := space.access
  space.elsewhere := logged
  space.status := deviceStatus
  registers.request.valid := accesses && toRegisters
  registers.request.bits.address := Cat(address(11, 3), 0.U(3.W))
  registers.request.bits.write := header.hasData
  registers.request.bits.data := current.data
  table.valid := accesses && fits && inTable
  table.bits.offset := address(MessageTable.offsetBits - 1, 0)
  table.bits.write := header.hasData
  table.bits.wide := wide
  table.bits.data := current.data
  error.valid := accesses && !fits && !ours && !header.isMessage
  error.bits.fault := Mux(header.isPoisoned, ErrorLog.poisoned, ErrorLog.unsupportedRequest)
  error.bits.advisory := !header.isPosted && !header.isPoisoned
  error.bits.header := header
  when(accesses) {
    refused := !fits && !ours
    value := Mux(ours, space.value, halfOf(tableValue))
    words := Mux(header.hasData || !fits && !ours, 0.U, header.length(1, 0))
    when(toRegisters) {
      when(registers.request.ready) { state := State.answer }
    }.otherwise { state := Mux(header.isPosted, State.ready, State.head) }
  }
  registers.response.ready := state === State.answer
  when(registers.response.fire) {
    value := halfOf(registers.response.bits.data)
    state := Mux(header.isPosted, State.ready, State.head)
  }

  // The completion.
  private val completion = Wire(new Header)
  private val hasData = words =/= 0.U
  completion.words(0) := Cat(
    Mux(hasData, Header.Kind.completionWithData, Header.Kind.completion),
    header.words(0)(23, 19),
    0.U(5.W),
    header.words(0)(13, 12),
    0.U(2.W),
    0.U(10.W) | words
  )
  private val status = Mux(refused, Header.unsupported, Header.successful)
  private val returns = header.isMemory && !header.hasData && !refused
  private val count = Mux(returns, Cat(header.length, 0.U(2.W)), 4.U(12.W))
  completion.words(1) := Cat(settings.id, status, 0.U(1.W), count(11, 0))
  private val low = Mux(returns, address(6, 0), 0.U(7.W))
  completion.words(2) := Cat(header.requester, header.words(1)(15, 8), 0.U(1.W), low)
  completion.words(3) := 0.U
  packet.valid := state === State.head || state === State.data
  packet.bits.data := Mux(state === State.head, Header.toBeat(completion), value)
  packet.bits.keep := Mux(state === State.head, "hffff".U, Mux(words === 2.U, "hff".U, "hf".U))
  packet.bits.last := state === State.data || !hasData
  packet.bits.credits := hasData
  when(packet.fire) { state := Mux(packet.bits.last, State.ready, State.data) }
  idle := state === State.ready
}
