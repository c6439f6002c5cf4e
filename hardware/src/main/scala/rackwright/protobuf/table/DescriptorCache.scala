package rackwright.protobuf.table

import chisel3._
import chisel3.util._

import rackwright.memory.Sram
import rackwright.port.{MemoryPort, MemoryPortParams}

/** A line to look up: its address, a multiple of 16, and the address of the last line that may be prefetched with it.
  */
class DescriptorRequest extends Bundle {
  val address = UInt(DescriptorTable.addressBits.W)
  val last = UInt(DescriptorTable.addressBits.W)
}

/** The requested line and, if it was cached too, the next one. */
class DescriptorLines extends Bundle {
  val first = new DescriptorLine
  val both = Bool()
  val second = UInt((8 * DescriptorTable.lineBytes).W)
}

/** A cache of lines of descriptor tables: headers, entries, images.
  *
  * Direct-mapped, with lines of 16 bytes. One lookup starts per cycle, in registered stages: one cycle to address the
  * memories, one to read them, and one to return the line or two lines. A miss reads the line and the next few; later
  * lookups wait for it.
  *
  * @param port
  *   parameters of the memory port; tags of 2 bits or more.
  * @param lines
  *   capacity in lines: a power of two.
  */
class DescriptorCache(port: MemoryPortParams, lines: Int) extends Module {
  import DescriptorCache.burst
  require(isPow2(lines) && lines >= 2 * burst, s"the lines of a cache are a power of two from ${2 * burst}, not $lines")
  private val indexBits = log2Ceil(lines / 2)
  private val lineBits = log2Ceil(DescriptorTable.lineBytes)
  private val numberBits = DescriptorTable.addressBits - lineBits

  /** Invalidate all lines; only between lookups. */
  val flush = IO(Input(Bool()))

  /** The next line to look up. */
  val request = IO(Flipped(Decoupled(new DescriptorRequest)))

  /** The lines, in the order of the requests. A requester with more than one outstanding lookup must accept each line
    * at once.
    */
  val response = IO(Decoupled(new DescriptorLines))

  /** Reads only. */
  val memory = IO(new MemoryPort(port))

  /** No lookup and no read is outstanding. */
  val idle = IO(Output(Bool()))

  /** A lookup misses in this cycle. */
  val miss = IO(Output(Bool()))

  private class Lookup extends Bundle {
    val number = UInt(numberBits.W)
    val last = UInt(numberBits.W)
  }
  // The lookup that addresses the memories, and the previous one, whose tags are compared: in the next cycle, or when
  // its lookup is repeated because lines have arrived since.
  private val asked = Reg(new Lookup)
  private val isAsked = RegInit(false.B)
  private val compared = Reg(new Lookup)
  private val compares = RegInit(false.B)
  private val repeats = RegInit(false.B)
  // The lookup that missed.
  private val missed = Reg(new Lookup)

  private def index(number: UInt): UInt = number(indexBits, 1) ^ number(2 * indexBits, indexBits + 1)
  private def numberOf(address: UInt): UInt = address >> lineBits
  private val quiet = Wire(Bool())
  private val asks = quiet && (isAsked || repeats)
  private val askedNow = Mux(repeats, compared.number, asked.number)
  private val askedBehind = askedNow + 1.U

  private val number = compared.number
  private val following = RegEnable(askedBehind, asks)

  /** The even lines, or the odd ones: consecutive lines are in different banks. */
  private class Bank(odd: Int) {
    private val here = index(Mux(askedNow(0) === odd.U, askedNow, askedBehind))
    private val data = Sram(lines / 2, UInt((8 * DescriptorTable.lineBytes).W))
    private val numbers = Sram(lines / 2, UInt(numberBits.W))
    private val present = RegInit(0.U((lines / 2).W))
    private val wasPresent = RegEnable(present(here) && !flush, asks)
    private val foundNumber = numbers.read(here, asks)
    val found: UInt = data.read(here, asks)

    def has(number: UInt): Bool = compares && wasPresent && foundNumber === number

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

  // The response is held until it is accepted; after a miss, it consists of the data from memory.
  private val held = Reg(new DescriptorLines)
  private val isHeld = RegInit(false.B)
  private val asking = RegInit(false.B)
  private val ask = Reg(UInt(log2Ceil(burst + 1).W))
  private val unanswered = RegInit(0.U(log2Ceil(burst + 1).W))

  response.valid := isHeld
  response.bits := held
  assert(!(isHeld && compares) || response.ready, "who has another line looked up takes the one before at once")

  quiet := !asking && unanswered === 0.U
  request.ready := quiet && !repeats
  idle := quiet && !isAsked && !compares && !repeats && !isHeld
  miss := compares && !hit

  when(request.fire) {
    asked.number := numberOf(request.bits.address)
    asked.last := numberOf(request.bits.last)
  }
  isAsked := request.fire || (isAsked && !(quiet && !repeats))
  // The lookup behind a miss is repeated.
  compares := asks && !miss
  repeats := asks && miss || (repeats && !quiet)
  when(asks && !repeats) { compared := asked }
  when(response.fire) { isHeld := false.B }
  when(compares) {
    held.first.data := found
    held.first.fault := false.B
    held.both := hitSecond
    held.second := foundSecond
    isHeld := hit
    missed := compared
    asking := !hit
    ask := 0.U
  }

  private val wanted = missed.number + ask
  private val beat = Cat(wanted, 0.U(lineBits.W))
  memory.request.valid := asking
  memory.request.bits.read(Cat(beat >> port.offsetBits, 0.U(port.offsetBits.W)), ask)
  memory.response.ready := true.B
  when(memory.request.fire) {
    ask := ask + 1.U
    asking := wanted < missed.last && ask =/= (burst - 1).U
  }
  unanswered := unanswered + memory.request.fire - memory.response.valid

  private val answer = memory.response.bits
  private val filled = missed.number + answer.tag(log2Ceil(burst) - 1, 0)
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

  /** Lines read on a miss, the requested one first. */
  val burst: Int = 4
}
