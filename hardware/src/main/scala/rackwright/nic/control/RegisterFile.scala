package rackwright.nic.control

import chisel3._
import chisel3.util._

import rackwright.nic.port.{
  Completion,
  FarAccess,
  ReceiveChecksumSetting,
  ReceiveRequest,
  Registers,
  SendChecksumRequest,
  SendRequest
}
import rackwright.port.{MmioPort, MmioResponse}

/** What software sets. */
class Settings extends Bundle {
  val macAddress = UInt(48.W)

  /** Bit 0: completions of sent frames interrupt; bit 1: those of received ones. */
  val interruptEnable = UInt(2.W)
  val rate = new RateSetting
  val sendChecksum = new SendChecksumRequest
  val receiveChecksum = new ReceiveChecksumSetting
  val moderation = new ModerationSetting
}

/** Reads and writes of registers: one per cycle, answered in the next. No access ever waits for the unit. */
class RegisterFile(hasFar: Boolean = false) extends Module {
  val mmio = IO(Flipped(new MmioPort))
  val sendRequest = IO(Decoupled(new SendRequest))
  val receiveRequest = IO(Decoupled(new ReceiveRequest))
  val sendCompletion = IO(Flipped(Decoupled(new Completion)))
  val receiveCompletion = IO(Flipped(Decoupled(new Completion)))

  /** What the `counts` register says. */
  val counts = IO(Input(UInt(32.W)))
  val counters = IO(Input(Vec(Counters.names.size, UInt(64.W))))
  val settings = IO(Output(new Settings))
  val rateWritten = IO(Output(Bool()))
  val refused = IO(Output(Bool()))

  /** Accesses to the upper half of the page. */
  val far = Option.when(hasFar)(IO(new FarAccess))

  /** No access waits here. */
  val idle = IO(Output(Bool()))

  private val state = RegInit(0.U.asTypeOf(new Settings))
  private val responses = Module(new Queue(new MmioResponse, 2))
  private val access = mmio.request
  private val data = access.bits.data
  private def reads(register: Int): Bool = access.fire && !access.bits.write && access.bits.address === register.U
  private def writes(register: Int): Bool = access.fire && access.bits.write && access.bits.address === register.U

  access.ready := responses.io.enq.ready
  responses.io.enq.valid := access.valid
  mmio.response <> responses.io.deq
  idle := !responses.io.deq.valid
  settings := state

  sendRequest.valid := writes(Registers.sendRequest)
  sendRequest.bits.address := data(Registers.addressBits - 1, 0)
  sendRequest.bits.length := data(63, Registers.addressBits)
  sendRequest.bits.checksum := state.sendChecksum
  receiveRequest.valid := writes(Registers.receiveRequest)
  receiveRequest.bits.address := data(Registers.addressBits - 1, 0)
  receiveRequest.bits.capacity := data(63, Registers.addressBits)
  refused := Seq(sendRequest, receiveRequest).map(port => port.valid && !port.ready).reduce(_ || _)
  sendCompletion.ready := reads(Registers.sendCompletion)
  receiveCompletion.ready := reads(Registers.receiveCompletion)

  // The checksum is wanted of one frame.
  when(sendRequest.valid) { state.sendChecksum.enable := false.B }
  when(writes(Registers.macAddress)) { state.macAddress := data(47, 0) }
  when(writes(Registers.interruptEnable)) { state.interruptEnable := data(1, 0) }
  when(writes(Registers.rate)) { state.rate := RegisterFile.rate(data) }
  when(writes(Registers.sendChecksum)) { state.sendChecksum := RegisterFile.sendChecksum(data) }
  when(writes(Registers.receiveChecksum)) { state.receiveChecksum := RegisterFile.receiveChecksum(data) }
  when(writes(Registers.moderation)) { state.moderation := RegisterFile.moderation(data) }
  // The limiter starts afresh in the cycle in which it sees the new setting.
  rateWritten := RegNext(writes(Registers.rate), false.B)

  private val fixed = Seq(
    Registers.sendCompletion -> RegisterFile.completion(sendCompletion),
    Registers.receiveCompletion -> RegisterFile.completion(receiveCompletion),
    Registers.counts -> counts,
    Registers.macAddress -> state.macAddress,
    Registers.interruptEnable -> state.interruptEnable,
    Registers.rate -> Cat(state.rate.burst, state.rate.period, state.rate.flits),
    Registers.receiveChecksum -> Cat(state.receiveChecksum.enable, 0.U(47.W), state.receiveChecksum.start),
    Registers.moderation -> Cat(state.moderation.time, state.moderation.packets)
  )
  private val counting = counters.zipWithIndex.map { case (counter, i) => (Registers.firstCounter + 8 * i) -> counter }
  responses.io.enq.bits.data := MuxLookup(access.bits.address, 0.U(64.W))(
    (fixed ++ counting).map { case (register, value) => register.U -> value }
  )
  far.foreach { far =>
    val isFar = access.bits.address(11)
    far.valid := access.fire && isFar
    far.write := access.bits.write
    far.address := access.bits.address
    far.data := data
    when(isFar) { responses.io.enq.bits.data := far.value }
  }
}

/** The fields of registers. */
object RegisterFile {
  private def rate(data: UInt): RateSetting = {
    val setting = Wire(new RateSetting)
    setting.flits := data(15, 0)
    setting.period := data(31, 16)
    setting.burst := data(47, 32)
    setting
  }

  private def sendChecksum(data: UInt): SendChecksumRequest = {
    val request = Wire(new SendChecksumRequest)
    request.start := data(15, 0)
    request.offset := data(31, 16)
    request.initial := data(47, 32)
    request.enable := data(63)
    request
  }

  private def receiveChecksum(data: UInt): ReceiveChecksumSetting = {
    val setting = Wire(new ReceiveChecksumSetting)
    setting.start := data(15, 0)
    setting.enable := data(63)
    setting
  }

  /** Completions and cycles of a register. */
  def moderation(data: UInt): ModerationSetting = {
    val setting = Wire(new ModerationSetting)
    setting.packets := data(15, 0)
    setting.time := data(47, 16)
    setting
  }

  /** 0 when there is none. */
  private def completion(port: DecoupledIO[Completion]): UInt = {
    val word = Cat(true.B, 0.U(12.W), port.bits.status, port.bits.sum, 0.U(16.W), port.bits.length)
    require(word.getWidth == Registers.validBit + 1, "a completion fills its register")
    Mux(port.valid, word, 0.U)
  }
}
