package rackwright.crypto

import chisel3._
import chisel3.util._

/** What comes out of the cipher at a time. */
object IssueKind extends ChiselEnum {

  /** The key of the sum, the mask of the tag, a block of only authenticated data, of text, the lengths, the end. */
  val hashKey, mask, extra, text, lengths, end = Value
}

/** The information on a block that is in the cipher. */
class IssuedBlock extends Bundle {
  val kind = IssueKind()
  val mode = CipherMode()
  val decrypt = Bool()
  val bytes = UInt(5.W)
  val fault = Bool()

  /** The data added to the block at the output; or, if there are none, the data to be summed or compared. */
  val data = UInt(128.W)
}

/** Sends blocks to the cipher, in the order of their output: with counters, chained, or unchanged. Items that only need
  * their place in the order also pass through it.
  */
class BlockIssuer extends Module {
  import BlockIssuer._

  val request = IO(Flipped(Decoupled(new CipherRequest)))

  /** The round keys of the slot of `request` are ready. */
  val keyed = IO(Input(Bool()))
  val piece = IO(Flipped(Decoupled(new InputPiece)))

  /** To the cipher, which takes one when it is open, and beside it. */
  val open = IO(Input(Bool()))
  val block = IO(Valid(new CipherBlock))
  val issued = IO(Decoupled(new IssuedBlock))

  /** A block to which another one is chained has left. */
  val result = IO(Flipped(Valid(UInt(128.W))))

  /** A block could enter, and there is no input. */
  val waits = IO(Output(Bool()))

  private val state = RegInit(State.idle)
  private val asks = request.bits

  /** A number of 128 bits whose first byte is the highest; the latest block, which is added to the next one. */
  private val counter = Reg(UInt(128.W))
  private val chained = Reg(UInt(128.W))
  private val awaited = RegInit(false.B)

  private val isGcm = asks.is(CipherMode.gcm)
  private val counts = isGcm || asks.is(CipherMode.ctr)
  private val isText = piece.bits.kind === PieceKind.text
  private val isEnd = piece.bits.kind === PieceKind.end
  private val chains = asks.is(CipherMode.cbc) && !asks.decrypt && isText
  private val sumsLengths = isGcm && !piece.bits.fault

  private val fromPiece = state === State.pieces && !(isEnd && sumsLengths) || state === State.end
  private val ready = MuxLookup(state, piece.valid && !(chains && awaited))(
    Seq(State.idle -> false.B, State.hashKey -> true.B, State.mask -> true.B)
  )
  private val goes = ready && open && issued.ready
  issued.valid := ready && open
  waits := open && state === State.pieces && !piece.valid
  block.valid := goes
  piece.ready := goes && fromPiece
  request.ready := piece.fire && isEnd

  block.bits.slot := asks.slot
  block.bits.data := MuxCase(
    piece.bits.data,
    Seq(
      (state === State.hashKey) -> 0.U,
      (state === State.mask || counts) -> swapped(counter),
      (asks.is(CipherMode.cbc) && !asks.decrypt) -> (piece.bits.data ^ chained)
    )
  )

  private val notes = issued.bits
  notes.mode := asks.mode
  notes.decrypt := asks.decrypt
  notes.bytes := piece.bits.bytes
  notes.fault := piece.bits.fault
  notes.kind := MuxLookup(state, IssueKind.end)(
    Seq(
      State.hashKey -> IssueKind.hashKey,
      State.mask -> IssueKind.mask,
      State.pieces -> MuxCase(
        Mux(sumsLengths, IssueKind.lengths, IssueKind.end),
        Seq(isText -> IssueKind.text, (piece.bits.kind === PieceKind.extra) -> IssueKind.extra)
      )
    )
  )
  private val lengths = swapped(asks.extraBytes.pad(61) ## 0.U(3.W) ## asks.textBytes.pad(61) ## 0.U(3.W))
  notes.data := MuxCase(
    piece.bits.data,
    Seq(
      (state === State.pieces && isEnd && sumsLengths) -> lengths,
      (isText && asks.is(CipherMode.cbc)) -> Mux(asks.decrypt, chained, 0.U),
      (isText && asks.is(CipherMode.ecb)) -> 0.U
    )
  )

  when(result.valid) {
    awaited := false.B
    chained := result.bits
  }
  when(goes) {
    switch(state) {
      is(State.hashKey) { state := State.mask }
      is(State.mask) { state := State.pieces }
      is(State.pieces) { when(isEnd) { state := Mux(sumsLengths, State.end, State.idle) } }
      is(State.end) { state := State.idle }
    }
    when(state === State.mask || state === State.pieces && isText) {
      counter := Mux(isGcm, counter(127, 32) ## (counter(31, 0) + 1.U), counter + 1.U)
    }
    when(state === State.pieces && isText) {
      awaited := chains
      when(asks.decrypt) { chained := piece.bits.data }
    }
  }
  when(state === State.idle && request.valid && keyed && !awaited) {
    state := Mux(isGcm, State.hashKey, State.pieces)
    counter := Mux(isGcm, swapped(asks.start)(127, 32) ## 1.U(32.W), swapped(asks.start))
    chained := asks.start
  }
}

object BlockIssuer {

  /** The next block: all of a request's blocks in `pieces`, the end after the lengths in `end`. */
  object State extends ChiselEnum {
    val idle, hashKey, mask, pieces, end = Value
  }

  /** The bytes of a block in the other order. */
  private def swapped(block: UInt): UInt = VecInit((0 until 16).reverse.map(i => block(8 * i + 7, 8 * i))).asUInt
}
