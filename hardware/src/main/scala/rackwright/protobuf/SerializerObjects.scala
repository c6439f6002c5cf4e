package rackwright.protobuf

import chisel3._
import chisel3.util._

import rackwright.memory.LoadedBeat

/** A beat that was read for the word at an address. */
class ObjectBeat(bytes: Int) extends Bundle {
  private val offsetBits = log2Ceil(bytes)
  val address = UInt(DescriptorTable.addressBits.W)
  val beat = new LoadedBeat(bytes)

  /** The word that was asked for; another one that `covers` says is in the beat. */
  def word: UInt = wordAt(address)
  def wordAt(other: UInt): UInt = beat.data.asTypeOf(Vec(bytes / 8, UInt(64.W)))(other(offsetBits - 1, 3))
  def covers(other: UInt): Bool = other >> offsetBits === address >> offsetBits
}

/** Reads of objects: of fields, one after the other, or of one word that the walk itself wants. */
class SerializerObjects(lineBytes: Int) extends Module {
  private val offsetBits = log2Ceil(lineBytes)
  private val numberBits = DescriptorTable.addressBits - offsetBits

  /** Addresses of fields, and their beats. */
  val field = IO(Flipped(Decoupled(UInt(DescriptorTable.addressBits.W))))
  val fieldBeat = IO(Decoupled(new LoadedBeat(lineBytes)))

  /** A word that comes before fields; its answer is waited for. */
  val word = IO(Flipped(Decoupled(UInt(DescriptorTable.addressBits.W))))
  val answer = IO(Decoupled(new ObjectBeat(lineBytes)))

  /** A word has been asked for and not been taken. */
  val reading = IO(Output(Bool()))

  /** Forget that. */
  val clear = IO(Input(Bool()))

  /** Numbers of beats, and the beats. */
  val request = IO(Decoupled(UInt(numberBits.W)))
  val response = IO(Flipped(Decoupled(new LoadedBeat(lineBytes))))

  private val under = RegInit(false.B)
  private val address = Reg(UInt(DescriptorTable.addressBits.W))
  reading := under

  request.valid := word.valid || field.valid
  request.bits := Mux(word.valid, word.bits, field.bits) >> offsetBits
  word.ready := request.ready
  field.ready := !word.valid && request.ready
  when(word.fire) { address := word.bits }
  under := !clear && (word.fire || (under && !answer.fire))

  answer.valid := under && response.valid
  answer.bits.address := address
  answer.bits.beat := response.bits
  fieldBeat.valid := !under && response.valid
  fieldBeat.bits := response.bits
  response.ready := Mux(under, answer.ready, fieldBeat.ready)
}
