package rackwright.compression

import chisel3._
import chisel3.util._

import rackwright.access.Ranges
import rackwright.lz77.encode.EncoderParams
import rackwright.operation.{Operation, Setting}
import rackwright.stream.StreamRange

/** The settings for a dictionary's content: its address and its number of bytes. */
case class DictionarySettings(address: Setting, length: Setting)

/** The bytes that the encoder receives before the input of an operation: the end of its dictionary. */
class DictionaryPart extends Bundle {

  /** All that follows is known: the operation may begin. */
  val settled = Bool()

  /** The operation has one. */
  val present = Bool()

  /** Number of words of eight bytes, and their address. */
  val words = UInt(EncoderParams.beforeBits.W)
  val range = new StreamRange

  /** Bytes of the words and of the input. */
  val total = UInt(33.W)

  /** The dictionary wraps around the address space. */
  val wraps = Bool()
}

/** Computes the part of a dictionary that is used: whole words of its end, as many as the history can store.
  *
  * @param params
  *   of the compressor.
  * @param settings
  *   where it is.
  */
class DictionaryMeasure(params: CompressorParams, settings: DictionarySettings) extends Module {

  /** An operation that has not started. */
  val operation = IO(Flipped(Valid(new Operation(params.settings))))

  /** It begins, or is refused. */
  val taken = IO(Input(Bool()))
  val part = IO(Output(new DictionaryPart))

  private val asked = operation.bits
  private val address = asked.setting(settings.address.name)
  private val length = asked.setting(settings.length.name)
  private val history = params.encoder.historyBytes

  private val words = RegNext(Mux(length > history.U, (history / 8).U, length >> 3))
  private val bytes = Cat(words, 0.U(3.W))
  private val waits = operation.valid && !taken
  private val looked = RegNext(waits, false.B)
  private val measured = RegNext(looked && waits, false.B)

  part.present := RegNext(length >= 8.U && asked.source.length =/= 0.U)
  part.settled := looked && (!part.present || measured)
  part.words := words
  part.range.address := RegNext((address + length) - bytes)
  part.range.length := bytes
  part.total := RegNext(asked.source.length(31, 0) +& bytes)
  part.wraps := RegNext(Ranges.wraps(address, length))
}
