package rackwright.port

import chisel3._
import chisel3.util._

/** Shape of an AXI4 master.
  *
  * @param bytes
  *   bytes of the data bus.
  * @param idBits
  *   width of the transaction ids.
  * @param addressBits
  *   width of an address.
  */
case class Axi4Params(bytes: Int, idBits: Int, addressBits: Int = 64)

/** Address of a burst, for either direction; the names are those of AMBA AXI4 (IHI 0022). */
class Axi4Address(params: Axi4Params) extends Bundle {
  val id = UInt(params.idBits.W)
  val addr = UInt(params.addressBits.W)
  val len = UInt(8.W)
  val size = UInt(3.W)
  val burst = UInt(2.W)
  val lock = Bool()
  val cache = UInt(4.W)
  val prot = UInt(3.W)
  val qos = UInt(4.W)
}

/** A beat to write. */
class Axi4WriteData(params: Axi4Params) extends Bundle {
  val data = UInt((8 * params.bytes).W)
  val strb = UInt(params.bytes.W)
  val last = Bool()
}

/** The answer to a written burst. */
class Axi4WriteResponse(params: Axi4Params) extends Bundle {
  val id = UInt(params.idBits.W)
  val resp = UInt(2.W)
}

/** A beat read. */
class Axi4ReadData(params: Axi4Params) extends Bundle {
  val id = UInt(params.idBits.W)
  val data = UInt((8 * params.bytes).W)
  val resp = UInt(2.W)
  val last = Bool()
}

/** The five channels, seen from the master. */
class Axi4Port(val params: Axi4Params) extends Bundle {
  val aw = Decoupled(new Axi4Address(params))
  val w = Decoupled(new Axi4WriteData(params))
  val b = Flipped(Decoupled(new Axi4WriteResponse(params)))
  val ar = Decoupled(new Axi4Address(params))
  val r = Flipped(Decoupled(new Axi4ReadData(params)))
}
