package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.access.TagAllocator
import rackwright.port.{MemoryPort, MemoryPortParams, MemoryRequest}
import rackwright.protobuf.table.DescriptorTable

/** Prefetches the cache lines that will be allocated next: a write to a distant line takes as long as a read of it, and
  * a second write to the same beat waits for the first one's response.
  *
  * A beat of each line is read and discarded. The allocation pointers are checked in turn, three cycles each, until no
  * line is missing.
  *
  * @param port
  *   parameters of the memory port.
  */
class RegionsAhead(port: MemoryPortParams) extends Module {
  import RegionsAhead._
  private val numberBits = DescriptorTable.addressBits - log2LineBytes

  /** The allocation pointers of the four parts of memory. */
  val heads = IO(Input(new RegionHeads))

  /** Memory is allocated in this cycle. Before the first allocation, the regions are not known to be valid. */
  val taken = IO(Input(Bool()))

  /** A request is being parsed. Between requests nothing is read, as software may reclaim its regions. */
  val reading = IO(Input(Bool()))

  /** Reads only. */
  val memory = IO(new MemoryPort(port))

  /** No read is outstanding, and none will be issued before the next request. */
  val idle = IO(Output(Bool()))

  // Upward and downward pointers alternate: a pointer, and the one that grows towards it. A downward pointer is at the
  // line above its next one.
  private def line(address: UInt): UInt = address >> log2LineBytes
  private val at = VecInit(Seq(heads.objects, heads.strings, heads.arrays, heads.texts).map(line))
  private val opposite = VecInit(Seq(heads.strings, heads.objects, heads.texts, heads.arrays).map(line))

  private val tags = Module(new TagAllocator(reads.min(port.outstanding)))
  private val state = RegInit(State.pick)
  private val turn = RegInit(0.U(2.W))
  private val left = RegInit(0.U(3.W))
  private val next = RegInit(VecInit.fill(4)(0.U(numberBits.W)))
  private val isDown = turn(0)
  private val head = Reg(UInt(numberBits.W))
  private val bound = Reg(UInt(numberBits.W))
  private val asked = Reg(UInt(numberBits.W))
  private val lead = Reg(UInt(numberBits.W))
  private val isInside = Reg(Bool())

  private val isLost = (lead >> log2LostLines).orR
  private val requests = Module(new Queue(new MemoryRequest(port), 1))
  private val wants = state === State.decide && reading && !isLost && lead < lines.U && isInside
  private val place = Mux(isDown, asked - 1.U, asked)
  private val asks = wants && tags.allocate.valid && requests.io.enq.ready
  requests.io.enq.valid := asks
  // The last beat of a line is within the region if there is room for the next allocation, even if the line begins
  // before the region.
  private val lastBeat = (1 << log2LineBytes) - port.bytes
  requests.io.enq.bits.read(Cat(place, lastBeat.U(log2LineBytes.W)), tags.allocate.bits)
  tags.allocate.ready := asks
  memory.request <> requests.io.deq
  memory.response.ready := true.B
  tags.free.valid := memory.response.valid
  tags.free.bits := memory.response.bits.tag

  private val isBusy = left =/= 0.U
  switch(state) {
    is(State.pick) {
      head := at(turn)
      bound := opposite(turn)
      asked := next(turn)
      when(isBusy) { state := State.measure }
    }
    is(State.measure) {
      lead := Mux(isDown, head - asked, asked - head)
      isInside := Mux(isDown, asked > bound, asked < bound)
      state := State.decide
    }
    is(State.decide) {
      when(isLost) { next(turn) := head }
      when(asks) { next(turn) := Mux(isDown, place, asked + 1.U) }
      when(!wants && !isLost && reading) {
        turn := turn + 1.U
        left := left - 1.U
      }
      when(!wants || asks) { state := State.pick }
    }
  }
  when(!reading) { state := State.pick }
  when(taken) { left := rounds.U }
  idle := !reading && tags.idle
}

/** Constants of [[RegionsAhead]]. */
object RegionsAhead {

  /** log2 of the size of a cache line in bytes. */
  private val log2LineBytes: Int = 6

  /** Lines to prefetch ahead of a pointer: the number that is allocated during a DRAM access. */
  private val lines: Int = 16

  /** log2 of the distance in lines from its allocation pointer at which a prefetch position is taken to belong to a
    * previous region.
    */
  private val log2LostLines: Int = 7

  /** Maximum number of outstanding reads. */
  private val reads: Int = 32

  /** Checks until nothing is missing: each of the four pointers, and the first one once more. */
  private val rounds: Int = 5

  /** A pointer is selected and compared with the next line to prefetch, which is then read or not. */
  private object State extends ChiselEnum {
    val pick, measure, decide = Value
  }
}
