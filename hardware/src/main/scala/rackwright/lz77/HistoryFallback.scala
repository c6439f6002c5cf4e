package rackwright.lz77

import chisel3._
import chisel3.util._

import rackwright.memory.MemoryPort

/** Fetches the sources of copies that the history doesn't reach from the output in memory, ahead of their execution.
  *
  * Beats are asked for in output order, each as soon as the bytes wanted of it have been answered as written; the
  * answers come in any order and become `arrived` in output order. The tags go round, so the place in the order and the
  * tag are the same.
  */
class HistoryFallback(params: DecoderParams) extends Module {
  private val port = params.port
  private val ringBits = log2Ceil(params.fallbackBytes)
  private val waitingCopies = 32

  /** Forgets everything; given when nothing is outstanding. */
  val clear = IO(Input(Bool()))

  /** Forgets the copies not asked for. */
  val stop = IO(Input(Bool()))
  val destination = IO(Input(UInt(port.addressBits.W)))

  /** Bytes of the output, from its first on, that memory has answered as written. */
  val acknowledged = IO(Input(UInt(33.W)))

  /** Copies to fetch, the first `pushed` of `push`; allowed while `roomy`. */
  val push = IO(Input(Vec(params.lanes, new FallbackCopy)))
  val pushed = IO(Input(UInt(log2Ceil(params.lanes + 1).W)))
  val roomy = IO(Output(Bool()))

  /** Bytes that have arrived and were not taken. */
  val arrived = IO(Output(UInt((ringBits + 1).W)))

  /** Reads the oldest bytes, so that the first of them is byte `skew` of `line` in the next cycle; then takes `taken`.
    */
  val read = IO(Input(Bool()))
  val skew = IO(Input(UInt(params.lineBits.W)))
  val line = IO(Output(UInt((8 * params.bytes).W)))
  val taken = IO(Input(UInt(params.countBits.W)))

  val memory = IO(new MemoryPort(port))

  /** A read was answered with a fault. */
  val faulted = IO(Output(Bool()))

  /** No read is outstanding. */
  val quiet = IO(Output(Bool()))

  private val copies = Module(new DecoderQueue(new FallbackCopy, waitingCopies, params.lanes))
  private val buffer = Module(new FallbackBuffer(params))
  private val places = Mem(port.outstanding, new FallbackPlace(params))

  // One beat of the oldest copy per cycle.
  private val done = RegInit(0.U(Segment.lengthBits.W))
  private val copy = copies.head(0)
  private val source = copy.source + done
  private val address = destination + source
  private val from = address(port.offsetBits - 1, 0)
  private val left = copy.length - done
  private val wanted = left.min(params.bytes.U - from)(params.countBits - 1, 0)
  private val isLast = wanted === left

  private val asked = RegInit(0.U(port.tagBits.W))
  private val retired = RegInit(0.U(port.tagBits.W))
  private val outstanding = RegInit(0.U((port.tagBits + 1).W))
  private val answered = RegInit(0.U(port.outstanding.W))
  private val reserved = RegInit(0.U((ringBits + 1).W))
  private val ready = RegInit(0.U((ringBits + 1).W))
  private val head = RegInit(0.U(ringBits.W))
  private val tail = RegInit(0.U(ringBits.W))
  private val fault = RegInit(false.B)

  private val written = acknowledged >= (source +& wanted)
  private val room = reserved <= (params.fallbackBytes - params.bytes).U && outstanding =/= port.outstanding.U
  memory.request.valid := copies.count =/= 0.U && written && room && !stop
  memory.request.bits.address := Cat(address(port.addressBits - 1, port.offsetBits), 0.U(port.offsetBits.W))
  memory.request.bits.write := false.B
  memory.request.bits.data := 0.U
  memory.request.bits.mask := 0.U
  memory.request.bits.tag := asked
  memory.response.ready := true.B

  private val place = Wire(new FallbackPlace(params))
  place.from := from
  place.count := wanted
  place.to := tail
  when(memory.request.fire) {
    places.write(asked, place)
    asked := asked + 1.U
    tail := tail + wanted
    done := Mux(isLast, 0.U, done + wanted)
  }

  buffer.arrived := memory.response.valid
  buffer.place := places.read(memory.response.bits.tag)
  buffer.beat := memory.response.bits.data
  when(memory.response.valid && memory.response.bits.fault) { fault := true.B }

  private val retire = answered(retired)
  private val arrivedBytes = Mux(retire, places.read(retired).count, 0.U)
  private val setAnswered = Mux(memory.response.valid, UIntToOH(memory.response.bits.tag, port.outstanding), 0.U)
  private val clearAnswered = Mux(retire, UIntToOH(retired, port.outstanding), 0.U)
  answered := (answered | setAnswered) & ~clearAnswered
  retired := retired + retire
  outstanding := outstanding + memory.request.fire - retire
  ready := ready + arrivedBytes - taken
  reserved := reserved + Mux(memory.request.fire, wanted, 0.U) - taken
  head := head + taken

  when(clear) {
    done := 0.U
    ready := 0.U
    reserved := 0.U
    head := 0.U
    tail := 0.U
    fault := false.B
  }

  copies.clear := clear || stop
  copies.push := push
  copies.pushed := pushed
  copies.popped := memory.request.fire && isLast
  roomy := copies.roomy

  buffer.read := read
  buffer.start := head - skew
  line := buffer.line
  arrived := ready
  faulted := fault
  quiet := outstanding === 0.U
}
