package rackwright.zstd.decode

import chisel3._
import chisel3.util._

import rackwright.compression.{InputEnd, LiteralKind, LiteralOrder}
import rackwright.port.Status

/** What a frame says of itself (RFC 8878, section 3.1.1.1). */
class FrameHeader extends Bundle {
  val checksum = Bool()

  /** The size of the content, if it is given. */
  val sized = Bool()
  val contentBytes = UInt(64.W)

  /** The most bytes of a compressed block. */
  val blockMost = UInt(18.W)
}

/** The kinds of blocks, by their numbers (RFC 8878, section 3.1.1.2.2). */
object BlockKind {
  val raw: Int = 0
  val repeated: Int = 1
  val compressed: Int = 2
  val reserved: Int = 3
}

/** A compressed block to take apart. */
class CompressedBlock extends Bundle {

  /** The place behind it, and its bytes. */
  val end = UInt(64.W)
  val bytes = UInt(18.W)
  val most = UInt(18.W)

  /** The first block of its frame: no tables from earlier ones, but perhaps those of a dictionary. */
  val first = Bool()
  val tabled = Bool()

  /** Not a block but the code, the tables and the offsets of a dictionary. */
  val isDictionary = Bool()
}

/** Takes the input apart as far as blocks: frames, skippable frames, headers of blocks, the ends of frames.
  *
  * Decides what is wrong with them, as the reference library does in one call for all of the input.
  *
  * @param streaming
  *   whether the input may come in pieces: what goes beyond those that are there waits for others.
  */
class FrameReader(streaming: Boolean) extends Module {
  import FrameReader.State

  /** The input begins; its length. */
  val open = IO(Flipped(Valid(UInt(64.W))))

  /** How far the input goes by now. */
  val end = Option.when(streaming)(IO(Input(new InputEnd)))

  /** Forgets what is under way. */
  val clear = IO(Input(Bool()))

  /** The next bytes; where they are, while the head is fresh; and how many are taken. */
  val head = IO(Input(new InputHead(FrameReader.headBytes)))
  val position = IO(Input(UInt(64.W)))
  val consume = IO(Output(UInt(4.W)))
  val seek = IO(Valid(UInt(64.W)))

  /** Whether there is a dictionary, and what is to be made ready for a frame, which begins here. */
  val dictionaryGiven = IO(Input(Bool()))
  val dictionary = IO(Input(new FrameDictionary))
  val prepare = IO(Decoupled(UInt(64.W)))

  /** A frame begins: taken when the one before has been written. */
  val frame = IO(Decoupled(new FrameHeader))

  /** The literals and the shape of a raw or repeated block, for the cycle in which both are taken. */
  val literals = IO(Decoupled(new LiteralOrder))
  val shape = IO(Decoupled(new BlockShape))

  /** A compressed block, for somebody else to take apart. */
  val block = IO(Decoupled(new CompressedBlock))

  /** The raw or repeated block, the compressed block under way is done. */
  val plainDone = IO(Input(Bool()))
  val blockDone = IO(Input(Bool()))

  /** Bytes made of the frame. */
  val made = IO(Input(UInt(33.W)))

  /** The frame is to be written out; then its hash is there. */
  val close = IO(Output(Bool()))
  val closed = IO(Input(Bool()))
  val hash = IO(Input(UInt(32.W)))

  /** The input was taken apart. */
  val finished = IO(Output(Bool()))

  /** Something is wrong; stays until `clear`. */
  val failed = IO(Output(Bool()))
  val status = IO(Output(UInt(Status.width.W)))

  /** Where the frame or block under way begins. */
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

  /** Does `body` when `count` bytes are there, and takes them. */
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

  /** Works out the place `size` bytes behind the next byte but `passed`; it is known two cycles later. */
  private def aim(passed: Int, size: UInt): Unit = {
    target := position +& (size +& passed.U)
    targetKnown := true.B
  }

  /** Whether more of the input follows: known with how far it goes, which is compared in the two cycles after. */
  private val more = end.map(end => RegNext(RegNext(end.more, false.B), false.B))

  /** Does `body` when it is known whether the place that was worked out is beyond the input, and none follows. */
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
        val tooLong = kind === BlockKind.compressed.U && size > header.blockMost
        when(beyond || kind === BlockKind.reserved.U || tooLong) { fail(Status.malformed) }
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

/** What the format fixes. */
object FrameReader {

  /** The most bytes that are looked at together. */
  val headBytes: Int = 8

  val magic: BigInt = BigInt("FD2FB528", 16)
  val skippableMagic: BigInt = BigInt("184D2A50", 16)

  /** What the reference library asks for before it looks for a frame. */
  val leastBytes: Int = 5

  /** The largest exponent of a window: 2^31 bytes and more are refused by the reference library. */
  val mostExponent: Int = 21

  /** `inBlock` waits for a block. */
  object State extends ChiselEnum {
    val idle, magic, preparing, skippable, skipping, descriptor, dictionary, contentSize, size, frame, block, measured,
        plain, compressed, inBlock, ending, closing, finished, failed = Value
  }
}
