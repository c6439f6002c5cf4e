package rackwright.zstd.decode

import scala.collection.mutable

import chisel3._
import chisel3.util._

import rackwright.compression.{LiteralKind, LiteralOrder}
import rackwright.entropy.bits.BackwardBits
import rackwright.port.Status
import rackwright.stream.StreamRange
import rackwright.zstd.SequenceCodes

/** Parses a compressed block (RFC 8878, section 3.1.1.3): the literals section header, the Huffman tree description and
  * the extents of the Huffman streams; then the sequences section header, the FSE table descriptions and the extent of
  * the sequence bitstream. Other modules decode the literals and the sequences themselves. For a dictionary it parses
  * the entropy tables and the repeated offsets, which follow each other without headers.
  */
class BlockReader extends Module {
  import BlockReader.State
  private val lengthBits = BackwardBits.lengthBits

  val block = IO(Flipped(Decoupled(new CompressedBlock)))

  /** Abandons the block in progress. */
  val clear = IO(Input(Bool()))

  /** Address of the input buffer of the operation. */
  val source = IO(Input(UInt(64.W)))

  /** The next input bytes, their position (valid while the head is fresh), and the number of bytes to consume. */
  val head = IO(Input(new InputHead(FrameReader.headBytes)))
  val position = IO(Input(UInt(64.W)))
  val consume = IO(Output(UInt(4.W)))
  val seek = IO(Valid(UInt(64.W)))

  /** Requests for literals, and whether every requested literal has been produced. */
  val literals = IO(Decoupled(new LiteralOrder))
  val huffman = IO(Decoupled(new HuffmanOrder))
  val literalsIdle = IO(Input(Bool()))
  val shape = IO(Decoupled(new BlockShape))
  val executorIdle = IO(Input(Bool()))

  /** Interface to the Huffman table builder: the weights of the code, and its verdict. */
  val codeStart = IO(Output(Bool()))
  val weight = IO(Valid(UInt(8.W)))
  val codeFinish = IO(Output(Bool()))
  val codeDone = IO(Input(Bool()))
  val codeWrong = IO(Input(Bool()))

  /** Interface to the decoder of FSE-compressed weights. */
  val weightsStart = IO(Output(Bool()))
  val weightsDone = IO(Input(Bool()))
  val weightsWrong = IO(Input(Bool()))

  /** Interface to the FSE table builder, which parses descriptions out of `head`; the bytes it parses are consumed
    * here.
    */
  val begin = IO(Output(Bool()))
  val table = IO(Decoupled(new TableOrder))
  val tableDone = IO(Input(Bool()))
  val tableWrong = IO(Input(Bool()))
  val tableConsume = IO(Input(UInt(2.W)))
  val tableThere = IO(Output(Bool()))

  /** Extent of a bitstream that is read backwards: the FSE-compressed weights, or the sequences. */
  val stream = IO(Decoupled(new StreamRange))
  val sequences = IO(Valid(UInt(17.W)))
  val sequencesIdle = IO(Input(Bool()))

  /** The block has been parsed completely. */
  val done = IO(Output(Bool()))

  /** The repeated offsets of a dictionary, valid when its parsing is done. */
  val offsets = IO(Output(Vec(3, UInt(32.W))))
  val failed = IO(Output(Bool()))
  val status = IO(Output(UInt(Status.width.W)))

  private val state = RegInit(State.idle)
  private val why = Reg(UInt(Status.width.W))

  /** Bytes of the block, and of its literals section, that have not been consumed; negative if the section was too
    * short.
    */
  private val left = Reg(SInt((lengthBits + 2).W))
  private val literalLeft = Reg(SInt((lengthBits + 2).W))
  private val most = Reg(UInt(lengthBits.W))
  private val end = Reg(UInt(64.W))
  private val hasCode = RegInit(false.B)

  private val kind = Reg(UInt(2.W))
  private val header = Reg(UInt(40.W))
  private val format = header(3, 2)
  private val count = Reg(UInt(20.W))
  private val four = Reg(Bool())
  private val rawAt = Reg(UInt(64.W))
  private val weightsLeft = Reg(UInt(8.W))
  private val low = Reg(Bool())
  private val streams = Reg(new HuffmanOrder)
  private val lastBytes = Reg(SInt((lengthBits + 2).W))
  private val sequenceCount = Reg(UInt(17.W))
  private val modes = Reg(UInt(8.W))
  private val which = Reg(UInt(2.W))
  private val isDictionary = RegInit(false.B)
  private val recent = Reg(Vec(3, UInt(32.W)))

