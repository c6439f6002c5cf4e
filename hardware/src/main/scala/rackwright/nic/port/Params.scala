package rackwright.nic.port

import chisel3.util.{isPow2, log2Ceil}

import rackwright.network.Frame
import rackwright.port.MemoryPortParams

/** The parameters of a network interface.
  *
  * @param portBytes
  *   bytes per beat of both memory ports.
  * @param outstanding
  *   beats outstanding on each port: 128 of 16 bytes hide 256 cycles of latency at one flit per cycle.
  * @param queueEntries
  *   entries of each of the four queues between software and the unit.
  * @param bufferKib
  *   size of the packet buffer of the receive path.
  * @param virtio
  *   whether drivers find a network device of virtio 1.2 beside the registers.
  * @param networkBytes
  *   bytes of the network per cycle.
  */
case class Params(
    portBytes: Int = 16,
    outstanding: Int = 128,
    queueEntries: Int = 16,
    bufferKib: Int = 32,
    virtio: Boolean = false,
    networkBytes: Int = Frame.flitBytes
) {
  require(Set(16, 32).contains(portBytes), s"port-bytes is 16 or 32, not $portBytes")
  require(
    isPow2(outstanding) && outstanding >= 16 && outstanding <= 256,
    s"outstanding is a power of two from 16 to 256, not $outstanding"
  )
  require(
    isPow2(queueEntries) && queueEntries >= 2 && queueEntries <= 64,
    s"queue-entries is a power of two from 2 to 64, not $queueEntries"
  )
  require(
    isPow2(bufferKib) && bufferKib >= 16 && bufferKib <= 1024,
    s"buffer-kib is a power of two from 16 to 1024, not $bufferKib"
  )
  require(Frame.widths.contains(networkBytes), s"network-bytes is 8 or 16, not $networkBytes")

  /** Shape of both memory ports. */
  val port: MemoryPortParams = MemoryPortParams(portBytes, log2Ceil(outstanding))

  /** Flits that the packet buffer holds. */
  val bufferFlits: Int = bufferKib * 1024 / networkBytes

  /** The clock at which its number of bytes per second equals that of the wire. */
  val hertz: Long = Frame.hertzFor(networkBytes)
}
