package rackwright.protobuf.table

import chisel3._
import chisel3.util._

import rackwright.memory.Sram
import rackwright.port.{MemoryPort, MemoryPortParams}

/** A line to look up: its address, a multiple of 16, and that of the last line which may be read along with it. */
class DescriptorRequest extends Bundle {
  val address = UInt(DescriptorTable.addressBits.W)
  val last = UInt(DescriptorTable.addressBits.W)
}

/** The line wanted and, where it was on chip too, the one behind it. */
class DescriptorLines extends Bundle {
  val first = new DescriptorLine
  val both = Bool()
  val second = UInt((8 * DescriptorTable.lineBytes).W)
}

/** Keeps lines of descriptor tables on chip: headers, entries, images.
  *
  * Direct-mapped, 16 bytes per line, one lookup at a time, each step of which begins and ends in registers: a cycle to
  * ask the memories, one for what they say, and the line, or two, is there in the third. A miss reads the line and the
  * next few.
  *
  * @param port
  *   shape of the memory port; tags of 2 bits or more.
  * @param lines
  *   lines kept: a power of two.
  */
class DescriptorCache(port: MemoryPortParams, lines: Int) extends Module {
  import DescriptorCache.burst
  require(isPow2(lines) && lines >= 2 * burst, s"the lines of a cache are a power of two from ${2 * burst}, not $lines")
  private val indexBits = log2Ceil(lines / 2)
  private val lineBits = log2Ceil(DescriptorTable.lineBytes)
  private val numberBits = DescriptorTable.addressBits - lineBits

  /** Forget all lines; between lookups. */
  val flush = IO(Input(Bool()))

  /** The line wanted next. */
  val request = IO(Flipped(Decoupled(new DescriptorRequest)))

  /** The lines, in the order of the requests. */
  val response = IO(Decoupled(new DescriptorLines))

  /** Reads only. */
  val memory = IO(new MemoryPort(port))

  /** No lookup and no read is under way. */
  val idle = IO(Output(Bool()))

  /** A lookup misses in this cycle. */
  val miss = IO(Output(Bool()))

  // From the request to its answer; its first cycle, in which the memories are asked; the second, when they answer.
  private val pending = RegInit(false.B)
  private val seeks = RegInit(false.B)
  private val number = Reg(UInt(numberBits.W))
  private val last = Reg(UInt(numberBits.W))
  private val fresh = RegInit(false.B)

  private def index(number: UInt): UInt = number(indexBits, 1) ^ number(2 * indexBits, indexBits + 1)
  private def numberOf(address: UInt): UInt = address >> lineBits

  private val following = number + 1.U

  /** The even lines, or the odd ones: of two that follow each other, one is in each bank. */
  private class Bank(odd: Int) {
    private val here = index(Mux(number(0) === odd.U, number, following))
    private val data = Sram(lines / 2, UInt((8 * DescriptorTable.lineBytes).W))
    private val numbers = Sram(lines / 2, UInt(numberBits.W))
    private val present = RegInit(0.U((lines / 2).W))
    private val wasPresent = RegEnable(present(here) && !flush, seeks)
    private val foundNumber = numbers.read(here, seeks)
    val found: UInt = data.read(here, seeks)

    def has(number: UInt): Bool = fresh && wasPresent && foundNumber === number

    def fill(number: UInt, line: UInt): Unit = when(number(0) === odd.U) {
      data.write(index(number), line)
      numbers.write(index(number), number)
      present := present.bitSet(index(number), true.B)
    }

    def forget(): Unit = present := 0.U
  }
  private val (even, odd) = (new Bank(0), new Bank(1))
  private val hit = Mux(number(0), odd.has(number), even.has(number))
  private val hitSecond = Mux(number(0), even.has(following), odd.has(following))
  private val found = Mux(number(0), odd.found, even.found)
  private val foundSecond = Mux(number(0), even.found, odd.found)

  // The answer is kept while its taker waits, and made of what memory answered after a miss.
  private val held = Reg(new DescriptorLines)
  private val isHeld = RegInit(false.B)
  private val asking = RegInit(false.B)
  private val ask = Reg(UInt(log2Ceil(burst + 1).W))
  private val unanswered = RegInit(0.U(log2Ceil(burst + 1).W))

  response.valid := isHeld
  response.bits := held

  private val quiet = !asking && unanswered === 0.U
  request.ready := quiet && (!pending || response.fire)
  idle := quiet && !pending
  miss := fresh && !hit

  seeks := request.fire
  fresh := seeks
  when(request.fire) {
    pending := true.B
    number := numberOf(request.bits.address)
    last := numberOf(request.bits.last)
  }.elsewhen(response.fire) {
    pending := false.B
  }
  when(response.fire) { isHeld := false.B }
  when(fresh) {
    held.first.data := found
    held.first.fault := false.B
    held.both := hitSecond
    held.second := foundSecond
    isHeld := hit
    asking := !hit
    ask := 0.U
  }

  private val asked = number + ask
  private val beat = Cat(asked, 0.U(lineBits.W))
  memory.request.valid := asking
  memory.request.bits.read(Cat(beat >> port.offsetBits, 0.U(port.offsetBits.W)), ask)
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
      Seq(even, odd).foreach(_.fill(filled, line))
    }
    when(answer.tag === 0.U) {
      held.first.data := line
      held.first.fault := answer.fault
      held.both := false.B
      isHeld := true.B
    }
  }
  when(flush) { Seq(even, odd).foreach(_.forget()) }
}

/** Constants of a [[DescriptorCache]]. */
object DescriptorCache {

  /** Lines read on a miss, the wanted one first. */
  val burst: Int = 4
}
