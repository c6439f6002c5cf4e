package rackwright.zstd.decode

import chisel3._
import chisel3.util._

import rackwright.compression.{InputEnd, LiteralKind, LiteralOrder}
import rackwright.port.Status

/** The fields of a frame header (RFC 8878, section 3.1.1.1). */
class FrameHeader extends Bundle {
  val checksum = Bool()

  /** The content size, if the header has one. */
  val sized = Bool()
  val contentBytes = UInt(64.W)

  /** Block_Maximum_Size of the frame. */
  val blockMost = UInt(18.W)
}

/** Block types and their encoding (RFC 8878, section 3.1.1.2.2). */
object BlockKind {
  val raw: Int = 0
  val repeated: Int = 1
  val compressed: Int = 2
  val reserved: Int = 3
}

/** A compressed block to parse. */
class CompressedBlock extends Bundle {

  /** The position of its end, and its size in bytes. */
  val end = UInt(64.W)
  val bytes = UInt(18.W)
  val most = UInt(18.W)

  /** The first block of its frame, which cannot reuse tables of an earlier block, except those of a dictionary. */
  val first = Bool()
  val tabled = Bool()

  /** Not a block, but the entropy tables and repeated offsets of a dictionary. */
  val isDictionary = Bool()
}

/** Parses the input down to blocks: frames, skippable frames, block headers and checksums.
  *
  * Classifies malformed input as the reference library does when it is given all of the input in one call.
  *
  * @param streaming
  *   whether the input may come in pieces: what goes beyond those that are there waits for others.
  */
class FrameReader(streaming: Boolean) extends Module {
  import FrameReader.State

  /** Starts the input; its length in bytes. */
  val open = IO(Flipped(Valid(UInt(64.W))))

  /** The end of the input that is available now. */
  val end = Option.when(streaming)(IO(Input(new InputEnd)))

  /** Abandons the input in progress. */
  val clear = IO(Input(Bool()))

  /** The next input bytes, their position (valid while the head is fresh), and the number of bytes to consume. */
  val head = IO(Input(new InputHead(FrameReader.headBytes)))
  val position = IO(Input(UInt(64.W)))
  val consume = IO(Output(UInt(4.W)))
  val seek = IO(Valid(UInt(64.W)))

  /** Whether the operation has a dictionary, and the request to prepare it for the frame that starts here. */
  val dictionaryGiven = IO(Input(Bool()))
  val dictionary = IO(Input(new FrameDictionary))
  val prepare = IO(Decoupled(UInt(64.W)))

  /** A frame starts. Accepted when the frame before has been written completely. */
  val frame = IO(Decoupled(new FrameHeader))

  /** The literals and the shape of a raw or RLE block; both are accepted in the same cycle. */
  val literals = IO(Decoupled(new LiteralOrder))
  val shape = IO(Decoupled(new BlockShape))

  /** A compressed block, which [[BlockReader]] parses. */
  val block = IO(Decoupled(new CompressedBlock))

  /** The raw or RLE block, or the compressed block, in progress is done. */
  val plainDone = IO(Input(Bool()))
  val blockDone = IO(Input(Bool()))

  /** Bytes produced for the frame so far. */
  val made = IO(Input(UInt(33.W)))

  /** Requests that the frame be written out completely; its hash is valid afterwards. */
  val close = IO(Output(Bool()))
  val closed = IO(Input(Bool()))
  val hash = IO(Input(UInt(32.W)))

  /** All of the input has been parsed. */
  val finished = IO(Output(Bool()))

  /** Error status; held until `clear`. */
  val failed = IO(Output(Bool()))
  val status = IO(Output(UInt(Status.width.W)))

  /** The position at which the frame or block in progress starts. */
  val element = IO(Output(UInt(64.W)))

  private val state = RegInit(State.idle)
  private val why = Reg(UInt(Status.width.W))
  private val length = end.fold(Reg(UInt(64.W)))(_.length)
  private val begin = Reg(UInt(64.W))
  private val header = Reg(new FrameHeader)
  private val single = Reg(Bool())
  private val dictionaryBytes = Reg(UInt(3.W))
  private val sizeBytes = Reg(UInt(4.W))
  private val kind = Reg(UInt(2.W))
  private val last = Reg(Bool())
  private val size = Reg(UInt(LiteralOrder.countBits.W))
  private val first = Reg(Bool())
  private val prepared = RegInit(false.B)
  private val target = Reg(UInt(65.W))
  private val targetKnown = RegInit(false.B)
  private val beyond = RegNext(target > length)
  private val beyondKnown = RegNext(targetKnown, false.B)
  private val checksum = Reg(UInt(32.W))

