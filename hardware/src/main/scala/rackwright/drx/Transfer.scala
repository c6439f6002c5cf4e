package rackwright.drx

import chisel3._
import chisel3.util._

/** Bytes to move between memory and the scratchpad. */
class Transfer(params: Params) extends Bundle {
  val address = UInt(params.port.addressBits.W)
  val place = UInt(params.addressBits.W)
  val size = UInt(Isa.field("memory", "size").bits.W)

  /** The instruction it is of. */
  val index = UInt(params.indexBits.W)
}

/** The part of a transfer that is in one beat: `count` bytes from `offset` of the beat. */
class TransferBeat(params: Params) extends Bundle {

  /** The number of the beat in memory. */
  val beat = UInt((params.port.addressBits - params.port.offsetBits).W)
  val offset = UInt(params.port.offsetBits.W)
  val count = UInt(log2Ceil(params.portBytes + 1).W)
  val place = UInt(params.addressBits.W)
  val index = UInt(params.indexBits.W)
  val last = Bool()
}

/** Cuts transfers into beats, one in each cycle. */
class TransferCutter(params: Params) extends Module {
  val transfer = IO(Flipped(Decoupled(new Transfer(params))))
  val beat = IO(Decoupled(new TransferBeat(params)))

  /** Give up the transfer that was begun. */
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

/** What transfers of one direction tell. */
class TransferReport(params: Params) extends Bundle {

  /** A transfer is done, and all before it are. */
  val ended = Bool()

  /** Memory answered with a fault, to a transfer of the instruction `index`. */
  val fault = Bool()
  val index = UInt(params.indexBits.W)
}
