package rackwright.zstd.decode

import chisel3._
import chisel3.util._

import rackwright.stream.ByteStream

/** The next bytes of the input in registers, so that decisions based on them are not on the critical path of the byte
  * aligner.
  *
  * @param bytes
  *   bytes shown.
  */
class InputHead(val bytes: Int) extends Bundle {
  val data = Vec(bytes, UInt(8.W))
  val available = UInt(log2Ceil(bytes + 1).W)
  val last = Bool()
  val fault = Bool()

  /** The registers show the bytes at the current position: nothing was consumed in the cycle before. */
  val fresh = Bool()

  /** At least `count` bytes are available. */
  def has(count: UInt): Bool = fresh && available >= count

  /** The input ends before `count` bytes. */
  def lacks(count: UInt): Bool = fresh && available < count && last

  /** The next bytes cannot be read because of a memory fault. */
  def unreadable: Bool = fresh && fault

  /** The first `count` bytes as a little-endian number. */
  def number(count: Int): UInt = Cat(data.take(count).reverse)
}

object InputHead {

  /** The head of `stream`; `moved` marks a cycle in which something other than its consumer changes the position. */
  def apply(bytes: Int, stream: ByteStream, moved: Bool): InputHead = {
    val head = Reg(new InputHead(bytes))
    val most = stream.available > bytes.U
    head.data := VecInit(stream.data.take(bytes))
    head.available := Mux(most, bytes.U, stream.available)
    head.last := stream.last && !most
    head.fault := stream.fault && !most
    head.fresh := !moved && stream.consume === 0.U
    head
  }
}
