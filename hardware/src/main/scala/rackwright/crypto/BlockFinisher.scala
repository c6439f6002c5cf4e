package rackwright.crypto

import chisel3._
import chisel3.util._

import rackwright.port.Status

/** Bytes of output, or the end of an operation, or both. */
class OutputPiece extends Bundle {

  /** Bytes; for an end without any, the number of consumed bytes of the input, or the position of an error. */
  val data = UInt(128.W)
  val bytes = UInt(5.W)
  val end = Bool()
  val status = UInt(Status.width.W)
}

/** The treatment of output that is held until the end of its operation. */
class HeldPiece extends Bundle {
  val piece = new OutputPiece

  /** It stays hidden, with earlier hidden output. */
  val hides = Bool()

  /** Earlier hidden output is dropped. */
  val drops = Bool()
}

/** Computes output from the blocks of the cipher: adds the corresponding data, sums them, computes and compares tags.
  */
class BlockFinisher extends Module {

  /** A block from the cipher, and its information. */
  val block = IO(Flipped(Valid(UInt(128.W))))
  val issued = IO(Flipped(Decoupled(new IssuedBlock)))

  /** Always taken. */
  val output = IO(Valid(new HeldPiece))

  /** A block that the next one of its text is chained to. */
  val result = IO(Valid(UInt(128.W)))

  /** The last block of an operation has left the cipher. */
  val ended = IO(Output(Bool()))

  issued.ready := block.valid
  assert(!block.valid || issued.valid, "nothing is known of the block that is out")
  private val out = block.bits ^ Mux(issued.bits.kind === IssueKind.text, issued.bits.data, 0.U)
  private val known = RegNext(block.valid, false.B)
  private val notes = RegNext(issued.bits)
  private val masked = RegNext(VecInit.tabulate(16) { i =>
    Mux(issued.bits.kind === IssueKind.text && i.U >= issued.bits.bytes, 0.U, out(8 * i + 7, 8 * i))
  }.asUInt)
  private def is(kind: IssueKind.Type): Bool = known && notes.kind === kind
  result.valid := is(IssueKind.text) && notes.mode === CipherMode.cbc && !notes.decrypt
  result.bits := masked

  private val ghash = Module(new Ghash)
  private val isGcm = notes.mode === CipherMode.gcm
  ghash.key.valid := is(IssueKind.hashKey)
  ghash.key.bits := masked
  ghash.block.valid := is(IssueKind.extra) || is(IssueKind.text) && isGcm || is(IssueKind.lengths)
  ghash.block.bits := Mux(notes.kind === IssueKind.text && !notes.decrypt, masked, notes.data)
  private val mask = Reg(UInt(128.W))
  when(is(IssueKind.mask)) { mask := masked }
  private val tag = ghash.sum ^ mask

  // The tag is computed and compared in one cycle, and its result is used in the next.
  private val isEnd = is(IssueKind.end)
  ended := isEnd
  private val made = Wire(new HeldPiece)
  private val gives = isGcm && !notes.decrypt && !notes.fault
  made.piece.end := isEnd
  made.piece.data := Mux(isEnd && gives, tag, Mux(isEnd, notes.data, masked))
  made.piece.bytes := Mux(isEnd, Mux(gives, 16.U, 0.U), notes.bytes)
  made.piece.status := Mux(notes.fault, Status.accessFault, Status.ok)
  private val compares = isGcm && notes.decrypt
  made.hides := compares && !isEnd
  made.drops := compares && isEnd
  private val right = RegNext(tag === notes.data)
  private val held = RegNext(made)
  output.valid := RegNext(isEnd || is(IssueKind.text), false.B)
  output.bits := held
  // With a comparison, all output is dropped unless the tag is correct.
  output.bits.drops := held.drops && (!right || held.piece.status =/= Status.ok)
  when(held.drops && held.piece.status === Status.ok && !right) { output.bits.piece.status := Status.malformed }
}
