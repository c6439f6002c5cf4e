package rackwright.crypto

import chisel3._
import chisel3.util._

import rackwright.stream.ByteStream

/** The kind of a piece of the input. */
object PieceKind extends ChiselEnum {

  /** Only authenticated; to be encrypted or decrypted; the end, which contains the tag to compare if there is one.
    */
  val extra, text, end = Value
}

/** Up to a block of input; bytes after its last one are 0. */
class InputPiece extends Bundle {
  val kind = PieceKind()
  val data = UInt(128.W)
  val bytes = UInt(5.W)

  /** Of the end: memory refused the input; `data` is the number of bytes before. */
  val fault = Bool()
}

/** Divides the input of an operation into blocks: only authenticated data, text, and the end. */
class BlockCutter extends Module {

  /** Accepted when the input of the previous operation has been divided. */
  val request = IO(Flipped(Decoupled(new CipherRequest)))
  val stream = IO(Flipped(new ByteStream(16)))
  val piece = IO(Decoupled(new InputPiece))

  private val kind = RegInit(PieceKind.end)
  private val busy = RegInit(false.B)
  private val hasTag = Reg(Bool())

  /** Remaining whole blocks of the current part, and bytes after these; the same for the text that follows. */
  private val blocks, textBlocks = Reg(UInt((AesOpening.lengthBits - 4).W))
  private val tail, textTail = Reg(UInt(4.W))

  /** There are whole blocks left: known when the previous one is taken. */
  private val whole = Reg(Bool())
  private val cut = Reg(UInt((AesOpening.lengthBits + 1).W))

  private val wanted = Mux(kind === PieceKind.end, Mux(hasTag, 16.U, 0.U), Mux(whole, 16.U, tail))
  private val nothing = kind =/= PieceKind.end && !whole && tail === 0.U
  private val there = stream.available >= wanted
  private val broken = !there && stream.fault
  piece.valid := busy && !nothing && (there || broken)
  piece.bits.kind := Mux(broken, PieceKind.end, kind)
  piece.bits.fault := broken
  piece.bits.bytes := wanted
  private val bytes = VecInit(stream.data.zipWithIndex.map { case (byte, i) => Mux(i.U < wanted, byte, 0.U) }).asUInt
  piece.bits.data := Mux(broken, cut, bytes)
  stream.consume := Mux(piece.fire && !broken, wanted, 0.U)

  when(piece.fire) {
    cut := cut + wanted
    when(whole) {
      blocks := blocks - 1.U
      whole := blocks =/= 1.U
    }.otherwise { tail := 0.U }
    when(broken || kind === PieceKind.end) { busy := false.B }
  }
  // The last piece of a kind and the step to the next one take a cycle each.
  when(busy && nothing) {
    kind := Mux(kind === PieceKind.extra, PieceKind.text, PieceKind.end)
    blocks := textBlocks
    whole := textBlocks =/= 0.U
    tail := textTail
  }

  /** All needed input has been taken, even if there is more. */
  request.ready := !busy
  when(request.fire) {
    busy := true.B
    kind := PieceKind.extra
    hasTag := request.bits.authenticates
    blocks := request.bits.extraBytes >> 4
    whole := (request.bits.extraBytes >> 4).orR
    tail := request.bits.extraBytes(3, 0)
    textBlocks := request.bits.textBytes >> 4
    textTail := request.bits.textBytes(3, 0)
    cut := 0.U
  }
}
