package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.protobuf.table.DescriptorTable

/** Has messages read ahead while they wait for the walk; what the walk at hand announces comes first. */
class SerializerAnnouncer(params: SerializerParams) extends Module {
  private val offsetBits = log2Ceil(params.portBytes)
  private val numberBits = DescriptorTable.addressBits - offsetBits

  /** A request that came. */
  val request = IO(Flipped(Valid(new SerializerRequest)))

  /** What the walk announces. */
  val walker = IO(Flipped(Valid(new SerializerPrefetch(numberBits))))

  /** The type walked last and the bytes of its objects. */
  val latest = IO(Flipped(Valid(UInt(DescriptorTable.addressBits.W))))
  val latestBytes = IO(Input(UInt(SerializerWalker.sizeBits.W)))

  /** What is to be read ahead. */
  val prefetch = IO(Decoupled(new SerializerPrefetch(numberBits)))

  private val readAhead = new SerializerReadAhead(params)
  private val coming = Module(new Queue(new SerializerRequest, params.laneQueue + 1))
  coming.io.enq.valid := request.valid
  coming.io.enq.bits := request.bits
  coming.io.deq.ready := prefetch.ready && !walker.valid

  // How long a message of another type is, is known when its table is read.
  private val waiting = coming.io.deq.bits
  private val most = SerializerAnnouncer.beats * params.portBytes
  private val known = Mux(latestBytes > most.U, most.U, latestBytes)
  private val bytes = Mux(latest.valid && latest.bits === waiting.table, known, SerializerWalker.leastBytes.U)

  prefetch.valid := walker.valid || coming.io.deq.valid
  prefetch.bits := Mux(walker.valid, walker.bits, readAhead.beats(waiting.message, bytes, waiting.time))
}

/** Constants of a [[SerializerAnnouncer]]. */
object SerializerAnnouncer {

  /** Beats of a waiting message that are read ahead, or one more. */
  val beats: Int = 8
}