  /** Size of the literals section header, or of the number of sequences, that is parsed next. */
  private val headerBytes = Mux(
    kind(1),
    MuxLookup(format, 3.U)(Seq(2.U -> 4.U, 3.U -> 5.U)),
    MuxLookup(format, 1.U)(Seq(1.U -> 2.U, 3.U -> 3.U))
  )
  private val countBytes = Mux(head.data(0) < 128.U, 1.U, Mux(head.data(0) === 255.U, 3.U, 2.U))

  private val isRaw = kind === BlockReader.raw.U
  private val isRepeated = kind === BlockReader.repeated.U
  private val isHuffman = kind(1)
  private val address = RegNext(source + position)

  /** The address of the next byte is stable. */
  private val settled = head.fresh && RegNext(head.fresh, false.B)

  /** Whether bytes are left, delayed by one cycle: exact while the head is fresh. */
  private val anyLeft = RegNext(left > 0.S)
  private val anyLastBytes = RegNext(lastBytes > 0.S)

  seek.valid := false.B
  seek.bits := end
  block.ready := state === State.idle
  begin := block.fire && block.bits.first
  literals.valid := false.B
  literals.bits.kind := Mux(isRaw, LiteralKind.raw, LiteralKind.repeated)
  literals.bits.count := count
  literals.bits.byte := header(7, 0)
  huffman.valid := false.B
  huffman.bits := streams
  shape.valid := false.B
  shape.bits.literals := count
  shape.bits.sequences := sequenceCount
  codeStart := false.B
  weight.valid := false.B
  weight.bits := Mux(low, head.data(0)(3, 0), head.data(0)(7, 4))
  codeFinish := false.B
  weightsStart := false.B
  table.valid := false.B
  table.bits.kind := which
  table.bits.mode := SequenceTables.described.U
  // The table builder looks at the head only while it parses a description, and the reader waits for it meanwhile.
  tableThere := looks(4)
  stream.valid := false.B
  stream.bits.address := address
  stream.bits.length := left.asUInt
  sequences.valid := false.B
  sequences.bits := sequenceCount
  done := false.B
  offsets := recent
  failed := state === State.failed
  status := why

  private def fail(status: UInt = Status.malformed): Unit = {
    why := status
    state := State.failed
  }

  /** The states in which bytes are consumed, each with its condition and count. At most one is active in a cycle, so
    * that a mux without priority selects the count.
    */
  private val takes = mutable.ArrayBuffer.empty[() => (Bool, UInt)]

  /** Consumes `bytes` bytes in state `in` if `condition` holds. */
  private def take(in: State.Type, bytes: => UInt, condition: => Bool = true.B): Unit = {
    takes += (() => (state === in && condition, bytes))
    left := left - Cat(0.U(1.W), bytes).asSInt
    literalLeft := literalLeft - Cat(0.U(1.W), bytes).asSInt
  }

  private def looks(bytes: Int): Bool = head.fresh && (head.available >= bytes.U || head.last)

  /** Runs `body` when `bytes` bytes are available or the input has ended. Whether those bytes belong to the block is
    * checked by `left`.
    */
  private def looking(bytes: Int)(body: => Unit): Unit =
    when(looks(bytes)) { body }.elsewhen(head.unreadable) {
      fail(Status.accessFault)
    }
  private def signed(value: UInt): SInt = Cat(0.U(1.W), value).asSInt

