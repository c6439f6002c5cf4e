package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.access.TagAllocator
import rackwright.port.{MemoryPort, MemoryPortParams, MemoryRequest}
import rackwright.protobuf.table.DescriptorTable

/** Has the lines that will be written next brought near, a little before they are handed out: a write of a line that is
  * far away takes as long as a read of it, and another one of the same beat waits for its answer.
  *
  * A beat of each line is read, and nothing is done with it. One head after the other is looked at, three cycles each,
  * until none of them wants anything.
  *
  * @param port
  *   shape of the memory port.
  */
class RegionsAhead(port: MemoryPortParams) extends Module {
  import RegionsAhead._
  private val numberBits = DescriptorTable.addressBits - log2LineBytes

  /** What has been handed out, of four parts of memory. */
  val heads = IO(Input(new RegionHeads))

  /** More is handed out in this cycle. Before that, nothing is known to be good about the regions. */
  val taken = IO(Input(Bool()))

  /** A request is read. Between requests nothing is asked for: whoever gave the regions may take them back then. */
  val reading = IO(Input(Bool()))

  /** Reads only. */
  val memory = IO(new MemoryPort(port))

  /** No read is under way, and none will be until a request is read. */
  val idle = IO(Output(Bool()))

  // Upward and downward in turns: where a head is, and the head that comes towards it. A downward one is at the line
  // above those that it will get.
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
  // The last beat of a line that has room for the next piece lies in the region, even if the line begins before it.
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

  /** log2 of the bytes of a line of a cache. */
  private val log2LineBytes: Int = 6

  /** Lines that are near before they are handed out: as many as are handed out while one of them comes from DRAM. */
  private val lines: Int = 16

  /** log2 of so many lines before or behind its head, the next line is that of another region. */
  private val log2LostLines: Int = 7

  /** Reads under way. */
  private val reads: Int = 32

  /** Looks at heads until nothing is wanted: each of the four once more. */
  private val rounds: Int = 5

  /** A head is chosen, compared with the next line, and that is read or not. */
  private object State extends ChiselEnum {
    val pick, measure, decide = Value
  }
}
