package rackwright.deflate.encode

import chisel3._
import chisel3.util._

import rackwright.deflate.Wrapper
import rackwright.entropy.bits.{BitPacker, BitString}
import rackwright.stream.{ByteChunk, HeadQueue}

/** Packs bits into bytes, and adds the container: header and Adler-32 of RFC 1950, or header, CRC-32 and length of a
  * member of RFC 1952.
  */
class StreamAssembler extends Module {
  import DeflateCompressorParams.{chunkBytes, stringBits}
  import StreamAssembler._

  /** An operation starts: size of the input in bytes; one of [[Wrapper]], held from then on. */
  val start = IO(Flipped(Valid(UInt(32.W))))
  val format = IO(Input(UInt(Wrapper.bits.W)))

  /** Blocks may start; bits may be emitted, including those of a few more cycles. */
  val begin = IO(Output(Bool()))
  val enable = IO(Output(Bool()))
  val bits = IO(Flipped(Valid(new BitString(stringBits))))
  val align = IO(Input(Bool()))
  val blocksDone = IO(Input(Bool()))

  /** Checksums of the input, and whether they are valid. */
  val summed = IO(Input(Bool()))
  val adler = IO(Input(UInt(32.W)))
  val crc = IO(Input(UInt(32.W)))
  val output = IO(Decoupled(new ByteChunk(chunkBytes)))

  /** The last byte has been accepted. */
  val finished = IO(Output(Bool()))

  private val state = RegInit(State.idle)
  private val length = RegEnable(start.bits, start.valid)
  private val packer = Module(new BitPacker(stringBits, chunkBytes))
  private val queue = Module(new HeadQueue(new ByteChunk(chunkBytes), underWay + burst))
  enable := RegNext(queue.count <= burst.U, false.B)
  begin := state === State.blocks

  private val swapped = Cat((0 until 4).map(i => adler(8 * i + 7, 8 * i)))
  private val around = Wire(Valid(new BitString(stringBits)))
  around.valid := (state === State.head || state === State.give) && format =/= Wrapper.raw.U
  private val isGzip = format === Wrapper.gzip.U
  when(state === State.head) {
    around.bits.value := Mux(isGzip, gzipHead.U, zlibHead.U)
    around.bits.count := Mux(isGzip, gzipHeadBits.U, zlibHeadBits.U)
  }.otherwise {
    around.bits.value := Mux(isGzip, Cat(length, crc), swapped)
    around.bits.count := Mux(isGzip, 64.U, 32.U)
  }
  packer.bits.valid := RegNext(bits.valid || around.valid, false.B)
  packer.bits.bits := RegNext(Mux(around.valid, around.bits, bits.bits))
  packer.align := RegNext(align || state === State.close || state === State.flush, false.B)
  packer.clear := false.B
  private val still = !packer.busy && !packer.bits.valid && !packer.align
  private val quiet = still && RegNext(still, false.B)

  queue.in.valid := packer.word.valid
  queue.in.bits.data := packer.word.bits.data.asTypeOf(queue.in.bits.data)
  queue.in.bits.count := packer.word.bits.count
  assert(!packer.word.valid || queue.in.ready, "output has no place")
  output <> queue.out
  finished := state === State.ended && queue.count === 0.U
  switch(state) {
    is(State.idle) { when(start.valid) { state := State.head } }
    is(State.head) { state := State.blocks }
    is(State.blocks) { when(blocksDone && quiet) { state := State.close } }
    is(State.close) { state := State.sum }
    is(State.sum) { when(summed) { state := State.give } }
    is(State.give) { state := State.flush }
    is(State.flush) { state := State.settle }
    is(State.settle) { when(quiet) { state := State.ended } }
  }
}

object StreamAssembler {

  /** The zlib header: DEFLATE with a window of 32 KiB, default level, no dictionary. */
  val zlibHead: BigInt = BigInt("9c78", 16)
  val zlibHeadBits: Int = 16

  /** The header of a gzip member: DEFLATE, no name, no time, unknown operating system. */
  val gzipHead: BigInt = BigInt("ff000000000000088b1f", 16)
  val gzipHeadBits: Int = 80

  /** Capacity of the queue: chunks in flight when it runs full, and others. */
  val underWay: Int = 20
  val burst: Int = 12

  /** `close` completes the last byte of the blocks; `give` follows when the checksums are valid; `flush` emits the
    * incomplete chunk.
    */
  object State extends ChiselEnum {
    val idle, head, blocks, close, sum, give, flush, settle, ended = Value
  }
}
