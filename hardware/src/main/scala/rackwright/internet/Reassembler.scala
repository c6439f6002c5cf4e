package rackwright.internet

import chisel3._
import chisel3.util._

import rackwright.memory.Sram

/** Puts datagrams together from their fragments (RFC 791, 3.2; RFC 1122, 3.3.2).
  *
  * A fragment waits four cycles at `in` until it is known where its bytes belong; those are also the flits of its
  * headers, so that the fragments after it need not wait. It is kept once its last flit has shown that it is good.
  * Bytes that have arrived are never written again: a repetition is dropped, and a fragment that contradicts others
  * ends its datagram. A new datagram takes the place of the one that began first.
  */
class Reassembler(params: Params) extends Module {
  private val (places, placeBits) = (params.reassembly, Fragment.placeBits(params))
  private val entryBits = log2Ceil(places) max 1
  private val flitBits = placeBits - 1

  /** Fragments only. */
  val in = IO(Flipped(Decoupled(new Piece(new PacketInfo))))
  val settings = IO(Input(new Settings(params)))

  /** Whole datagrams, each with the headers of its first fragment. */
  val out = IO(Decoupled(new Piece(new PacketInfo)))
  val ended = IO(Valid(UInt(Cause.width.W)))

  /** A datagram begins to leave. */
  val assembled = IO(Output(Bool()))

  /** Datagrams that end without being whole: up to one for each place. */
  val abandoned = IO(Output(Vec(places, Bool())))

  /** No fragment is here, and no datagram waits for one. */
  val idle = IO(Output(Bool()))

  private val entries = RegInit(VecInit.fill(places)(0.U.asTypeOf(new Assembly(params))))
  private val ram = Sram(places * params.bufferFlits, UInt(64.W))
  private val reader = Module(new ReassemblyReader(params))
  abandoned.foreach(_ := false.B)
  for ((entry, gone) <- entries.zip(abandoned)) when(entry.waits) {
    entry.timer := entry.timer - 1.U
    when(entry.timer === 0.U) {
      entry.waits := false.B
      gone := true.B
    }
  }

  // The fragment at `in`: its datagram, then where its flits belong, then what they mean for that.
  import Reassembler.Step._
  private val state = RegInit(look)
  private val packet = in.bits.about
  private val matches = Reg(Vec(places, Bool()))
  private val entry = Reg(UInt(entryBits.W))
  private val isNew = Reg(Bool())
  private val isWrong = Reg(Bool())
  private val run = Reg(new Run(placeBits))
  private val bytes = Reg(UInt(16.W))
  private val youngest = RegInit(0.U(entryBits.W))
  private val now = entries(entry)
  private val next = if (places == 1) 0.U else Mux(youngest === (places - 1).U, 0.U, youngest + 1.U)
  private val free = VecInit(entries.map(one => !one.waits && !one.whole))

  private val key = FragmentKey.of(packet)
  private val end = packet.fragmentOffset +& Fragment.flits(packet.length)
  switch(state) {
    is(look) {
      matches := entries.map(one => one.waits && one.key.asUInt === key.asUInt)
      when(in.valid) { state := range }
    }
    is(range) {
      isNew := !matches.asUInt.orR
      entry := Mux(matches.asUInt.orR, OHToUInt(matches), Mux(free.asUInt.orR, PriorityEncoder(free), next))
      run.begin := packet.fragmentOffset
      run.end := end
      run.present := true.B
      bytes := Cat(packet.fragmentOffset, 0.U(3.W)) + packet.length
      isWrong := packet.length === 0.U || packet.moreFragments && packet.length(2, 0) =/= 0.U ||
        end > params.bufferFlits.U
      state := judge
    }
    is(judge) { state := decide }
    is(decide) { state := store }
    is(store) { when(in.fire && in.bits.flit.last) { state := look } }
  }

