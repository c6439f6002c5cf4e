package rackwright.access

import chisel3._
import chisel3.util._

import rackwright.stream.{ByteStream, StreamRange}

/** Holds the next few beats of a range in a ring of registers and offers their bytes aligned.
  *
  * One beat enters per cycle. The offered bytes result from one shift of the beats from `head` on by the offset in the
  * first of them, so that no register changes its position when bytes are consumed. The number of bytes that the
  * consumer takes, which is known late, is not an input of wide counters: the rest of the range is counted as beats
  * enter.
  */
class StreamWindow(beatBytes: Int, streamBytes: Int) extends Module {
  private val offsetBits = log2Ceil(beatBytes)

  /** Beats that `streamBytes` bytes at the worst offset lie in; one more keeps a beat entering in every cycle. */
  private val offered = (streamBytes + 2 * beatBytes - 2) / beatBytes
  private val slots = 1 << log2Ceil(offered + 1)
  private val slotBits = log2Ceil(slots)

  /** A new range; stored beats of the previous one are dropped. */
  val start = IO(Flipped(Valid(new StreamRange)))

  /** The cycle after `start`: the range can't be read, so that its first byte is already a fault. */
  val unreadable = IO(Input(Bool()))

  /** The range is aborted. */
  val stop = IO(Input(Bool()))

  /** Beats of the range, in order. */
  val beat = IO(Flipped(Decoupled(new LoadedBeat(beatBytes))))

  /** The bytes offered to the consumer. */
  val stream = IO(new ByteStream(streamBytes))

  /** No byte of the range is left to consume, or there is no range. */
  val finished = IO(Output(Bool()))

  private val beats = Reg(Vec(slots, UInt((8 * beatBytes).W)))

  /** The next byte to offer and the next slot to fill, with a bit that distinguishes a full ring from an empty one. */
  private val head = Reg(UInt((1 + slotBits + offsetBits).W))
  private val tail = Reg(UInt((1 + slotBits).W))
  private val valid = RegInit(0.U((slotBits + offsetBits + 1).W))
  private val first = Reg(Bool())

  /** Bytes of the range that have not entered, and whether there are none. */
  private val outside = Reg(UInt(64.W))
  private val entered = RegInit(true.B)
  private val active = RegInit(false.B)
  private val faulty = RegInit(false.B)

  private val headSlot = head >> offsetBits
  private val headOffset = head(offsetBits - 1, 0)
  private val inReach = Cat((0 until offered).reverse.map(i => beats((headSlot + i.U)(slotBits - 1, 0))))
  private val aligned = (inReach >> Cat(headOffset, 0.U(3.W)))(8 * streamBytes - 1, 0)

  private val countBits = stream.available.getWidth
  private val more = valid > streamBytes.U
  private val ending = entered && !more
  stream.data := aligned.asTypeOf(stream.data)
  stream.available := Mux(more, streamBytes.U(countBits.W), valid(countBits - 1, 0))
  stream.last := active && ending
  stream.fault := active && faulty && !entered && !more
  finished := entered && valid === 0.U

  private val entering = beat.fire && !beat.bits.fault
  private val whole = beatBytes.U - Mux(first, headOffset, 0.U)
  private val ends = outside <= whole
  private val gain = Mux(ends, outside(offsetBits, 0), whole)
  beat.ready := active && !faulty && tail =/= (headSlot ^ slots.U)

  when(entering) {
    beats(tail(slotBits - 1, 0)) := beat.bits.data
    tail := tail + 1.U
    first := false.B
    outside := outside - gain
    entered := ends
  }
  when((beat.fire && beat.bits.fault) || unreadable) { faulty := true.B }
  head := head + stream.consume
  valid := valid + Mux(entering, gain, 0.U) - stream.consume

  when(start.valid) {
    head := start.bits.address(offsetBits - 1, 0)
    tail := 0.U
    valid := 0.U
    first := true.B
    outside := start.bits.length
    entered := start.bits.length === 0.U
    active := true.B
    faulty := false.B
  }.elsewhen(stop) {
    valid := 0.U
    entered := true.B
    active := false.B
  }
}