  consume := 0.U
  seek.valid := false.B
  seek.bits := target
  targetKnown := false.B
  finished := state === State.finished
  failed := state === State.failed
  status := why
  element := begin
  frame.valid := state === State.frame
  frame.bits := header
  close := state === State.closing
  block.valid := false.B
  block.bits.end := target
  block.bits.bytes := size
  block.bits.most := header.blockMost
  block.bits.first := first
  block.bits.tabled := dictionary.trained
  block.bits.isDictionary := false.B
  prepare.valid := state === State.preparing
  prepare.bits := begin
  literals.valid := false.B
  literals.bits.kind := Mux(kind === BlockKind.raw.U, LiteralKind.raw, LiteralKind.repeated)
  literals.bits.count := size
  literals.bits.byte := head.data(0)
  shape.valid := false.B
  shape.bits.literals := size
  shape.bits.sequences := 0.U

  private def fail(status: UInt): Unit = {
    why := status
    state := State.failed
  }

  /** Runs `body` when `count` bytes are available, and consumes them. */
  private def taking(count: UInt)(body: => Unit): Unit = {
    when(head.has(count)) {
      consume := count
      body
    }.elsewhen(head.lacks(count)) {
      fail(Status.malformed)
    }.elsewhen(head.unreadable) {
      fail(Status.accessFault)
    }
  }

  /** Computes the position `size` bytes after the next byte, which is `passed` bytes ahead; valid two cycles later. */
  private def aim(passed: Int, size: UInt): Unit = {
    target := position +& (size +& passed.U)
    targetKnown := true.B
  }

  /** Whether more input will follow. Registered twice, as the comparison with the end of the input takes two cycles. */
  private val more = end.map(end => RegNext(RegNext(end.more, false.B), false.B))

  /** Runs `body` once the comparison is valid that tells whether the computed position is beyond the end of the input.
    */
  private def reaching(body: => Unit): Unit = when(beyondKnown) {
    more.fold(body)(more => when(beyond && more) { targetKnown := true.B }.otherwise(body))
  }

