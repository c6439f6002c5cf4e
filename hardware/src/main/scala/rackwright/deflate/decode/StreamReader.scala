package rackwright.deflate.decode

import chisel3._
import chisel3.util._

import rackwright.checksum.Crc32
import rackwright.deflate.Wrapper
import rackwright.port.Status

/** Parses the containers: headers, checksums, and the members of a gzip file, which zero bytes may separate or follow.
  */
class StreamReader extends Module {

  /** Starts the input, which has this container format. */
  val open = IO(Flipped(Valid(UInt(Wrapper.bits.W))))
  val clear = IO(Input(Bool()))
  val head = IO(Input(new BitHead))
  val take = IO(Output(UInt(6.W)))

  /** A stream starts: accepted when the stream before has been written. Its blocks are then parsed, until they are
    * done.
    */
  val stream = IO(Output(Bool()))
  val begun = IO(Input(Bool()))
  val blocksDone = IO(Input(Bool()))

  /** Requests that the stream be written out; its checksums and its size are valid afterwards. */
  val close = IO(Output(Bool()))
  val closed = IO(Input(Bool()))
  val adler = IO(Input(UInt(32.W)))
  val crc = IO(Input(UInt(32.W)))
  val made = IO(Input(UInt(32.W)))

  /** All of the input has been parsed. */
  val finished = IO(Output(Bool()))

  /** Error status; held until `clear`. */
  val failed = IO(Output(Bool()))
  val status = IO(Output(UInt(Status.width.W)))

  /** The position of the first bit of the header or checksum in progress, or the end of the input. */
  val begin = IO(Output(UInt(InputBits.positionBits.W)))

  private object State extends ChiselEnum {
    val idle, zlib, member, extraLength, extra, name, comment, headerSum, stream, blocks, align, sum, close, compare,
        length, padding, finished, failed = Value
  }
  private val state = RegInit(State.idle)
  private val wrapper = Reg(UInt(Wrapper.bits.W))
  private val why = Reg(UInt(Status.width.W))
  private val at = Reg(UInt(InputBits.positionBits.W))
  private val expected = Reg(UInt(32.W))
  private val size = Reg(UInt(32.W))
  private val index = Reg(UInt(4.W))
  private val flags = Reg(UInt(8.W))
  private val left = Reg(UInt(16.W))
  private val headSum = Reg(UInt(Crc32.bits.W))

  take := 0.U
  private def fail(status: UInt): Unit = {
    why := status
    state := State.failed
  }
  private def read(bits: Int)(next: => Unit): Unit =
    when(head.has(bits.U)) {
      take := bits.U
      next
    }.elsewhen(head.lacks(bits.U)) { fail(Mux(head.fault, Status.accessFault, Status.malformed)) }

  /** A byte of a gzip header. */
  private val byte = head.window(7, 0)
  private def readByte(next: => Unit): Unit = read(8) {
    headSum := Crc32.next(headSum, byte)
    next
  }

  /** The next optional field of a gzip header, considering the flags from `bit` on. */
  private def optional(bit: Int): State.Type = {
    val parts = Seq(2 -> State.extraLength, 3 -> State.name, 4 -> State.comment, 1 -> State.headerSum)
    val from = parts.indexWhere(_._1 == bit)
    parts.drop(from).foldRight(State.stream: State.Type) { case ((flag, part), rest) => Mux(flags(flag), part, rest) }
  }
  private def byteSwapped(value: UInt): UInt = Cat((0 until 4).map(i => value(8 * i + 7, 8 * i)))
  switch(state) {
    is(State.zlib) {
      val (method, info) = (head.window(3, 0), head.window(7, 4))
      val header = Cat(byte, head.window(15, 8))
      val digits = header(4, 0) +& header(9, 5) +& header(14, 10) +& header(15)
      val divisible = Seq(0, 31, 62, 93).map(n => digits === n.U).reduce(_ || _)
      at := head.position
      read(16) {
        state := State.stream
        when(!divisible || method =/= 8.U || info > 7.U) {
          fail(Status.malformed)
        }.elsewhen(head.window(13)) { fail(Status.unsupported) }
      }
    }
    is(State.member) {
      when(index === 0.U) { at := head.position }
      readByte {
        index := index + 1.U
        val wanted = MuxLookup(index, byte)(Seq(0.U -> 0x1f.U, 1.U -> 0x8b.U, 2.U -> 8.U))
        when(index === 3.U) { flags := byte }
        when(index === 9.U) { state := optional(2) }
        when(byte =/= wanted || (index === 3.U && byte(7, 5) =/= 0.U)) { fail(Status.malformed) }
      }
    }
    is(State.extraLength) {
      readByte {
        left := Cat(byte, left(15, 8))
        index := index + 1.U
        when(index(0)) { state := State.extra }
      }
    }
    is(State.extra) {
      when(left === 0.U) {
        state := optional(3)
      }.otherwise {
        readByte { left := left - 1.U }
      }
    }
    is(State.name) { readByte { when(byte === 0.U) { state := optional(4) } } }
    is(State.comment) { readByte { when(byte === 0.U) { state := optional(1) } } }
    is(State.headerSum) {
      read(16) {
        state := State.stream
        when(head.window(15, 0) =/= ~headSum(15, 0)) { fail(Status.malformed) }
      }
    }
    is(State.stream) { when(begun) { state := State.blocks } }
    is(State.blocks) { when(blocksDone) { state := State.align } }
    is(State.align) {
      val unaligned = (0.U - head.position(2, 0))(2, 0)
      when(head.has(unaligned) || head.lacks(unaligned)) {
        take := unaligned
        state := Mux(wrapper === Wrapper.raw.U, State.close, State.sum)
      }
    }
    is(State.sum) {
      at := head.position
      read(32) {
        expected := Mux(wrapper === Wrapper.zlib.U, byteSwapped(head.window), head.window)
        state := Mux(wrapper === Wrapper.zlib.U, State.close, State.length)
      }
    }
    is(State.length) {
      read(32) {
        size := head.window
        state := State.close
      }
    }
    is(State.close) {
      when(closed) { state := State.compare }
    }
    is(State.compare) {
      state := State.finished
      when(wrapper === Wrapper.zlib.U && expected =/= adler) { fail(Status.malformed) }
      when(wrapper === Wrapper.gzip.U) {
        state := State.padding
        when(expected =/= crc || size =/= made) { fail(Status.malformed) }
      }
    }
    is(State.padding) {
      index := 0.U
      headSum := ~0.U(Crc32.bits.W)
      when(head.has(8.U)) {
        take := Mux(byte === 0.U, 8.U, 0.U)
        when(byte =/= 0.U) { state := State.member }
      }.elsewhen(head.fault) { fail(Status.accessFault) }.elsewhen(head.last) { state := State.finished }
    }
  }
  when(open.valid) {
    wrapper := open.bits
    index := 0.U
    headSum := ~0.U(Crc32.bits.W)
    state := MuxLookup(open.bits, State.stream)(
      Seq(Wrapper.zlib.U -> State.zlib, Wrapper.gzip.U -> State.member)
    )
  }
  when(clear) { state := State.idle }

  stream := state === State.stream
  close := state === State.close
  finished := state === State.finished
  failed := state === State.failed
  status := why
  begin := Mux(finished, head.position, at)
}
