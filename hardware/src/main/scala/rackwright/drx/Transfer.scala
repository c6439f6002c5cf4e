package rackwright.drx

import chisel3._
import chisel3.util._

/** A copy between memory and the scratchpad. */
class Transfer(params: Params) extends Bundle {
  val address = UInt(params.port.addressBits.W)
  val place = UInt(params.addressBits.W)
  val size = UInt(Isa.field("memory", "size").bits.W)

  /** The index of its instruction. */
  val index = UInt(params.indexBits.W)
}

/** The part of a transfer in one beat: `count` bytes from `offset` of the beat. */
class TransferBeat(params: Params) extends Bundle {

  /** The index of the beat in memory. */
  val beat = UInt((params.port.addressBits - params.port.offsetBits).W)
  val offset = UInt(params.port.offsetBits.W)
  val count = UInt(log2Ceil(params.portBytes + 1).W)
  val place = UInt(params.addressBits.W)
  val index = UInt(params.indexBits.W)
  val last = Bool()
}

/** Splits transfers into beats, one in each cycle. */
class TransferCutter(params: Params) extends Module {
  val transfer = IO(Flipped(Decoupled(new Transfer(params))))
  val beat = IO(Decoupled(new TransferBeat(params)))

  /** Abandons the transfer in progress. */
  val clear = IO(Input(Bool()))
  val empty = IO(Output(Bool()))

  private val active = RegInit(false.B)
  private val rest = Reg(new Transfer(params))
  private val offset = rest.address(params.port.offsetBits - 1, 0)
  private val room = params.portBytes.U - offset
  private val last = rest.size <= room

  beat.valid := active
  beat.bits.beat := rest.address >> params.port.offsetBits
  beat.bits.offset := offset
  beat.bits.count := Mux(last, rest.size, room)
  beat.bits.place := rest.place
  beat.bits.index := rest.index
  beat.bits.last := last
  empty := !active

  transfer.ready := !active || (beat.ready && last)
  when(beat.fire) {
    active := !last
    rest.address := (beat.bits.beat + 1.U) << params.port.offsetBits
    rest.place := rest.place + beat.bits.count
    rest.size := rest.size - beat.bits.count
  }
  when(transfer.fire) {
    active := true.B
    rest := transfer.bits
  }
  when(clear) { active := false.B }
}

/** Completion events of the transfers of one direction. */
class TransferReport(params: Params) extends Bundle {

  /** A transfer retires: it is complete, and so are all before it. */
  val ended = Bool()

  /** Memory returned a fault for a transfer of instruction `index`. */
  val fault = Bool()
  val index = UInt(params.indexBits.W)
}
