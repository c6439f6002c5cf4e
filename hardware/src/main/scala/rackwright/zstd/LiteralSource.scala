package rackwright.zstd

import chisel3._
import chisel3.util._

import rackwright.lz77.{DecoderParams, LiteralRun}
import rackwright.memory.ByteStream

/** Where the literals of a block come from. */
object LiteralKind extends ChiselEnum {
  val raw, repeated, huffman = Value
}

/** Literals to make. */
class LiteralOrder extends Bundle {
  val kind = LiteralKind()
  val count = UInt(ZstdDecompressorParams.countBits.W)

  /** The byte that is repeated. */
  val byte = UInt(8.W)
}

/** Gives the decoder literals that need no decoding: bytes of the input as they are, or one byte again and again. */
class LiteralSource(params: DecoderParams) extends Module {

  /** Literals of a kind other than `huffman`; taken when those before have been given. */
  val order = IO(Flipped(Decoupled(new LiteralOrder)))

  /** Forgets what is left. */
  val clear = IO(Input(Bool()))
  val stream = IO(Flipped(new ByteStream(params.bytes)))
  val run = IO(Valid(new LiteralRun(params)))

  /** The decoder takes literals. */
  val roomy = IO(Input(Bool()))

  /** The input ends, or can't be read, before the literals do. */
  val lacking = IO(Output(Bool()))
  val unreadable = IO(Output(Bool()))

  private val left = RegInit(0.U(ZstdDecompressorParams.countBits.W))
  private val raw = Reg(Bool())
  private val byte = Reg(UInt(8.W))
  private val many = RegInit(false.B)
  private val most = Mux(many, params.bytes.U, left(params.countBits - 1, 0))
  private val isLess = stream.available < most
  private val take = Mux(raw && isLess, stream.available, most)
  private val go = roomy && left =/= 0.U

  order.ready := left === 0.U
  stream.consume := Mux(go && raw, take, 0.U)
  lacking := left =/= 0.U && raw && stream.last && stream.available === 0.U
  unreadable := left =/= 0.U && raw && stream.fault && stream.available === 0.U
  private val rest = left - take
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
