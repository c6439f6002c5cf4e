package rackwright.lz77.decode

import chisel3._
import chisel3.util._

/** A line of the output, or of the dictionary, that a copy reads from memory. */
class FallbackCopy(params: DecoderParams) extends Bundle {

  /** Lines from the first line of the output, or of the dictionary, on. */
  val line = UInt(28.W)
  val fromDictionary = Option.when(params.dictionary)(Bool())

  /** The next line is needed too. */
  val two = Bool()
}

/** Computes the properties of pieces in advance: the position of the source, whether it is out of reach of the history,
  * the registers of the history that contain it, and whether a piece may be combined with the previous one. Four stages
  * without stalls.
  */
class DecoderPlacer(params: DecoderParams) extends Module {
  private val lanes = params.lanes
  private val bytes = params.bytes
  private val lineBits = params.lineBits

  /** An operation begins. */
  val start = IO(Flipped(Valid(new DecoderStart(params))))

  /** Drops pieces in progress. */
  val clear = IO(Input(Bool()))
  val input = IO(Input(Vec(lanes, new CutPiece(params))))

  /** The pieces four cycles later, valid ones first. */
  val output = IO(Output(Vec(lanes, Valid(new Piece(params)))))

  /** Reads that fall-back pieces need, in the order of the pieces. */
  val copies = IO(Output(Vec(lanes, Valid(new FallbackCopy(params)))))

  /** A piece is in progress. */
  val busy = IO(Output(Bool()))

  private val settings = RegEnable(start.bits, start.valid)
  private val live = !clear && !start.valid
  private def stage[T <: Data](value: T, valid: Seq[Bool]): (T, Seq[Bool]) =
    (RegEnable(value, valid.head), valid.map(v => RegNext(v && live, false.B)))

  // Positions. Byte 0 of the output is at its place in its beat of memory.
  private val arrived = input.map(_.valid)
  private val (cut, cutValid) = stage(input, arrived)
  private val position = Reg(UInt(33.W))
  private val literals = RegInit(0.U(log2Ceil(params.literalBytes).W))
  private val lengths = cut.zip(cutValid).map { case (piece, valid) => Mux(valid, piece.length, 0.U) }
  private val literalLengths = cut.zip(lengths).map { case (piece, length) => Mux(piece.literal, length, 0.U) }
  private val sums = lengths.scanLeft(0.U((params.countBits + 1).W))(_ + _)
  private val literalSums = literalLengths.scanLeft(0.U((params.countBits + 1).W))(_ + _)
  position := position + sums.last
  literals := literals + literalSums.last
  when(start.valid) {
    position := start.bits.destination(lineBits - 1, 0)
    literals := 0.U
  }

  /** A piece in progress, with its properties so far. */
  private class Placed extends Bundle {
    val cut = new CutPiece(params)
    val position = UInt(33.W)
    val inDictionary = Option.when(params.dictionary)(UInt(33.W))
    val literalAt = UInt(log2Ceil(params.literalBytes).W)
    val far = Bool()
    val source = UInt(33.W)
    val crosses = Bool()
    val age = Vec(2, Bool())
  }

  /** The same relative to the first line of the dictionary, as if the output followed it in memory. */
  private val dictionaryPosition = start.bits.dictionary.map { dictionary =>
    val place = Reg(UInt(33.W))
    place := place + sums.last
    when(start.valid) { place := dictionary.address(lineBits - 1, 0) +& dictionary.bytes }
    place
  }

  // The position of the source.
  private val placing = VecInit((0 until lanes).map { i =>
    val placed = Wire(new Placed)
    placed := DontCare
    placed.cut := cut(i)
    placed.position := position + sums(i)
    placed.literalAt := literals + literalSums(i)
    val isBeyond = cut(i).offset > settings.history
    placed.far := !cut(i).literal && cut(i).fromDictionary.fold(isBeyond)(isBeyond || _)
    placed.inDictionary.zip(dictionaryPosition).foreach { case (to, place) => to := place + sums(i) }
    placed
  })
  private val (placed, placedValid) = stage(placing, cutValid)
  private val sourcing = VecInit(placed.map { piece =>
    val result = WireDefault(piece)
    val from = piece.inDictionary
      .zip(piece.cut.fromDictionary)
      .fold(piece.position) { case (there, is) => Mux(is, there, piece.position) }
    result.source := Mux(piece.cut.literal, piece.literalAt, from - piece.cut.offset)
    result
  })
  private val (sourced, sourcedValid) = stage(sourcing, placedValid)

