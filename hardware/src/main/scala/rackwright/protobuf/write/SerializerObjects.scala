package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.access.LoadedBeat
import rackwright.protobuf.table.DescriptorTable
import rackwright.stream.SkidBuffer

/** A beat, read for the word at an address. */
class ObjectBeat(bytes: Int) extends Bundle {
  private val offsetBits = log2Ceil(bytes)
  val address = UInt(DescriptorTable.addressBits.W)
  val beat = new LoadedBeat(bytes)

  /** The requested word; another word that is in the beat if `covers` is true. */
  def word: UInt = wordAt(address)
  def wordAt(other: UInt): UInt = beat.data.asTypeOf(Vec(bytes / 8, UInt(64.W)))(other(offsetBits - 1, 3))
  def covers(other: UInt): Bool = other >> offsetBits === address >> offsetBits
}

/** Reads objects: fields, or words for the walker, not both at the same time. */
class SerializerObjects(lineBytes: Int) extends Module {
  private val offsetBits = log2Ceil(lineBytes)
  private val numberBits = DescriptorTable.addressBits - offsetBits

  /** Addresses of fields, and their beats. */
  val field = IO(Flipped(Decoupled(UInt(DescriptorTable.addressBits.W))))
  val fieldBeat = IO(Decoupled(new LoadedBeat(lineBytes)))

  /** Words, which take precedence over fields; their beats. */
  val word = IO(Flipped(Decoupled(UInt(DescriptorTable.addressBits.W))))
  val answer = IO(Decoupled(new ObjectBeat(lineBytes)))

  /** A word has been requested and not been consumed. */
  val reading = IO(Output(Bool()))

  /** Cancel this request. */
  val clear = IO(Input(Bool()))

  /** Numbers of beats, and the beats. */
  val request = IO(Decoupled(UInt(numberBits.W)))
  val response = IO(Flipped(Decoupled(new LoadedBeat(lineBytes))))

  private val words = Module(new Queue(UInt(DescriptorTable.addressBits.W), SerializerFetch.reads, hasFlush = true))
  private val answering = Wire(Decoupled(new ObjectBeat(lineBytes)))
  words.io.flush.get := clear
  answer <> SkidBuffer(answering, clear)
  reading := words.io.deq.valid || answer.valid

  private val mayAsk = words.io.enq.ready
  request.valid := (word.valid && mayAsk) || field.valid
  request.bits := Mux(word.valid, word.bits, field.bits) >> offsetBits
  word.ready := request.ready && mayAsk
  field.ready := !word.valid && request.ready
  words.io.enq.valid := word.valid && request.ready
  words.io.enq.bits := word.bits

  answering.valid := words.io.deq.valid && response.valid
  answering.bits.address := words.io.deq.bits
  answering.bits.beat := response.bits
  words.io.deq.ready := response.valid && answering.ready
  fieldBeat.valid := !words.io.deq.valid && response.valid
  fieldBeat.bits := response.bits
  response.ready := Mux(words.io.deq.valid, answering.ready, fieldBeat.ready)
}
