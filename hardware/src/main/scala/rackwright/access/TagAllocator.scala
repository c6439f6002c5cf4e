package rackwright.access

import chisel3._
import chisel3.util._

/** Allocates the tags of requests whose responses may have any order.
  *
  * Tags go round as a ring, so that the next one is known without a search; it is offered once its last request has
  * been answered. A request can therefore wait for the one `tags` positions before it even if younger tags are free:
  * with tags for the whole latency of memory this does not happen.
  *
  * @param tags
  *   number of tags, a power of two.
  */
class TagAllocator(tags: Int) extends Module {
  require(isPow2(tags) && tags >= 2, s"the number of tags is a power of two from 2, not $tags")
  private val tagBits = log2Ceil(tags)

  /** The next tag, offered once it is free. */
  val allocate = IO(Decoupled(UInt(tagBits.W)))

  /** A tag whose request has been answered. */
  val free = IO(Flipped(Valid(UInt(tagBits.W))))

  /** No tag is in use. */
  val idle = IO(Output(Bool()))

  private val busy = RegInit(0.U(tags.W))
  private val next = RegInit(0.U(tagBits.W))

  allocate.valid := !busy(next)
  allocate.bits := next
  idle := busy === 0.U

  private val taken = Mux(allocate.fire, UIntToOH(next, tags), 0.U)
  private val freed = Mux(free.valid, UIntToOH(free.bits, tags), 0.U)
  busy := (busy | taken) & ~freed
  when(allocate.fire) { next := next + 1.U }
}
