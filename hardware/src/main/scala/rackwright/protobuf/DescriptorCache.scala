package rackwright.protobuf

import chisel3._
import chisel3.util._

import rackwright.memory.{MemoryPort, MemoryPortParams}

/** A line to look up: its address, a multiple of 16, and that of the last line which may be read along with it. */
class DescriptorRequest extends Bundle {
  val address = UInt(DescriptorTable.addressBits.W)
  val last = UInt(DescriptorTable.addressBits.W)
}

/** Keeps lines of descriptor tables on chip: headers, entries, images.
  *
  * Direct-mapped, 16 bytes per line, one lookup at a time: a hit is answered in the cycle after the request, so that a
  * consumer which takes each answer at once gets a line per cycle. A miss reads the line and the next few.
  *
  * @param port
  *   shape of the memory port; tags of 2 bits or more.
  * @param lines
  *   lines kept: a power of two.
  */
class DescriptorCache(port: MemoryPortParams, lines: Int) extends Module {
  import DescriptorCache.burst
  require(isPow2(lines) && lines >= 2 * burst, s"the lines of a cache are a power of two from ${2 * burst}, not $lines")
  private val indexBits = log2Ceil(lines)
  private val lineBits = log2Ceil(DescriptorTable.lineBytes)
  private val numberBits = DescriptorTable.addressBits - lineBits

  /** Forget all lines; between lookups. */
  val flush = IO(Input(Bool()))

  /** The line wanted next. */
  val request = IO(Flipped(Decoupled(new DescriptorRequest)))

  /** The lines, in the order of the requests. */
  val response = IO(Decoupled(new DescriptorLine))

  /** Reads only. */
  val memory = IO(new MemoryPort(port))

  /** No lookup and no read is under way. */
  val idle = IO(Output(Bool()))

  /** A lookup misses in this cycle. */
  val miss = IO(Output(Bool()))

  private val data = SyncReadMem(lines, UInt((8 * DescriptorTable.lineBytes).W))
  private val numbers = SyncReadMem(lines, UInt(numberBits.W))
  private val present = RegInit(0.U(lines.W))

  private val pending = RegInit(false.B)
  private val number = Reg(UInt(numberBits.W))
  private val last = Reg(UInt(numberBits.W))
  private val fresh = RegInit(false.B)
  private val wasPresent = Reg(Bool())

  private def index(number: UInt): UInt = number(indexBits - 1, 0) ^ number(2 * indexBits - 1, indexBits)
  private def numberOf(address: UInt): UInt = address >> lineBits

  private val wanted = numberOf(request.bits.address)
  private val found = data.read(index(wanted), request.fire)
  private val foundNumber = numbers.read(index(wanted), request.fire)
  private val hit = fresh && wasPresent && foundNumber === number

  // The answer is kept while its taker waits, and made of what memory answered after a miss.
  private val held = Reg(new DescriptorLine)
  private val isHeld = RegInit(false.B)
  private val asking = RegInit(false.B)
  private val ask = Reg(UInt(log2Ceil(burst + 1).W))
  private val unanswered = RegInit(0.U(log2Ceil(burst + 1).W))

  response.valid := isHeld || hit
  response.bits.data := Mux(isHeld, held.data, found)
  response.bits.fault := isHeld && held.fault

  private val quiet = !asking && unanswered === 0.U
  request.ready := quiet && (!pending || response.fire)
  idle := quiet && !pending
  miss := fresh && !hit

  fresh := request.fire
  when(request.fire) {
    pending := true.B
    number := wanted
    last := numberOf(request.bits.last)
    wasPresent := present(index(wanted)) && !flush
  }.elsewhen(response.fire) {
    pending := false.B
  }
  when(fresh) {
    when(hit) {
      held.data := found
      held.fault := false.B
      isHeld := !response.ready
    }.otherwise {
      asking := true.B
      ask := 0.U
    }
  }.elsewhen(response.fire) {
    isHeld := false.B
  }

  private val asked = number + ask
  private val beat = Cat(asked, 0.U(lineBits.W))
  memory.request.valid := asking
  memory.request.bits.address := Cat(beat >> port.offsetBits, 0.U(port.offsetBits.W))
  memory.request.bits.write := false.B
  memory.request.bits.data := 0.U
  memory.request.bits.mask := 0.U
  memory.request.bits.tag := ask
  memory.response.ready := true.B
  when(memory.request.fire) {
    ask := ask + 1.U
    asking := asked < last && ask =/= (burst - 1).U
  }
  unanswered := unanswered + memory.request.fire - memory.response.valid

  private val answer = memory.response.bits
  private val filled = number + answer.tag(log2Ceil(burst) - 1, 0)
  private val lanes =
    answer.data.asTypeOf(Vec(port.bytes / DescriptorTable.lineBytes, UInt((8 * DescriptorTable.lineBytes).W)))
  private val line = if (lanes.length == 1) lanes(0) else lanes(filled(log2Ceil(lanes.length) - 1, 0))
  when(memory.response.valid) {
    when(!answer.fault) {
      data.write(index(filled), line)
      numbers.write(index(filled), filled)
      present := present.bitSet(index(filled), true.B)
    }
    when(answer.tag === 0.U) {
      held.data := line
      held.fault := answer.fault
      isHeld := true.B
    }
  }
  when(flush) { present := 0.U }
}

/** Constants of a [[DescriptorCache]]. */
object DescriptorCache {

  /** Lines read on a miss, the wanted one first. */
  val burst: Int = 4
}
