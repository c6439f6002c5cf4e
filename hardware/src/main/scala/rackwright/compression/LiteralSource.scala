package rackwright.compression

import chisel3._
import chisel3.util._

import rackwright.lz77.decode.{DecoderParams, LiteralRun}
import rackwright.stream.ByteStream

/** The source of the literals of a block. */
object LiteralKind extends ChiselEnum {
  val raw, repeated, huffman = Value
}

/** Literals to make. */
class LiteralOrder extends Bundle {
  val kind = LiteralKind()
  val count = UInt(LiteralOrder.countBits.W)

  /** The byte that is repeated. */
  val byte = UInt(8.W)
}

object LiteralOrder {

  /** Bits of a number of bytes or literals of a block: raw and repeated blocks of ZStd have up to 2^21 - 1. */
  val countBits: Int = 21
}

/** Passes literals to the decoder that need no decoding: bytes of the input, or repetitions of one byte. */
class LiteralSource(params: DecoderParams) extends Module {

  /** Literals of a kind other than `huffman`; accepted when earlier ones have been passed. */
  val order = IO(Flipped(Decoupled(new LiteralOrder)))

  /** Drops the remaining literals. */
  val clear = IO(Input(Bool()))
  val stream = IO(Flipped(new ByteStream(params.bytes)))
  val run = IO(Valid(new LiteralRun(params)))

  /** The decoder takes literals. */
  val roomy = IO(Input(Bool()))

  /** The input ends, or can't be read, before the literals do. */
  val lacking = IO(Output(Bool()))
  val unreadable = IO(Output(Bool()))

  private val left = RegInit(0.U(LiteralOrder.countBits.W))
  private val raw = Reg(Bool())
  private val byte = Reg(UInt(8.W))
  private val many = RegInit(false.B)
  private val last = left(params.countBits - 1, 0)
  private val go = roomy && left =/= 0.U

  /** All of the last bytes are available. Known a cycle late, so that comparing and taking are two paths; available
    * bytes stay.
    */
  private val enough = RegInit(false.B)
  private val waits = raw && !many && left =/= 0.U && !order.fire && !clear
  private val isLess = stream.available < last
  enough := waits && !isLess && !(go && enough)

  // All offered bytes, as long as more are needed than can be offered.
  private val take = Mux(raw, Mux(many, stream.available, Mux(enough, last, 0.U)), Mux(many, params.bytes.U, last))
  order.ready := left === 0.U
  stream.consume := Mux(go && raw, take, 0.U)
  private val nothing = left =/= 0.U && raw && many && stream.available === 0.U
  lacking := RegNext(waits && isLess && stream.last, false.B) || (nothing && stream.last)
  unreadable := RegNext(waits && isLess && stream.fault, false.B) || (nothing && stream.fault)
  private val restOfMany = left - Mux(raw, stream.available, params.bytes.U)
  private val rest = Mux(many, restOfMany, Mux(raw && !enough, left, 0.U))
  when(go) {
    left := rest
    many := rest > params.bytes.U
  }
  when(order.fire) {
    left := order.bits.count
    many := order.bits.count > params.bytes.U
    raw := order.bits.kind === LiteralKind.raw
    byte := order.bits.byte
  }
  when(clear) {
    left := 0.U
    many := false.B
  }

  run.valid := RegNext(go && take =/= 0.U && !clear, false.B)
  run.bits.window := RegNext(Mux(raw, stream.data.asUInt, Fill(params.bytes, byte)))
  run.bits.at := 0.U
  run.bits.count := RegNext(take)
}