  // Lines.
  private val lining = VecInit(sourced.map { piece =>
    val result = WireDefault(piece)
    val ageBits = History.bankBits + 1
    def lineOf(position: UInt): UInt = (position >> lineBits)(ageBits - 1, 0)
    val age = lineOf(piece.position) - lineOf(piece.source)
    val within = piece.cut.offset < (History.banks * bytes).U
    result.crosses := piece.source(lineBits - 1, 0) +& piece.cut.length > bytes.U
    result.age(0) := within && age < History.youngest.U
    result.age(1) := within && age <= History.youngest.U
    result
  })
  private val (lined, linedValid) = stage(lining, sourcedValid)

  // The piece before each, of this cycle or of an earlier one.
  private val latest = Reg(new Placed)
  private val latestValid = RegInit(false.B)
  when(linedValid.head) {
    latest := (if (lanes == 2) Mux(linedValid.last, lined.last, lined.head) else lined.head)
    latestValid := true.B
  }
  when(!live) { latestValid := false.B }

  private val slots = RegInit(0.U(params.slotBits.W))
  private val slotsUsed = lined.zip(linedValid).map { case (piece, valid) =>
    Mux(valid && piece.far, 1.U +& piece.crosses, 0.U(2.W))
  }
  private val slotSums = slotsUsed.scanLeft(0.U(3.W))(_ +& _)
  slots := slots + slotSums.last
  when(start.valid) { slots := 0.U }

  for (i <- 0 until lanes) {
    val piece = lined(i)
    val before = if (i == 0) latest else lined(i - 1)
    output(i).valid := linedValid(i)
    output(i).bits := finished(piece, before, if (i == 0) latestValid else true.B, slots + slotSums(i))
    copies(i).valid := linedValid(i) && piece.far
    copies(i).bits.line := piece.source >> lineBits
    copies(i).bits.two := piece.crosses
    Optional.connect(copies(i).bits.fromDictionary, piece.cut.fromDictionary)
  }
  busy := Seq(cutValid, placedValid, sourcedValid, linedValid).map(_.head).reduce(_ || _)

  private def isHistory(piece: Placed): Bool = !piece.cut.literal && !piece.far

  private def finished(piece: Placed, before: Placed, hasBefore: Bool, slot: UInt): Piece = {
    val result = Wire(new Piece(params))
    val length = piece.cut.length
    val together = before.cut.length +& length
    result.literal := piece.cut.literal
    result.history := isHistory(piece)
    result.fallback := piece.far
    result.length := length
    result.source.line := Mux(piece.far, slot, piece.source >> lineBits)
    result.source.byte := piece.source(lineBits - 1, 0)
    result.crosses := piece.crosses
    result.young := piece.age
    result.place.line := piece.position >> lineBits
    result.place.byte := piece.position(lineBits - 1, 0)
    result.slack := slackOf(piece, length)
    result.pairedSlack := slackOf(piece, together)
    result.pairedLength := together
    val sameBuffer = (piece.cut.literal && before.cut.literal) || (piece.far && before.far)
    val readsStep = isHistory(piece) && piece.cut.offset < together
    result.pairs := hasBefore && together <= bytes.U && !sameBuffer && !readsStep && !meets(piece, before)
    result
  }

  /** Bytes of the output between the end of the source and the step, up to a line. */
  private def slackOf(piece: Placed, length: UInt): UInt = {
    val offset = piece.cut.offset
    val distant = !isHistory(piece) || (offset >> (lineBits + 2)).orR
    val difference = offset(lineBits + 1, 0) -& length
    val between = difference(lineBits + 1, 0)
    val most = bytes.U(params.countBits.W)
    Mux(distant || between >= bytes.U, most, between(params.countBits - 1, 0))
  }

  /** Both read different lines of one bank of the history. */
  private def meets(piece: Placed, before: Placed): Bool = {
    val numberBits = log2Ceil(params.historyBytes) - lineBits
    def line(of: Placed): UInt = (of.source >> lineBits)(numberBits - 1, 0)
    val apart = line(piece) - line(before)
    def clash(more: Int): Bool = {
      val value = (apart + (if (more < 0) ((1 << numberBits) + more).U else more.U))(numberBits - 1, 0)
      value(History.bankBits - 1, 0) === 0.U && value =/= 0.U
    }
    isHistory(piece) && isHistory(before) &&
    (clash(0) || (before.crosses && clash(-1)) || (piece.crosses && clash(1)))
  }
}
