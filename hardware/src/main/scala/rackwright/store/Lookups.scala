package rackwright.store

import chisel3._
import chisel3.util._

import rackwright.port.MemoryPort

/** Performs several lookups concurrently: each has one read outstanding, whose response determines the next read.
  *
  * A lookup occupies a slot from `start` until its outcome is accepted; outcomes leave in the order of the starts.
  */
class Lookups(params: Params) extends Module {
  private val slots = params.lookups

  val region = IO(Input(new Region))

  /** The slot of the next lookup, valid while it is free. */
  val slot = IO(Valid(UInt(params.slotBits.W)))
  val start = IO(Flipped(Decoupled(new Lookup)))
  val keyRead = IO(Valid(new KeyLine(params)))
  val keyLine = IO(Input(Vec(Grain.words, UInt(64.W))))
  val found = IO(Decoupled(new Found))
  val memory = IO(new MemoryPort(params.index))

  /** No slot is occupied. */
  val empty = IO(Output(Bool()))

  private val sought = Reg(Vec(slots, new Sought))
  private val walks = Reg(Vec(slots, new Walk))
  private val ended = RegInit(VecInit.fill(slots)(false.B))
  private val tail, head = RegInit(0.U(params.slotBits.W))
  private val held = RegInit(0.U((params.slotBits + 1).W))

  // A new lookup: its bucket is read in the next cycle, unless a response issues a read then.
  private val beginner = Module(new Queue(new Lookup, 1, pipe = true))
  private val asks = Module(new Queue(new Ask(params), slots))
  private val judged = RegInit(0.U.asTypeOf(Valid(new Judged(params))))
  slot.valid := held =/= slots.U && !beginner.io.deq.valid
  slot.bits := tail
  beginner.io.enq <> start
  private val begins = beginner.io.deq
  private val bucket = begins.bits.hash(Region.mostBucketBits - 1, 0) & region.bucketMask
  begins.ready := !judged.valid
  when(begins.fire) {
    val (mine, walk) = (sought(tail), walks(tail))
    mine.hash := begins.bits.hash >> 32
    mine.lane := bucket
    mine.keyBytes := begins.bits.keyBytes
    mine.operation := begins.bits.operation
    mine.tag := begins.bits.tag
    mine.refused := begins.bits.refused
    walk := 0.U.asTypeOf(walk)
    walk.step := Step.bucket
    walk.status := begins.bits.status
    ended(tail) := begins.bits.refused
    tail := tail + 1.U
  }

  // Computes addresses.
  private val placed = Module(new Queue(new Ask(params), 1, pipe = true))
  private val address = Reg(UInt(64.W))
  placed.io.enq <> asks.io.deq
  when(placed.io.enq.fire) { address := Grain.address(region.base, placed.io.enq.bits.place) }
  memory.request.valid := placed.io.deq.valid
  placed.io.deq.ready := memory.request.ready
  memory.request.bits.read(address, placed.io.deq.bits.slot)

  // Pipeline stages of a response: the state of its lookup, the line of the key, and the comparison, in one cycle each.
  memory.response.ready := true.B
  private val response = RegNext(memory.response.bits)
  private val arrived = RegNext(memory.response.valid, false.B)
  private val first = Reg(new Answered(params))
  private val isFirst = RegNext(arrived, false.B)
  private val mySlot = response.tag(params.slotBits - 1, 0)
  first.slot := mySlot
  first.data := response.data
  first.fault := response.fault
  first.sought := sought(mySlot)
  first.walk := walks(mySlot)
  keyRead.valid := isFirst
  keyRead.bits.slot := first.slot
  keyRead.bits.line := first.walk.line
  private val second = RegNext(first)
  private val isSecond = RegNext(isFirst, false.B)
  judged.valid := isSecond
  judged.bits.answered := second
  judged.bits.behind := second.behind
  judged.bits.isEnd := second.behind === 0.U
  judged.bits.isInside := region.holds(second.behind)
  judged.bits.isItem := second.isItem(region)
  judged.bits.isLike := second.isLike
  judged.bits.isExpired := second.isExpired(region)
  private val words = KeyLines.words(second.sought.keyBytes)
  judged.bits.isEqual := KeyLines.mask(words, second.walk.line).zip(keyLine).zipWithIndex.map {
    case ((mine, word), i) => !mine || word === second.data(64 * i + 63, 64 * i)
  }.reduce(_ && _)

  // The decision.
  private val now = judged.bits
  private val before = now.answered.walk
  private val after = WireDefault(before)
  private val ask = WireDefault(false.B)
  private val place = WireDefault(now.behind)
  private def end(status: UInt): Unit = {
    after.status := status
    ask := false.B
  }
  private def follow(): Unit = {
    after.previous := before.item
    after.item := now.behind
    after.items := before.items + 1.U
    after.step := Step.header
    after.line := 0.U
    ask := true.B
    when(now.isEnd) { end(Outcome.missing) }
      .elsewhen(!now.isInside || before.items === Limits.steps.U) { end(Outcome.broken) }
  }
  private def compare(line: UInt): Unit = {
    after.step := Step.key
    after.line := line
    ask := true.B
    place := before.item + 1.U + line
  }
  private val header = now.answered.header
  private val isLastLine = before.line === KeyLines.last(KeyLines.words(now.answered.sought.keyBytes))
  switch(before.step) {
    is(Step.bucket) { follow() }
    is(Step.header) {
      when(!now.isItem) { end(Outcome.broken) }
        .elsewhen(now.isLike) { compare(0.U) }
        .otherwise { follow() }
      after.next := header.next
      after.grains := header.grains
      after.valueBytes := header.valueBytes
      after.flags := header.flags
      after.version := header.version
      after.expiry := header.expiry
      after.expired := now.isExpired
    }
    is(Step.key) {
      when(!now.isEqual) { follow() }
        .elsewhen(isLastLine) { end(Outcome.ok) }
        .otherwise { compare(before.line + 1.U) }
    }
  }
  when(now.answered.fault) { end(Outcome.accessFault) }
  when(judged.valid) {
    walks(now.answered.slot) := after
    ended(now.answered.slot) := !ask
  }

  private val asksBucket = begins.fire && !begins.bits.refused
  asks.io.enq.valid := Mux(judged.valid, ask, asksBucket)
  asks.io.enq.bits.slot := Mux(judged.valid, now.answered.slot, tail)
  asks.io.enq.bits.place := Mux(judged.valid, place, Grain.table.U + (bucket >> 3))
  assert(!asks.io.enq.valid || asks.io.enq.ready, "a lookup asks twice")

  // Outcomes, in order.
  private val output = Module(new Queue(new Found, 1, pipe = true))
  private val leaves = held =/= 0.U && ended(head) && output.io.enq.ready
  output.io.enq.valid := leaves
  output.io.enq.bits.sought := sought(head)
  output.io.enq.bits.walk := walks(head)
  found <> output.io.deq
  when(leaves) {
    ended(head) := false.B
    head := head + 1.U
  }
  held := held + begins.fire - leaves
  empty := held === 0.U && !begins.valid && !found.valid
}