  switch(state) {
    is(State.idle) {
      when(block.valid) {
        left := signed(block.bits.bytes)
        end := block.bits.end
        most := block.bits.most
        which := 0.U
        sequenceCount := 0.U
        isDictionary := block.bits.isDictionary
        when(block.bits.first) { hasCode := block.bits.tabled }
        when(block.bits.isDictionary) {
          literalLeft := signed(block.bits.bytes)
          modes := BlockReader.allDescribed.U
          which := SequenceCodes.offset.U
          state := State.tree
        }.elsewhen(block.bits.bytes < 2.U) {
          fail()
        }.otherwise {
          state := State.literals
        }
      }
    }
    is(State.literals) {
      looking(5) {
        header := head.number(5)
        kind := head.data(0)(1, 0)
        state := State.measure
      }
    }
    is(State.measure) {
      // Raw and RLE literals have sizes of 5, 12 or 20 bits, compressed ones two sizes of 10, 14 or 18 bits.
      val plain = MuxLookup(format, header(7, 3))(Seq(1.U -> header(15, 4), 3.U -> header(23, 4)))
      val packed = MuxLookup(format, header(13, 4))(Seq(2.U -> header(17, 4), 3.U -> header(21, 4)))
      val packedSize = MuxLookup(format, header(23, 14))(Seq(2.U -> header(31, 18), 3.U -> header(39, 22)))
      take(State.measure, headerBytes)
      count := Mux(isHuffman, packed, plain)
      four := format =/= 0.U
      literalLeft := signed(Mux(isHuffman, packedSize, Mux(isRaw, plain, 1.U)))
      state := State.check
      when(isHuffman && left < 5.S) { fail() }
    }
    is(State.check) {
      state := Mux(isRaw, State.passRaw, Mux(isRepeated, State.repeat, Mux(kind(0), State.streams, State.tree)))
      val tooFew = isHuffman && four && count < BlockReader.leastForFour.U
      val noCode = kind === BlockReader.treeless.U && !hasCode
      when(count > most || literalLeft > left || tooFew || noCode) { fail() }
    }
    is(State.passRaw) {
      rawAt := position
      left := left - signed(count)
      seek.valid := true.B
      seek.bits := position + count
      state := State.sequences
    }
    is(State.repeat) {
      looking(1) {
        header := head.data(0)
        take(State.repeat, 1.U, looks(1))
        state := State.repeatOrder
      }
    }
    is(State.repeatOrder) {
      literals.valid := true.B
      when(literals.ready) { state := State.sequences }
    }
    // The Huffman tree description.
    is(State.tree) {
      looking(1) {
        val first = head.data(0)
        val direct = first >= BlockReader.directWeights.U
        val weights = first - (BlockReader.directWeights - 1).U
        val bytes = Mux(direct, (weights +& 1.U) >> 1, first)
        take(State.tree, 1.U, looks(1))
        codeStart := true.B
        low := false.B
        weightsLeft := Mux(direct, weights, first)
        state := Mux(direct, State.direct, State.describe)
        when(signed(bytes) >= literalLeft) { fail() }
      }
    }
    is(State.direct) {
      when(weightsLeft === 0.U) {
        codeFinish := true.B
        state := State.code
        when(low) { take(State.direct, 1.U, weightsLeft === 0.U && low) }
      }.otherwise {
        looking(1) {
          weight.valid := true.B
          weightsLeft := weightsLeft - 1.U
          low := !low
          when(low) { take(State.direct, 1.U, weightsLeft =/= 0.U && looks(1) && low) }
        }
      }
    }
    is(State.describe) {
      table.valid := true.B
      table.bits.kind := SequenceTables.weights.U
      // From here on, the bytes left in the description are counted.
      lastBytes := signed(weightsLeft)
      when(table.ready) { state := State.described }
    }
    is(State.described) {
      take(State.described, tableConsume)
      lastBytes := lastBytes - signed(tableConsume)
      when(tableDone) { state := State.weightStream }
      when(tableWrong || lastBytes < 0.S) { fail() }
      when(head.unreadable && head.available < 4.U) { fail(Status.accessFault) }
    }
    is(State.weightStream) {
      when(settled) {
        stream.valid := anyLastBytes
        stream.bits.length := lastBytes.asUInt
        when(!anyLastBytes) { fail() }
        when(stream.ready && anyLastBytes) {
          weightsStart := true.B
          left := left - lastBytes
          literalLeft := literalLeft - lastBytes
          seek.valid := true.B
          seek.bits := position + lastBytes.asUInt
          state := State.weights
        }
      }
    }
    is(State.weights) {
      when(weightsDone) {
        codeFinish := true.B
        state := State.code
      }
      when(weightsWrong) { fail() }
    }
    is(State.code) {
      when(codeDone) {
        hasCode := true.B
        state := Mux(isDictionary, State.tables, State.streams)
      }
      when(codeWrong) { fail() }
    }
    // The extents of the Huffman streams.
    is(State.streams) {
      streams.four := four
      streams.symbols := (count +& 3.U) >> 2
      state := Mux(four, State.jumps, State.oneStream)
      when(literalLeft < 1.S || (four && literalLeft < BlockReader.leastBytesForFour.S)) { fail() }
    }
    is(State.oneStream) {
      streams.bytes(0) := literalLeft.asUInt
      streams.lastSymbols := count
      state := State.streamOrder
    }
    is(State.jumps) {
      looking(6) {
        for (i <- 0 until 3) streams.bytes(i) := Cat(head.data(2 * i + 1), head.data(2 * i))
        take(State.jumps, 6.U, looks(6))
        state := State.lastStream
      }
    }
    is(State.lastStream) {
      lastBytes := literalLeft - signed(streams.bytes(0) +& streams.bytes(1) +& streams.bytes(2))
      streams.lastSymbols := count - streams.symbols - (streams.symbols << 1)
      state := State.checkStreams
    }
    is(State.checkStreams) {
      streams.bytes(3) := lastBytes.asUInt
      state := State.streamOrder
      val empty = streams.bytes.take(3).map(_ === 0.U).reduce(_ || _)
      val tooMany = streams.symbols +& (streams.symbols << 1) > count
      when(empty || lastBytes < 1.S || tooMany) { fail() }
    }
    is(State.streamOrder) {
      when(settled) {
        huffman.valid := true.B
        huffman.bits.address := address
        when(huffman.ready) {
          left := left - literalLeft
          seek.valid := true.B
          seek.bits := position + literalLeft.asUInt
          state := State.sequences
        }
      }
    }
    // The sequences section.
    is(State.sequences) {
      looking(4) {
        val first = head.data(0)
        val one = first < 128.U
        val three = first === 255.U
        sequenceCount := Mux(
          one,
          first,
          Mux(three, head.number(3)(23, 8) +& BlockReader.longCounts.U, Cat(first(6, 0), head.data(1)))
        )
        take(State.sequences, countBytes, looks(4))
        state := State.modes
      }
    }
    is(State.modes) {
      when(sequenceCount === 0.U) {
        state := State.shape
        when(left =/= 0.S) { fail() }
      }.otherwise {
        looking(1) {
          modes := head.data(0)
          take(State.modes, 1.U, sequenceCount =/= 0.U && looks(1))
          state := State.tables
          when(left < 1.S || head.data(0)(1, 0) =/= 0.U) { fail() }
        }
      }
    }
    is(State.tables) {
      table.valid := true.B
      table.bits.mode := modes(7, 6)
      when(table.ready) { state := State.made }
    }
    is(State.made) {
      take(State.made, tableConsume)
      when(tableDone) {
        modes := modes << 2
        // A dictionary describes the literals length table last.
        val atEnd = which === (SequenceTables.weights - 1).U
        which := Mux(atEnd, 0.U, which + 1.U)
        state := State.tables
        when(Mux(isDictionary, which === SequenceCodes.literals.U, atEnd)) {
          which := 0.U
          state := Mux(isDictionary, State.offsets, State.sequenceStream)
        }
      }
      when(tableWrong || left < 0.S) { fail() }
      when(head.unreadable && head.available < 4.U) { fail(Status.accessFault) }
    }
    is(State.offsets) {
      looking(4) {
        recent(which) := head.number(4)
        take(State.offsets, 4.U, looks(4))
        which := which + 1.U
        when(which === 2.U) { state := State.dictionaryEnd }
      }
    }
    is(State.dictionaryEnd) {
      when(settled) {
        done := true.B
        state := State.idle
        when(left < 0.S) {
          done := false.B
          fail()
        }
      }
    }
    is(State.sequenceStream) {
      when(settled) {
        stream.valid := anyLeft
        when(!anyLeft) { fail() }
        when(stream.ready && anyLeft) {
          sequences.valid := true.B
          state := State.shape
        }
      }
    }
    is(State.shape) {
      shape.valid := true.B
      when(shape.ready) {
        seek.valid := true.B
        seek.bits := Mux(isRaw, rawAt, end)
        state := Mux(isRaw, State.rawLiterals, State.decoding)
      }
    }
    is(State.rawLiterals) {
      literals.valid := true.B
      when(literals.ready) { state := State.rawEnd }
    }
    is(State.rawEnd) {
      when(literalsIdle) {
        seek.valid := true.B
        state := State.decoding
      }
    }
    is(State.decoding) {
      when(literalsIdle && executorIdle && sequencesIdle) {
        done := true.B
        state := State.idle
      }
    }
  }
  consume := Mux1H(takes.toSeq.map { take =>
    val (now, bytes) = take()
    now -> bytes.pad(consume.getWidth)
  })
  when(clear) { state := State.idle }
}

/** Constants of the format. */
object BlockReader {
  val raw: Int = 0
  val repeated: Int = 1
  val compressed: Int = 2
  val treeless: Int = 3

  /** The fewest literals that four streams can hold, and the fewest bytes of a jump table with four streams. */
  val leastForFour: Int = 6
  val leastBytesForFour: Int = 10

  /** A tree description whose first byte is at least this holds weights that are not compressed. */
  val directWeights: Int = 128

  /** Added to a number of sequences that is encoded in three bytes. */
  val longCounts: Int = 0x7f00

  /** The compression modes byte with which all three tables are described. */
  val allDescribed: Int = 0xa8

  /** From the literals section header to the end of decoding. The last states parse the tables of a dictionary. */
  object State extends ChiselEnum {
    val idle, literals, measure, check, passRaw, repeat, repeatOrder, tree, direct, describe, described, weightStream,
        weights, code, streams, oneStream, jumps, lastStream, checkStreams, streamOrder, sequences, modes, tables, made,
        sequenceStream, shape, rawLiterals, rawEnd, decoding, offsets, dictionaryEnd, failed = Value
  }
}
