package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.port.MemoryPortParams
import rackwright.protobuf.table.DescriptorTable

/** Bytes to write within one beat: those in `mask`, in the lanes of their addresses. */
class Store(port: MemoryPortParams) extends Bundle {
  val address = UInt(DescriptorTable.addressBits.W)
  val data = UInt((8 * port.bytes).W)
  val mask = UInt(port.bytes.W)

  /** No other store overlaps these bytes while this one is outstanding. */
  val alone = Bool()
}

/** A whole beat to write, which no other store overlaps while it is outstanding. */
class Beat(port: MemoryPortParams) extends Bundle {
  val address = UInt(DescriptorTable.addressBits.W)
  val data = UInt((8 * port.bytes).W)
}

/** Constructs stores. */
object Store {

  /** A value of 2^log2Bytes bytes, 1, 4 or 8, at an address that is a multiple of its size. */
  def value(port: MemoryPortParams, address: UInt, value: UInt, log2Bytes: UInt): Store = {
    val spread = MuxLookup(log2Bytes, value.pad(64)(63, 0))(
      Seq(0.U -> Fill(8, value(7, 0)), 2.U -> Fill(2, value.pad(32)(31, 0)))
    )
    val lanes = MuxLookup(log2Bytes, 0xff.U(8.W))(Seq(0.U -> 1.U(8.W), 2.U -> 0xf.U(8.W)))
    val store = Wire(new Store(port))
    store.address := address
    store.data := Fill(port.bytes / 8, spread)
    store.alone := false.B
    store.mask := (lanes << address(port.offsetBits - 1, 0))(port.bytes - 1, 0)
    store
  }

  /** The first store, with the second one in the same beat merged over it if `isThere`. */
  def both(port: MemoryPortParams, first: Store, second: Store, isThere: Bool): Store = {
    val added = Mux(isThere, second.mask, 0.U)
    val store = Wire(new Store(port))
    store := first
    store.mask := first.mask | added
    store.data := Cat(
      Seq.tabulate(port.bytes)(i => Mux(added(i), second.data(8 * i + 7, 8 * i), first.data(8 * i + 7, 8 * i))).reverse
    )
    store
  }

  /** 16 bytes at a multiple of 16. */
  def line(port: MemoryPortParams, address: UInt, line: UInt): Store = {
    val store = Wire(new Store(port))
    store.address := address
    store.data := Fill(port.bytes / 16, line)
    store.alone := false.B
    store.mask := (0xffff.U << (address(port.offsetBits - 1, 0) & (port.bytes - 16).U))(port.bytes - 1, 0)
    store
  }
}