  private val isLast = !packet.moreFragments
  private val held = RegNext(VecInit(now.runs.map(_.holds(run))).asUInt.orR)
  private val overlaps = RegNext(VecInit(now.runs.map(!_.isApart(run))).asUInt.orR)
  private val after = RegNext(VecInit(now.runs.map(one => one.present && one.end === run.begin)))
  private val before = RegNext(VecInit(now.runs.map(one => one.present && one.begin === run.end)))
  private val empty = RegNext(VecInit(now.runs.map(!_.present)))
  private val contradicts = RegNext(
    now.ends && (run.end > now.flits || isLast && bytes =/= now.bytes) ||
      isLast && VecInit(now.runs.map(one => one.present && one.end > run.end)).asUInt.orR
  )
  private val hasRoom = after.asUInt.orR || before.asUInt.orR || empty.asUInt.orR

  private val keeps = RegInit(false.B)
  private val at = Reg(UInt(flitBits.W))
  when(state === decide) {
    // There may be no place, or a datagram may just have become whole or been given up.
    val isLate = Mux(isNew, now.whole, !now.waits)
    val breaks = !isNew && !isWrong && !isLate && (overlaps && !held || contradicts)
    keeps := !isWrong && !isLate && !breaks && (isNew || !held && hasRoom)
    at := run.begin
    when(breaks) {
      now.waits := false.B
      abandoned(entry) := true.B
    }
    when(isNew && !isWrong && !isLate) {
      abandoned(entry) := now.waits
      youngest := entry
      now.waits := true.B
      now.key := key
      now.runs.foreach(_.present := false.B)
      now.ends := false.B
      now.timer := settings.reassembly
    }
  }

  in.ready := state === store
  // A datagram may be given up while a fragment of it arrives.
  private val stores = keeps && now.waits
  when(in.fire && stores) { ram.write(place(entry, at), in.bits.flit.data) }
  when(in.fire) { at := at + 1.U }
  private val isGood = packet.cause === Cause.none
  when(in.fire && in.bits.flit.last && stores) {
    when(isGood) { commit() }.elsewhen(isNew) { now.waits := false.B }
  }
  for (one <- entries) {
    val all = VecInit(one.runs.map(run => run.present && run.begin === 0.U && run.end === one.flits)).asUInt.orR
    when(one.waits && one.ends && all) {
      one.waits := false.B
      one.whole := true.B
    }
  }
  ended.valid := in.fire && in.bits.flit.last
  ended.bits := Cause.first(packet.cause, stores -> "fragments", true.B -> "dropped_fragment")

  reader.entries := entries
  reader.word := ram.read(place(reader.entry, reader.address), reader.reads)
  when(reader.done) { entries(reader.entry).whole := false.B }
  assembled := reader.begins
  out <> reader.out
  idle := state === look && !in.valid && !entries.map(one => one.waits || one.whole).reduce(_ || _)

  private def place(entry: UInt, flit: UInt): UInt = if (places == 1) flit else Cat(entry, flit(flitBits - 1, 0))

  /** Notes that the flits of `run` have arrived. */
  private def commit(): Unit = {
    val (joins, precedes) = (!isNew && after.asUInt.orR, !isNew && before.asUInt.orR)
    val newEnd = Mux(precedes, Mux1H(before, now.runs.map(_.end)), run.end)
    val target = Mux(isNew, 1.U, PriorityEncoderOH(empty.asUInt))
    for ((one, i) <- now.runs.zipWithIndex) {
      when(!isNew && after(i)) {
        one.end := newEnd
      }.elsewhen(!isNew && before(i)) {
        when(joins) { one.present := false.B }.otherwise { one.begin := run.begin }
      }.elsewhen(!joins && !precedes && target(i)) {
        one := run
      }
    }
    when(run.begin === 0.U) { now.packet := packet }
    when(isLast) {
      now.ends := true.B
      now.bytes := bytes
    }
  }
}

private object Reassembler {

  /** What happens to the fragment at the input. */
  object Step extends ChiselEnum {
    val look, range, judge, decide, store = Value
  }
}
