package rackwright.memory

import chisel3._
import chisel3.util._

/** Holds the next few beats of a range in a ring of registers and offers their bytes aligned.
  *
  * One beat enters per cycle. The bytes offered come out of the beats from `head` on by one shift, whose amount is the
  * offset in the first of them, so that no register moves when bytes are consumed.
  */
class StreamWindow(beatBytes: Int, streamBytes: Int) extends Module {
  private val offsetBits = log2Ceil(beatBytes)

  /** Beats that `streamBytes` bytes at the worst offset lie in; one more keeps a beat entering in every cycle. */
  private val offered = (streamBytes + 2 * beatBytes - 2) / beatBytes
  private val slots = 1 << log2Ceil(offered + 1)
  private val slotBits = log2Ceil(slots)

  /** A new range; what is held of the one before is dropped. */
  val start = IO(Flipped(Valid(new StreamRange)))

  /** With `start`: the range can't be read, so that its first byte is already a fault. */
  val unreadable = IO(Input(Bool()))

  /** The range is given up. */
  val stop = IO(Input(Bool()))

  /** Beats of the range, in order. */
  val beat = IO(Flipped(Decoupled(new LoadedBeat(beatBytes))))

  /** The bytes offered to the consumer. */
  val stream = IO(new ByteStream(streamBytes))

  /** No byte of the range is left to consume, or there is no range. */
  val finished = IO(Output(Bool()))

  private val beats = Reg(Vec(slots, UInt((8 * beatBytes).W)))
  private val head = Reg(UInt((slotBits + offsetBits).W))
  private val tail = Reg(UInt(slotBits.W))
  private val free = Reg(UInt((slotBits + 1).W))
  private val valid = RegInit(0.U((slotBits + offsetBits + 1).W))
  private val first = Reg(Bool())
  private val left = RegInit(0.U(64.W))
  private val active = RegInit(false.B)
  private val faulty = RegInit(false.B)

  private val headSlot = head >> offsetBits
  private val headOffset = head(offsetBits - 1, 0)
  private val inReach = Cat((0 until offered).reverse.map(i => beats((headSlot + i.U)(slotBits - 1, 0))))
  private val aligned = (inReach >> Cat(headOffset, 0.U(3.W)))(8 * streamBytes - 1, 0)

  private val countBits = stream.available.getWidth
  private val ready = Mux(valid > streamBytes.U, streamBytes.U(countBits.W), valid(countBits - 1, 0))
  private val ending = left <= ready
  stream.data := aligned.asTypeOf(stream.data)
  stream.available := Mux(ending, left(countBits - 1, 0), ready)
  stream.last := active && ending
  stream.fault := active && faulty && !ending && valid <= streamBytes.U
  finished := left === 0.U

  private val entering = beat.fire && !beat.bits.fault
  private val crossed = (headOffset +& stream.consume) >> offsetBits
  private val gain = Mux(entering, beatBytes.U - Mux(first, headOffset, 0.U), 0.U)
  beat.ready := active && !faulty && free =/= 0.U

  when(entering) {
    beats(tail) := beat.bits.data
    tail := tail + 1.U
    first := false.B
  }
  when(beat.fire && beat.bits.fault) { faulty := true.B }
  head := head + stream.consume
  valid := valid + gain - stream.consume
  left := left - stream.consume
  free := free - entering + crossed

  when(start.valid) {
    head := start.bits.address(offsetBits - 1, 0)
    tail := 0.U
    free := slots.U
    valid := 0.U
    first := true.B
    left := start.bits.length
    active := true.B
    faulty := unreadable
  }.elsewhen(stop) {
    valid := 0.U
    left := 0.U
    active := false.B
  }
}
