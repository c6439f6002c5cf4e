package rackwright.protobuf

import chisel3._
import chisel3.util._

import rackwright.contract.Status

/** Takes tags off the input, and has the entries of their fields looked up. */
class DeserializerTags(params: DeserializerParams) extends Module {
  val head = IO(Input(new InputHead(params.portBytes)))

  /** A new input begins. */
  val clear = IO(Input(Bool()))

  /** A tag is wanted: `behind` bytes after the head, which leave in this cycle. */
  val wanted = IO(Input(Bool()))
  val behind = IO(Input(UInt(log2Ceil(params.portBytes + 1).W)))

  /** Where in the input the head is, and the type of the message. */
  val position = IO(Input(UInt(32.W)))
  val kind = IO(Input(new MessageType))

  val lookup = IO(Decoupled(new DescriptorRequest))

  /** A tag of `length` bytes is taken. */
  val taken = IO(Output(Bool()))
  val length = IO(Output(UInt(3.W)))

  /** No tag can be taken, for this reason. */
  val failure = IO(Valid(UInt(Status.width.W)))

  /** The tag taken last, and where it was. */
  val number = IO(Output(UInt(29.W)))
  val wire = IO(Output(UInt(3.W)))
  val start = IO(Output(UInt(32.W)))

  private val key = FieldKey.decode((head.data >> Cat(behind, 0.U(3.W)))(39, 0), head.available - behind)
  private val index = key.number - kind.least
  private val inTable = key.number >= kind.least && index <= kind.span
  private val isGood = key.complete && !key.wrong && key.wire =/= WireType.startGroup.U && inTable
  lookup.valid := wanted && isGood
  lookup.bits.address := kind.table + (DescriptorTable.headerLines.U +& index << 4)
  lookup.bits.last := kind.table + (DescriptorTable.headerLines.U +& kind.span << 4)
  taken := lookup.fire
  length := key.length

  private val malformed = Mux(key.complete, key.wrong, key.endless || head.isWhole)
  failure.valid := malformed || Mux(key.complete, !isGood, head.unreadable)
  failure.bits := MuxCase(
    Status.accessFault,
    Seq(malformed -> Status.malformed, key.complete -> Status.unsupported)
  )

  private val latest = Reg(new FieldKey)
  private val latestStart = Reg(UInt(32.W))
  when(taken) {
    latest := key
    latestStart := position + behind
  }
  when(clear) { latestStart := 0.U }
  number := latest.number
  wire := latest.wire
  start := latestStart
}
