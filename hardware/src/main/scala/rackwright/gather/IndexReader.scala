package rackwright.gather

import chisel3._
import chisel3.util._

import rackwright.access.StreamLoader
import rackwright.port.MemoryPort

/** An index of a sequence. */
class Index extends Bundle {
  val table = new Table
  val drops = Bool()
  val value = UInt(64.W)
}

/** Reads the indices of one sequence after the other. */
class IndexReader(params: Params) extends Module {
  private val widest = 8

  val sequence = IO(Flipped(Decoupled(new Sequence)))
  val index = IO(Decoupled(new Index))

  /** Give up the sequence. */
  val stop = IO(Input(Bool()))
  val memory = IO(new MemoryPort(params.indices))

  /** Memory has refused an index: the others of its sequence are left out. */
  val fault = IO(Output(Bool()))
  val idle = IO(Output(Bool()))

  private val loader = Module(new StreamLoader(params.indices, 16, params.indexBeats))
  private val active = RegInit(false.B)
  private val now = Reg(new Sequence)
  private val stream = loader.stream
  memory <> loader.memory

  sequence.ready := !active && loader.range.ready && !stop
  loader.range.valid := sequence.valid && !active && !stop
  loader.range.bits.address := sequence.bits.address
  loader.range.bits.length := Mux(sequence.bits.table.wide, sequence.bits.count << 3, sequence.bits.count << 2)
  when(sequence.fire) {
    active := true.B
    now := sequence.bits
  }

  private val size = Mux(now.table.wide, 8.U, 4.U)
  private val bytes = stream.data.take(widest)
  private val enough = stream.available >= size
  index.valid := active && enough
  index.bits.table := now.table
  index.bits.drops := now.drops
  index.bits.value := Mux(now.table.wide, Cat(bytes.reverse), Cat(bytes.take(4).reverse))
  stream.consume := Mux(index.fire, size, 0.U)

  private val broken = active && !enough && stream.fault
  private val ended = active && stream.available === 0.U && stream.last
  fault := broken
  loader.stop := stop || broken
  when(broken || ended || stop) { active := false.B }
  idle := !active && loader.idle
}
