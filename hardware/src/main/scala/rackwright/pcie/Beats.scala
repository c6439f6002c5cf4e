package rackwright.pcie

import chisel3._

import rackwright.port.StreamFlit

/** A beat of an outgoing packet of the function: its header alone, or up to 16 bytes of its payload.
  *
  * The header is accompanied by the packet's data credits.
  */
class PacketBeat extends Bundle {
  val data = UInt((8 * Params.beatBytes).W)
  val keep = UInt(Params.beatBytes.W)
  val last = Bool()
  val credits = UInt(Credits.dataBits.W)

  /** In the format of the stream port. */
  def onWire: StreamFlit = {
    val flit = Wire(new StreamFlit(Params.beatBytes))
    flit.data := data
    flit.keep := keep
    flit.last := last
    flit
  }
}

/** A range of memory of the host, or of another card, to read or to write; both are multiples of 16 bytes. */
class DmaRequest extends Bundle {
  val address = UInt(64.W)
  val bytes = UInt(32.W)
}

/** A beat of the data that was read. */
class ReadBeat extends Bundle {
  val data = UInt((8 * Params.beatBytes).W)

  /** It could not be read; `data` has no meaning. */
  val fault = Bool()

  /** The last of its request. */
  val last = Bool()
}

/** The function's settings in its configuration space. */
class FunctionSettings extends Bundle {

  /** Bus, device and function. */
  val id = UInt(16.W)
  val memoryEnabled = Bool()
  val masterEnabled = Bool()

  /** As the specification encodes them: 128 bytes times two to this power. */
  val payload = UInt(3.W)
  val readRequest = UInt(3.W)

  /** More than 32 tags may be used. */
  val extendedTags = Bool()

  /** Errors that are reported: correctable, not fatal and fatal ones, and unsupported requests (7.5.3.4). */
  val reports = UInt(4.W)

  /** Interrupts may be sent as messages; all of them are held back. */
  val messagesEnabled = Bool()
  val messagesMasked = Bool()

  /** First address of each window. */
  val windows = Vec(FunctionSettings.windows, UInt(64.W))
}

object FunctionSettings {

  /** Windows of a function: its registers, and a buffer for writes of other cards. */
  val windows: Int = 2
}
