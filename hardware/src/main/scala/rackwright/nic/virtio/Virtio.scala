package rackwright.nic.virtio

import chisel3._
import chisel3.util._

import rackwright.network.Frame
import rackwright.nic.port.Registers

/** Sizes and numbers of the virtio front end. */
object Virtio {

  /** The queues: frames received, frames to send (virtio 1.2, section 5.1.2). */
  val receiveQueue: Int = 0
  val sendQueue: Int = 1
  val queues: Int = 2

  /** Most places of a ring. */
  val ringEntries: Int = 256
  val sizeBits: Int = log2Ceil(ringEntries + 1)

  /** Bytes before every frame (virtio 1.2, section 5.1.6; `num_buffers` is always there in version 1). */
  val headerBytes: Int = 12

  /** Complete chains that wait, read ahead. */
  val chainsAhead: Int = 4

  /** Most chains that a received frame may fill. */
  val chainsPerFrame: Int = 16

  /** Maximum number of parts of frames in the send or the receive path. */
  val partsUnderWay: Int = 32

  /** More bytes than any frame with its header has. */
  val totalBits: Int = log2Ceil(Frame.maxBytes + headerBytes + 1)

  /** Number of frames whose lengths are stored beside the packet buffer: its capacity of the shortest Ethernet frames.
    */
  def lengthEntries(bufferKib: Int): Int = bufferKib * 1024 / Frame.leastBytes
}

/** A driver's rule violation; 0 if there is none. */
object Fault {
  val width: Int = 3
  val none: UInt = 0.U(width.W)

  /** A ring of an impossible size, not aligned, or not in memory. */
  val ring: UInt = 1.U(width.W)

  /** More buffers than the ring has places. */
  val index: UInt = 2.U(width.W)

  /** A chain without an end, or a link that leaves its table. */
  val chain: UInt = 3.U(width.W)

  /** A buffer without bytes, or a frame too short or too long. */
  val length: UInt = 4.U(width.W)

  /** A buffer that is not in memory. */
  val address: UInt = 5.U(width.W)

  /** A readable buffer instead of a writable one or vice versa, or a flag that was not agreed on. */
  val order: UInt = 6.U(width.W)

  /** A requested checksum outside of its frame. */
  val header: UInt = 7.U(width.W)
}

/** The driver's settings of a queue. */
class Ring extends Bundle {
  val size = UInt(Virtio.sizeBits.W)
  val descriptors = UInt(64.W)
  val available = UInt(64.W)
  val used = UInt(64.W)
  val enabled = Bool()

  /** The place of entry `index` of a ring whose entries have 2^shift bytes. */
  def slot(index: UInt): UInt =
    index(log2Ceil(Virtio.ringEntries) - 1, 0) & (size - 1.U)(log2Ceil(Virtio.ringEntries) - 1, 0)
}

/** A range of memory. */
class Window extends Bundle {
  val first = UInt(Registers.addressBits.W)

  /** Its last byte. */
  val last = UInt(Registers.addressBits.W)

  /** Whether all of `length` bytes at `place` are in it; at least one. */
  def holds(place: UInt, length: UInt): Bool = {
    val end = place(Registers.addressBits - 1, 0) +& length - 1.U
    !place(63, Registers.addressBits).orR && place >= first && end <= last
  }
}

/** A part of a frame in memory, of at least one byte. */
class Segment extends Bundle {
  val address = UInt(Registers.addressBits.W)

  /** At most 65535: no frame needs more. */
  val length = UInt(16.W)

  /** The chain ends with it. */
  val last = Bool()
}

/** A chain of descriptors that breaks no rule. */
class Chain extends Bundle {

  /** Number of its first descriptor. */
  val head = UInt(16.W)

  /** Bytes of its segments, or 65535 when they are more. */
  val total = UInt(16.W)
}

/** A buffer to return to the driver. */
class Used extends Bundle {
  val head = UInt(16.W)

  /** Bytes written to it. */
  val length = UInt(16.W)

  /** The frame continues in the next one, and the driver is to receive all together. */
  val more = Bool()
}

/** A part of a frame in the send or the receive path. */
class Part extends Bundle {

  /** Of the front end; else of the registers. */
  val virtio = Bool()

  /** The buffer ends with it. */
  val last = Bool()
  val used = new Used
}
