package rackwright.lz77.decode

import chisel3._
import chisel3.util._

import rackwright.port.MemoryPort

/** Fetches the sources of copies that the history doesn't reach from the output in memory, or from a dictionary, ahead
  * of their execution.
  *
  * Lines are requested in the order of the pieces that need them, each as soon as its write has a response; the
  * responses may have any order. The tags go round, so that the tag, the place in the order and the place in the buffer
  * are the same.
  */
class DecoderFallback(params: DecoderParams) extends Module {
  private val port = params.port
  private val slotBits = params.slotBits
  private val waitingCopies = 32

  /** Drops all state; set while no request is outstanding. */
  val clear = IO(Input(Bool()))

  /** Drops the copies that have not been requested. */
  val stop = IO(Input(Bool()))
  val destination = IO(Input(UInt(port.addressBits.W)))
  val dictionary: Option[UInt] = Option.when(params.dictionary)(IO(Input(UInt(port.addressBits.W))))

  /** Lines of the output, from its first on, that memory has answered as written. */
  val acknowledged = IO(Input(UInt(28.W)))

  /** Copies to fetch, valid ones first among equals; allowed while `roomy`, and some cycles longer. */
  val push = IO(Input(Vec(params.lanes, Valid(new FallbackCopy(params)))))
  val roomy = IO(Output(Bool()))

  /** The next line, or the next two, have arrived. */
  val arrived = IO(Output(Vec(2, Bool())))

  /** Number of arrived lines that a step takes; it reads them in the next cycle. */
  val taken = IO(Input(UInt(2.W)))

  /** Reads the line at a slot and the one after it, for the next cycle. */
  val read = IO(Flipped(Valid(UInt(slotBits.W))))
  val pair = IO(Output(UInt((16 * params.bytes).W)))

  val memory = IO(new MemoryPort(port))

  /** A read was answered with a fault. */
  val faulted = IO(Output(Bool()))

  /** No read is outstanding. */
  val quiet = IO(Output(Bool()))

  private val copies = Module(new DecoderQueue(new FallbackCopy(params), waitingCopies, params.lanes))
  private val buffer = Module(new LineBanks(params.bytes, port.outstanding))

  copies.clear := clear || stop
  copies.pushed := PopCount(push.map(_.valid))
  for (lane <- 0 until params.lanes)
    copies.push(lane) := PriorityMux(
      push.drop(lane).map(_.valid) :+ true.B,
      push.drop(lane).map(_.bits) :+ push(lane).bits
    )
  roomy := RegNext(copies.count <= (waitingCopies / 2).U, false.B)

  // One line of the oldest copy per cycle; its address; then it is requested as soon as this is allowed.
  private val line = Wire(Decoupled(new FallbackLine(params)))
  private val second = RegInit(false.B)
  private val copy = copies.head(0)
  line.valid := copies.count =/= 0.U
  line.bits.number := copy.line + second
  line.bits.address := DontCare
  Optional.connect(line.bits.fromDictionary, copy.fromDictionary)
  when(line.fire) { second := copy.two && !second }
  copies.popped := line.fire && (second || !copy.two)

  private val numbered = held(line)
  private val addressed = Wire(Decoupled(new FallbackLine(params)))
  addressed.valid := numbered.valid
  numbered.ready := addressed.ready
  addressed.bits := numbered.bits
  private val base = numbered.bits.fromDictionary
    .zip(dictionary)
    .fold(destination) { case (is, there) => Mux(is, there, destination) }
  addressed.bits.address := (base >> port.offsetBits) + numbered.bits.number
  private val next = held(addressed)

  private def held(from: DecoupledIO[FallbackLine]): DecoupledIO[FallbackLine] =
    withReset(reset.asBool || clear || stop) { Queue(from, 2) }

  private val asked = RegInit(0.U(slotBits.W))
  private val retired = RegInit(0.U(slotBits.W))
  private val outstanding = RegInit(0.U((slotBits + 1).W))
  private val reserved = RegInit(0.U((slotBits + 1).W))
  private val ready = RegInit(0.U((slotBits + 1).W))
  private val answered = RegInit(0.U(port.outstanding.W))
  private val fault = RegInit(false.B)

  private val written = next.bits.number < acknowledged
  private val isThere = next.bits.fromDictionary.fold(written)(written || _)
  private val room = !reserved(slotBits)
  memory.request.valid := next.valid && isThere && room && !stop
  memory.request.bits.read(next.bits.address << port.offsetBits, asked)
  next.ready := memory.request.ready && isThere && room && !stop
  memory.response.ready := true.B
  when(memory.request.fire) { asked := asked + 1.U }
  when(memory.response.valid && memory.response.bits.fault) { fault := true.B }

  private val slot = memory.response.bits.tag
  for (bank <- 0 until 2) {
    buffer.write(bank) := memory.response.valid && slot(0) === bank.U
    buffer.row(bank) := slot >> 1
    buffer.data(bank) := memory.response.bits.data
  }
  buffer.read := read.valid
  buffer.start := Cat(read.bits, 0.U(params.lineBits.W))
  pair := buffer.pair

  private val retire = answered(retired)
  private val setAnswered = Mux(memory.response.valid, UIntToOH(slot, port.outstanding), 0.U)
  private val clearAnswered = Mux(retire, UIntToOH(retired, port.outstanding), 0.U)
  answered := (answered | setAnswered) & ~clearAnswered
  retired := retired + retire
  outstanding := outstanding + memory.request.fire - retire
  ready := ready + retire - taken
  // A slot is free again when it has been read.
  reserved := reserved + memory.request.fire - RegNext(RegNext(taken, 0.U), 0.U)

  when(clear) {
    second := false.B
    asked := 0.U
    retired := 0.U
    ready := 0.U
    reserved := 0.U
    fault := false.B
  }
  when(stop) { second := false.B }

  arrived(0) := ready =/= 0.U
  arrived(1) := ready > 1.U
  faulted := fault
  quiet := outstanding === 0.U
}

/** A line to fetch: its number in the output or the dictionary, and its address over the size of a line. */
class FallbackLine(params: DecoderParams) extends Bundle {
  val number = UInt(28.W)
  val fromDictionary = Option.when(params.dictionary)(Bool())
  val address = UInt((params.port.addressBits - params.port.offsetBits).W)
}
