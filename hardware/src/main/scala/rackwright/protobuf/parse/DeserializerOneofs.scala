package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.protobuf.table.DescriptorTable

/** Address of a case word, and the field number to store there. */
class OneofCase extends Bundle {
  val address = UInt(DescriptorTable.addressBits.W)
  val number = UInt(29.W)
}

/** Stores case words of oneofs, each in the cycle after its field has been executed. */
class DeserializerOneofs(params: DeserializerParams) extends Module {

  /** Only while not `busy`. */
  val set = IO(Flipped(Valid(new OneofCase)))

  /** A case word waits to be stored. */
  val busy = IO(Output(Bool()))
  val store = IO(Decoupled(new Store(params.port)))

  private val waiting = RegInit(false.B)
  private val waits = Reg(new OneofCase)
  busy := waiting
  store.valid := waiting
  store.bits := Store.value(params.port, waits.address, waits.number, 2.U)
  waiting := set.valid || (waiting && !store.ready)
  when(set.valid) { waits := set.bits }
}
