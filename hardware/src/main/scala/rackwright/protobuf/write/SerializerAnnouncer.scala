package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.protobuf.table.DescriptorTable

/** Prefetches the messages of waiting requests; prefetches of the current walk take precedence. */
class SerializerAnnouncer(params: SerializerParams) extends Module {
  private val offsetBits = log2Ceil(params.portBytes)
  private val numberBits = DescriptorTable.addressBits - offsetBits

  /** A new request. */
  val request = IO(Flipped(Valid(new SerializerRequest)))

  /** A prefetch of the current walk. */
  val walker = IO(Flipped(Valid(new SerializerPrefetch(numberBits))))

  /** The type of the last message walked, and the size of its objects. */
  val latest = IO(Flipped(Valid(UInt(DescriptorTable.addressBits.W))))
  val latestBytes = IO(Input(UInt(SerializerWalker.sizeBits.W)))

  /** The prefetch to perform. */
  val prefetch = IO(Decoupled(new SerializerPrefetch(numberBits)))

  private val readAhead = new SerializerReadAhead(params)
  private val coming = Module(new Queue(new SerializerRequest, params.laneQueue + 1))
  coming.io.enq.valid := request.valid
  coming.io.enq.bits := request.bits
  coming.io.deq.ready := prefetch.ready && !walker.valid

  // The size of a message of another type is not known before its table has been read.
  private val waiting = coming.io.deq.bits
  private val most = SerializerAnnouncer.beats * params.portBytes
  private val known = Mux(latestBytes > most.U, most.U, latestBytes)
  private val bytes = Mux(latest.valid && latest.bits === waiting.table, known, SerializerWalker.leastBytes.U)

  prefetch.valid := walker.valid || coming.io.deq.valid
  prefetch.bits := Mux(walker.valid, walker.bits, readAhead.beats(waiting.message, bytes, waiting.time))
}

/** Constants of a [[SerializerAnnouncer]]. */
object SerializerAnnouncer {

  /** Beats of a waiting message to prefetch, or one more. */
  val beats: Int = 8
}
