package rackwright.access.translation

import chisel3._
import chisel3.util._

import rackwright.port.{MemoryPort, MemoryPortParams, Paging, TranslationContext}
import rackwright.stream.SkidBuffer

/** A memory port with virtual addresses on one with physical ones; README.md is the contract.
  *
  * Translations are cached, fully associative, and replaced in turn. An access without permission receives a fault as
  * its response and does not reach memory; its page is then refused until the unit is calm, so that the many following
  * accesses to the same page need no lookups.
  *
  * @param revocable
  *   whether all accesses can be refused, for a process that has ended.
  */
class TranslatedPort(port: MemoryPortParams, params: TranslationParams, revocable: Boolean = false) extends Module {
  require(port.addressBits == 64, s"virtual addresses have 64 bits, not ${port.addressBits}")

  /** The unit's side. */
  val unit = IO(Flipped(new MemoryPort(port)))

  /** Where memory is. */
  val memory = IO(new MemoryPort(port))

  /** Changes only while `idle`. */
  val context = IO(Input(new TranslationContext))

  /** Drops all translations. */
  val forget = IO(Input(Bool()))

  /** No operation of the unit is in progress: refused pages may be looked up again. */
  val calm = IO(Input(Bool()))

  /** Every access is refused. */
  val barred: Option[Bool] = Option.when(revocable)(IO(Input(Bool())))

  /** Walks. */
  val walk = IO(Decoupled(UInt(Paging.virtualPageBits.W)))
  val walked = IO(Flipped(Valid(new WalkResult)))

  /** An access that was refused. */
  val fault = IO(Valid(new TranslationFault))

  /** No request waits here. */
  val idle = IO(Output(Bool()))

  private val waiting = SkidBuffer(unit.request)
  private val number = waiting.bits.address(Paging.pageBits + Paging.virtualPageBits - 1, Paging.pageBits)

  private val kept = Reg(Vec(params.entries, new Translation))
  private val known = RegInit(VecInit(Seq.fill(params.entries)(false.B)))
  private val next = RegInit(0.U(log2Ceil(params.entries).W))
  private val hits = VecInit(kept.zip(known).map { case (entry, valid) => valid && entry.concerns(number) })
  private val hit = hits.asUInt.orR
  private val found = Mux1H(hits, kept)

  private val refusing = RegInit(false.B)
  private val refusedPage = Reg(UInt(Paging.virtualPageBits.W))
  private val refusedByMemory = Reg(Bool())
  private val refused = refusing && refusedPage === number

  // What ends a watch goes where the watch went, whose page may be another process's by now.
  private val endsWatch = waiting.bits.watch.fold(false.B)(_ && !waiting.bits.write && waiting.bits.mask === 0.U)
  private val watched = Option.when(port.watch)(Reg(UInt(port.addressBits.W)))

  private val open = barred.map(!_).getOrElse(true.B)
  private val flat = context.flat && open
  private val canonical = context.canonical(waiting.bits.address) && open
  private val allowed = canonical && hit && !refused && found.permits(context, waiting.bits.write)
  private val passes = flat || allowed || endsWatch
  private val fails = !flat && (!canonical || refused || (hit && !allowed)) && !endsWatch

  private val translated = Wire(Decoupled(chiselTypeOf(waiting.bits)))
  translated.valid := waiting.valid && passes && !forget
  translated.bits := waiting.bits
  when(!flat) {
    translated.bits.address := Cat(found.place(number), waiting.bits.address(Paging.pageBits - 1, 0)).pad(64)
  }
  watched.foreach { place =>
    when(endsWatch) { translated.bits.address := place }
    when(translated.fire && waiting.bits.watch.get && !waiting.bits.write) { place := translated.bits.address }
  }
  memory.request <> SkidBuffer(translated)

  private val refusals = Module(new Queue(UInt(port.tagBits.W), 2))
  refusals.io.enq.valid := waiting.valid && fails && !forget
  refusals.io.enq.bits := waiting.bits.tag
  waiting.ready := !forget && Mux(passes, translated.ready, fails && refusals.io.enq.ready)

  fault.valid := refusals.io.enq.fire
  fault.bits.address := waiting.bits.address
  fault.bits.write := waiting.bits.write
  fault.bits.refused := refused && refusedByMemory

  private def refuse(byMemory: Bool): Unit = {
    refusing := true.B
    refusedPage := number
    refusedByMemory := byMemory
  }

  private val walking = RegInit(false.B)
  walk.valid := waiting.valid && !passes && !fails && !walking && !forget
  walk.bits := number
  when(walk.fire) { walking := true.B }
  when(walked.valid) {
    walking := false.B
    when(walked.bits.found) {
      kept(next) := walked.bits.translation
      known(next) := true.B
      next := Mux(next === (params.entries - 1).U, 0.U, next + 1.U)
    }.otherwise { refuse(walked.bits.refused) }
  }
  // Permissions of a page may have changed before the next request: the tables are then read again.
  when(fault.valid && canonical && !refused) {
    known.zip(hits).foreach { case (valid, here) => when(here) { valid := false.B } }
    refuse(false.B)
  }
  when(calm || forget) { refusing := false.B }
  when(forget) { known.foreach(_ := false.B) }

  // Refusals have priority over memory's responses: memory can wait, and refusals have little room.
  unit.response.valid := refusals.io.deq.valid || memory.response.valid
  unit.response.bits := memory.response.bits
  when(refusals.io.deq.valid) {
    unit.response.bits.tag := refusals.io.deq.bits
    unit.response.bits.fault := true.B
  }
  refusals.io.deq.ready := unit.response.ready
  memory.response.ready := unit.response.ready && !refusals.io.deq.valid

  idle := !waiting.valid && !memory.request.valid && !refusals.io.deq.valid && !walking

  assert(PopCount(hits) <= 1.U, "two translations of a page")
  assert(!walked.valid || walking, "the end of a walk that was not asked for")
  assert(!translated.fire || flat || allowed || endsWatch, "an access got through that is not allowed")
}