  switch(state) {
    is(State.magic) {
      val magic = head.number(4)
      when(head.fresh) { begin := position }
      when(head.fresh && head.available === 0.U && head.last) {
        state := State.finished
      }.elsewhen(head.lacks(FrameReader.leastBytes.U)) {
        fail(Status.malformed)
      }.elsewhen(head.has(FrameReader.leastBytes.U)) {
        when(magic === FrameReader.magic.U) {
          when(dictionaryGiven && !prepared) {
            state := State.preparing
          }.otherwise {
            consume := 4.U
            first := true.B
            state := State.descriptor
          }
        }.elsewhen(magic(31, 4) === (FrameReader.skippableMagic >> 4).U) {
          state := State.skippable
        }.otherwise {
          fail(Status.malformed)
        }
      }.elsewhen(head.unreadable) {
        fail(Status.accessFault)
      }
    }
    is(State.preparing) {
      when(prepare.ready) {
        prepared := true.B
        state := State.magic
      }
    }
    is(State.skippable) {
      when(head.has(8.U)) {
        aim(8, head.number(8)(63, 32))
        state := State.skipping
      }.elsewhen(head.lacks(8.U)) {
        fail(Status.malformed)
      }.elsewhen(head.unreadable) {
        fail(Status.accessFault)
      }
    }
    is(State.skipping) {
      reaching {
        seek.valid := !beyond
        state := State.magic
        when(beyond) { fail(Status.malformed) }
      }
    }
    is(State.descriptor) {
      val descriptor = head.data(0)
      val sizeFlag = descriptor(7, 6)
      val isSingle = descriptor(5)
      val exponent = head.data(1)(7, 3)
      val window = (8.U(4.W) +& head.data(1)(2, 0)) << (7.U +& exponent(2, 0))
      taking(Mux(isSingle, 1.U, 2.U)) {
        single := isSingle
        header.checksum := descriptor(2)
        header.sized := isSingle || sizeFlag =/= 0.U
        header.contentBytes := 0.U
        header.blockMost := Mux(exponent >= 7.U, ZstdDecompressorParams.blockBytes.U, window)
        dictionaryBytes := (1.U << descriptor(1, 0)) >> 1
        sizeBytes := Mux(sizeFlag === 0.U, isSingle, 1.U << sizeFlag)
        prepared := false.B
        state := State.dictionary
        when(descriptor(3) || (!isSingle && exponent > FrameReader.mostExponent.U)) { fail(Status.malformed) }
      }
    }
    is(State.dictionary) {
      taking(dictionaryBytes) {
        val number = MuxLookup(dictionaryBytes, head.number(4))(
          Seq(0.U -> 0.U, 1.U -> head.data(0), 2.U -> head.number(2))
        )
        state := State.contentSize
        when(number =/= 0.U && number =/= dictionary.id) { fail(Status.unsupported) }
      }
    }
    is(State.contentSize) {
      taking(sizeBytes) {
        val content = MuxLookup(sizeBytes, head.number(8))(
          Seq(0.U -> 0.U, 1.U -> head.data(0), 2.U -> (head.number(2) +& 256.U), 4.U -> head.number(4))
        )
        header.contentBytes := content
        state := State.size
      }
    }
    is(State.size) {
      val most = ZstdDecompressorParams.blockBytes.U
      when(single) { header.blockMost := Mux(header.contentBytes > most, most, header.contentBytes(17, 0)) }
      state := State.frame
    }
    is(State.frame) {
      when(frame.ready) { state := State.block }
    }
    is(State.block) {
      when(head.fresh) { begin := position }
      taking(3.U) {
        last := head.data(0)(0)
        kind := head.data(0)(2, 1)
        size := head.number(3) >> 3
        aim(3, Mux(head.data(0)(2, 1) === BlockKind.repeated.U, 1.U, head.number(3) >> 3))
        state := State.measured
      }
    }
    is(State.measured) {
      reaching {
        state := Mux(kind === BlockKind.compressed.U, State.compressed, State.plain)
        when(beyond || kind === BlockKind.reserved.U || size > header.blockMost) { fail(Status.malformed) }
      }
    }
    is(State.plain) {
      val there = kind === BlockKind.raw.U || head.has(1.U)
      literals.valid := there && shape.ready
      shape.valid := there && literals.ready
      when(literals.fire) {
        consume := Mux(kind === BlockKind.raw.U, 0.U, 1.U)
        state := State.inBlock
      }.elsewhen(!there && head.unreadable) {
        fail(Status.accessFault)
      }
    }
    is(State.compressed) {
      block.valid := true.B
      when(block.ready) { state := State.inBlock }
    }
    is(State.inBlock) {
      when(Mux(kind === BlockKind.compressed.U, blockDone, plainDone)) {
        when(kind === BlockKind.compressed.U) { first := false.B }
        state := Mux(last, State.ending, State.block)
      }
    }
    is(State.ending) {
      when(head.fresh) { begin := position }
      when(header.sized && header.contentBytes =/= made) {
        fail(Status.malformed)
      }.elsewhen(header.checksum) {
        taking(4.U) {
          checksum := head.number(4)
          state := State.closing
        }
      }.otherwise {
        state := State.closing
      }
    }
    is(State.closing) {
      when(closed) {
        state := State.magic
        when(header.checksum && hash =/= checksum) { fail(Status.malformed) }
      }
    }
  }
  when(open.valid) {
    if (!streaming) length := open.bits
    prepared := false.B
    state := State.magic
  }
  when(clear) { state := State.idle }
}

/** Constants of the format. */
object FrameReader {

  /** The number of bytes visible at once. */
  val headBytes: Int = 8

  val magic: BigInt = BigInt("FD2FB528", 16)
  val skippableMagic: BigInt = BigInt("184D2A50", 16)

  /** The reference library needs this many bytes before it looks for a frame. */
  val leastBytes: Int = 5

  /** The largest window exponent: the reference library refuses windows of 2^31 bytes and more. */
  val mostExponent: Int = 21

  /** `inBlock` waits for the block in progress. */
  object State extends ChiselEnum {
    val idle, magic, preparing, skippable, skipping, descriptor, dictionary, contentSize, size, frame, block, measured,
        plain, compressed, inBlock, ending, closing, finished, failed = Value
  }
}
