package rackwright.compression

import chisel3._
import chisel3.util._

import rackwright.access.{Ranges, StreamLoader}
import rackwright.port.{MemoryPort, MemoryPortParams}
import rackwright.stream.{ByteStream, StreamRange}

/** The source of an operation as a stream of bytes that can be entered at any place.
  *
  * @param port
  *   shape of the memory port.
  * @param outstanding
  *   beats outstanding.
  * @param streaming
  *   whether the source may become longer while it is read.
  */
class InputCursor(port: MemoryPortParams, outstanding: Int, streaming: Boolean) extends Module {

  /** The source of an operation; its first byte is the next one. Given while `ready`. */
  val open = IO(Flipped(Valid(new StreamRange)))
  val ready = IO(Output(Bool()))

  /** The next position in the input: bytes from the first one of the source, not beyond its end. The stream offers no
    * bytes, and no end, until it is there.
    */
  val seek = IO(Flipped(Valid(UInt(64.W))))

  /** The end of the source: with `open`, and when it has become longer. Accepted while no previous one is `extending`;
    * until it has taken effect, the stream offers no bytes.
    */
  val extend = Option.when(streaming)(IO(Flipped(Valid(new InputEnd))))
  val extending = Option.when(streaming)(IO(Output(Bool())))
  val end = Option.when(streaming)(IO(Output(new InputEnd)))

  /** The operation needs no more bytes. */
  val stop = IO(Input(Bool()))
  val stream = IO(new ByteStream(port.bytes))

  /** The position of the next byte of the stream, if none was consumed in the previous cycle. */
  val position = IO(Output(UInt(64.W)))
  val memory = IO(new MemoryPort(port))

  /** No request is outstanding and no bytes are needed. */
  val idle = IO(Output(Bool()))

  private val loader = Module(new StreamLoader(port, port.bytes, outstanding))
  private val source = Reg(new StreamRange)

  /** The position of the next byte; the number of consumed bytes is known late, so that its carry into the upper bits
    * is stored separately.
    */
  private val at = RegInit(0.U(64.W))
  private val carry = RegInit(false.B)
  private val countBits = log2Ceil(port.bytes + 1)
  private val wanted = RegInit(false.B)

  /** The place that was sought last. */
  private val target = Reg(UInt(64.W))
  private val address = RegNext(source.address + target)
  private val length = RegNext(source.length - target)
  private val settled = RegNext(wanted, false.B)

  loader.range.valid := wanted && settled && !stop
  loader.range.bits.address := address
  loader.range.bits.length := length
  // A cycle late, so that the logic that reads memory does not depend on the decision of the next position; meanwhile
  // no bytes are offered.
  private val leaving = RegNext(seek.valid, false.B)
  loader.stop := leaving || stop
  loader.stream.consume := stream.consume
  stream.data := loader.stream.data
  stream.available := Mux(leaving, 0.U, loader.stream.available)
  stream.last := loader.stream.last && !leaving
  stream.fault := loader.stream.fault && !leaving
  memory <> loader.memory
  position := at
  ready := loader.range.ready && !wanted
  idle := loader.idle && !wanted

  private val sum = at(countBits - 1, 0) +& stream.consume
  at := Cat(Ranges.increment(at >> countBits, carry), sum(countBits - 1, 0))
  carry := sum(countBits)
  when(loader.range.fire) { wanted := false.B }
  when(open.valid) {
    source := open.bits
    at := 0.U
    target := 0.U
    carry := false.B
    wanted := true.B
    settled := false.B
  }
  when(seek.valid) {
    at := seek.bits
    target := seek.bits
    carry := false.B
    wanted := true.B
    settled := false.B
  }
  extend.foreach(lengthen)
  when(stop) { wanted := false.B }

  /** Waits until offered bytes are not taken any more, then lets the source read again from the next byte on. */
  private def lengthen(extend: Valid[InputEnd]): Unit = {
    val waits = RegInit(0.U(InputCursor.settleBits.W))
    val next = Reg(new InputEnd)
    val more = RegInit(false.B)
    val pausing = waits =/= 0.U
    val again = waits === 1.U
    val silent = leaving || pausing || RegNext(again, false.B)
    extending.get := pausing
    end.get.length := source.length
    end.get.more := more
    when(silent) { stream.available := 0.U }
    stream.last := loader.stream.last && !silent && !more
    stream.fault := loader.stream.fault && !silent
    loader.stop := leaving || RegNext(again, false.B) || stop
    when(pausing) { waits := waits - 1.U }
    when(again) {
      source.length := next.length
      more := next.more
      when(!seek.valid) {
        target := at
        wanted := true.B
        settled := false.B
      }
      assert(stop || stream.consume === 0.U, "the input moves while it is made longer")
    }
    when(extend.valid) {
      next := extend.bits
      // An input that is opened is not read yet.
      when(open.valid) { more := extend.bits.more }.otherwise { waits := ~0.U(InputCursor.settleBits.W) }
    }
    when(stop) { waits := 0.U }
  }
}

/** Constants of the structure. */
object InputCursor {

  /** The consumer has observed within 2^settleBits cycles that no bytes are offered. */
  val settleBits: Int = 3
}
