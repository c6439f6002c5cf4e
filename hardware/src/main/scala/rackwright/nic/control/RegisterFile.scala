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
import rackwright.port.{MmioPort, MmioResponse, Register}

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

  /** The value of the `counts` register. */
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
  private def reads(register: Register): Bool =
    access.fire && !access.bits.write && access.bits.address === register.offset.U
  private def writes(register: Register): Bool =
    access.fire && access.bits.write && access.bits.address === register.offset.U

  access.ready := responses.io.enq.ready
  responses.io.enq.valid := access.valid
  mmio.response <> responses.io.deq
  idle := !responses.io.deq.valid
  settings := state

  sendRequest.valid := writes(Registers.sendRequest)
  sendRequest.bits.address := Registers.sendRequest("address").of(data)
  sendRequest.bits.length := Registers.sendRequest("length").of(data)
  sendRequest.bits.checksum := state.sendChecksum
  receiveRequest.valid := writes(Registers.receiveRequest)
  receiveRequest.bits.address := Registers.receiveRequest("address").of(data)
  receiveRequest.bits.capacity := Registers.receiveRequest("capacity").of(data)
  refused := Seq(sendRequest, receiveRequest).map(port => port.valid && !port.ready).reduce(_ || _)
  sendCompletion.ready := reads(Registers.sendCompletion)
  receiveCompletion.ready := reads(Registers.receiveCompletion)

  // The checksum is requested for one frame only.
  when(sendRequest.valid) { state.sendChecksum.enable := false.B }
  when(writes(Registers.macAddress)) { state.macAddress := Registers.macAddress("address").of(data) }
  when(writes(Registers.interruptEnable)) { state.interruptEnable := Registers.interruptEnable.of(data) }
  when(writes(Registers.rate)) { state.rate := RegisterFile.rate(data) }
  when(writes(Registers.sendChecksum)) { state.sendChecksum := RegisterFile.sendChecksum(data) }
  when(writes(Registers.receiveChecksum)) { state.receiveChecksum := RegisterFile.receiveChecksum(data) }
  when(writes(Registers.moderation)) { state.moderation := RegisterFile.moderation(data) }
  // The limiter starts afresh in the cycle in which it sees the new setting.
  rateWritten := RegNext(writes(Registers.rate), false.B)

  private val fixed = Seq(
    Registers.sendCompletion -> RegisterFile.completion(Registers.sendCompletion, sendCompletion),
    Registers.receiveCompletion -> RegisterFile.completion(Registers.receiveCompletion, receiveCompletion),
    Registers.counts -> counts,
    Registers.macAddress -> state.macAddress,
    Registers.interruptEnable -> state.interruptEnable,
    Registers.rate ->
      Registers.rate.word("burst" -> state.rate.burst, "period" -> state.rate.period, "flits" -> state.rate.flits),
    Registers.receiveChecksum ->
      Registers.receiveChecksum.word("enable" -> state.receiveChecksum.enable, "start" -> state.receiveChecksum.start),
    Registers.moderation ->
      Registers.moderation.word("time" -> state.moderation.time, "packets" -> state.moderation.packets)
  )
  responses.io.enq.bits.data := MuxLookup(access.bits.address, 0.U(64.W))(
    (fixed ++ Registers.map.counters.zip(counters)).map { case (register, value) => register.offset.U -> value }
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
    setting.flits := Registers.rate("flits").of(data)
    setting.period := Registers.rate("period").of(data)
    setting.burst := Registers.rate("burst").of(data)
    setting
  }

  private def sendChecksum(data: UInt): SendChecksumRequest = {
    val request = Wire(new SendChecksumRequest)
    request.start := Registers.sendChecksum("start").of(data)
    request.offset := Registers.sendChecksum("offset").of(data)
    request.initial := Registers.sendChecksum("initial").of(data)
    request.enable := Registers.sendChecksum("enable").of(data)
    request
  }

  private def receiveChecksum(data: UInt): ReceiveChecksumSetting = {
    val setting = Wire(new ReceiveChecksumSetting)
    setting.start := Registers.receiveChecksum("start").of(data)
    setting.enable := Registers.receiveChecksum("enable").of(data)
    setting
  }

  private def moderation(data: UInt): ModerationSetting = {
    val setting = Wire(new ModerationSetting)
    setting.packets := Registers.moderation("packets").of(data)
    setting.time := Registers.moderation("time").of(data)
    setting
  }

  /** 0 when there is none. */
  private def completion(register: Register, port: DecoupledIO[Completion]): UInt = {
    val parts = Seq("status" -> port.bits.status, "sum" -> port.bits.sum, "length" -> port.bits.length)
    val word = register.word(("valid" -> true.B) +: parts: _*)
    require(word.getWidth == 64, "a completion fills its register")
    Mux(port.valid, word, 0.U)
  }
}
