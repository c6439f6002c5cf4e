package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.access.LoadedBeat
import rackwright.memory.Sram
import rackwright.port.{MemoryPort, MemoryPortParams}
import rackwright.protobuf.table.DescriptorTable

/** Beats to prefetch: `left` of them, from the beat `number` upward or downward. */
class SerializerPrefetch(numberBits: Int) extends Bundle {
  val number = UInt(numberBits.W)
  val left = UInt(SerializerCache.prefetchBits.W)
  val downward = Bool()

  /** Cached copies from before this time are stale. */
  val since = UInt(SerializerCache.timeBits.W)
}

/** A cache of beats of memory: of objects, and of descriptor tables.
  *
  * Direct-mapped, with one beat per line; tags and data are in SRAM macros. A lookup takes one cycle to read them, one
  * to compare, and one to respond; one starts in every cycle. After a miss, its lookup and the later ones are repeated
  * when the beat has arrived. The tag of a read is the index of its line, so that a response needs no search, and a
  * line never has more than one outstanding read.
  *
  * @param port
  *   parameters of the memory port; one tag for each line.
  * @param depth
  *   requests between lookup and response: a power of two.
  * @param banks
  *   number of caches between which memory is interleaved, beat by beat; a power of two.
  * @param bank
  *   the index of this cache. Numbers of beats count only its own ones.
  */
class SerializerCache(port: MemoryPortParams, depth: Int, banks: Int = 1, bank: Int = 0) extends Module {
  import SerializerCache.{Lookup, Miss}
  private val lines = port.outstanding
  private val indexBits = port.tagBits
  private val numberBits = SerializerCache.numberBits(port, banks)

  /** The current time, which is stored with each line, and the time before which copies are stale: older data may have
    * changed. Times are compared modulo 2^timeBits.
    */
  val now = IO(Input(UInt(SerializerCache.timeBits.W)))
  val since = IO(Input(UInt(SerializerCache.timeBits.W)))

  /** Invalidate lines that were not read since the previous `age`: raised often enough that no line is mistaken for a
    * new one when times wrap around.
    */
  val age = IO(Input(Bool()))

  /** Invalidate all lines; outstanding reads are discarded when they arrive. Only while every request has been
    * answered.
    */
  val clear = IO(Input(Bool()))

  /** The number of the next beat. */
  val request = IO(Flipped(Decoupled(UInt(numberBits.W))))

  /** Beats in the order of the requests. */
  val response = IO(Decoupled(new LoadedBeat(port.bytes)))

  /** Cancel the requests that have not been answered, and accept none. */
  val cancel = IO(Input(Bool()))

  /** Beats to prefetch with low priority; excess prefetches may be dropped. */
  val prefetch = IO(Flipped(Decoupled(new SerializerPrefetch(numberBits))))

  /** Reads only. */
  val memory = IO(new MemoryPort(port))

  /** Every request has been answered, and no read is outstanding. */
  val idle = IO(Output(Bool()))

  private val beats = Sram(lines, UInt((8 * port.bytes).W))
  private val lineOf = Sram(lines, UInt((SerializerCache.timeBits + numberBits).W))
  private val present = RegInit(0.U(lines.W))
  private val faulty = RegInit(0.U(lines.W))
  private val pending = RegInit(0.U(lines.W))
  private val stale = RegInit(0.U(lines.W))
  private val young = RegInit(0.U(lines.W))
  private def index(number: UInt): UInt = number(indexBits - 1, 0) ^ number(2 * indexBits - 1, indexBits)

  // Requests without a response, starting at `oldest`; lookups are repeated from `again` on.
  private val pointerBits = log2Ceil(depth)
  private val asked = Reg(Vec(depth, UInt(numberBits.W)))
  private val oldest = RegInit(0.U((pointerBits + 1).W))
  private val newest = RegInit(0.U((pointerBits + 1).W))
  private val again = RegInit(0.U((pointerBits + 1).W))
  private val replays = RegInit(false.B)
  private val held = RegInit(0.U((pointerBits + 1).W))
  private def askedAt(place: UInt): UInt = asked(place(pointerBits - 1, 0))
  private val miss = RegInit(Miss.none)
  request.ready := miss === Miss.none && !replays && held =/= depth.U
  assert(!cancel || !request.fire, "a request comes while requests are dropped")
  when(request.fire) {
    asked(newest(pointerBits - 1, 0)) := request.bits
    newest := newest + 1.U
  }

  // Prefetches are looked up when there is no other lookup, and while there is room for their reads.
  private val reads = Module(new Queue(UInt(numberBits.W), 8))
  private val roomForReads = RegNext(reads.io.count <= 2.U, false.B)
  private val announced =
    Module(new Queue(new SerializerPrefetch(numberBits), SerializerCache.announced, hasFlush = true))
  private val ahead = Reg(new SerializerPrefetch(numberBits))
  private val aheadLeft = RegInit(0.U(SerializerCache.prefetchBits.W))
  announced.io.enq <> prefetch
  announced.io.deq.ready := aheadLeft === 0.U
  announced.io.flush.get := clear

  // First stage: the SRAMs are addressed. Requests behind a miss are looked up again.
  private val misses = Wire(Bool())
  private val stops = misses || cancel
  private val replayed = replays && again =/= newest
  private val takesAhead = !request.fire && !replayed && aheadLeft =/= 0.U && roomForReads
  private val first = Reg(new Lookup(numberBits))
  private val firstWanted = RegInit(false.B)
  private val firstAhead = RegInit(false.B)
  firstWanted := (request.fire || replayed) && !stops
  firstAhead := takesAhead && !clear
  first.number := Mux(request.fire, request.bits, Mux(replayed, askedAt(again), ahead.number))
  first.since := Mux(takesAhead, ahead.since, since)
  when(replayed) { again := again + 1.U }
  when(replays && again === newest) { replays := false.B }
  when(announced.io.deq.fire) {
    ahead := announced.io.deq.bits
    aheadLeft := announced.io.deq.bits.left
  }.elsewhen(takesAhead) {
    ahead.number := Mux(ahead.downward, ahead.number - 1.U, ahead.number + 1.U)
    aheadLeft := aheadLeft - 1.U
  }
  when(clear) { aheadLeft := 0.U }

  // Second stage: the tags are compared.
  private val issues = Wire(Bool())
  private val issued = Wire(UInt(numberBits.W))
  private val line = index(issued)
  private val firstLine = index(first.number)
  private val second = RegNext(first)
  private val secondWanted = RegNext(firstWanted && !stops, false.B)
  private val secondAhead = RegNext(firstAhead && !clear, false.B)
  private val tagThere = lineOf.read(firstLine, firstWanted || firstAhead)
  private val beatThere = beats.read(firstLine, firstWanted || firstAhead)
  // A tag that is written in the cycle of its read is undefined.
  private val unknown = RegNext(issues && line === firstLine)
  private val wasPresent = RegNext(present(firstLine))
  private val wasFaulty = RegNext(faulty(firstLine))
  private val wasPending = RegNext(pending(firstLine))
  private val wasStale = RegNext(stale(firstLine))
  private val older = (tagThere >> numberBits) - second.since
  private val matches =
    tagThere(numberBits - 1, 0) === second.number && !older(SerializerCache.timeBits - 1) && !unknown

  // Third stage: hits respond; misses are read from memory.
  private val third = RegNext(second.number)
  private val thirdLine = RegNext(index(second.number))
  private val thirdWanted = RegNext(secondWanted && !stops, false.B)
  private val thirdAhead = RegNext(secondAhead && !clear, false.B)
  private val hit = RegNext(matches && wasPresent)
  private val comes = RegNext(matches && wasPending && !wasStale)
  private val isPending = RegNext(wasPending)
  private val isFault = RegNext(wasFaulty)
  private val thirdBeat = RegEnable(beatThere, secondWanted)
  misses := thirdWanted && !hit

  // The request that missed: whether its line is free, the read of its beat, and the wait for it.
  private val missed = Reg(UInt(numberBits.W))
  private val missedLine = Reg(UInt(indexBits.W))
  private val own = Reg(Bool())
  private val blocked = RegNext(pending(missedLine))
  private val asks = miss === Miss.ask && !blocked && !own
  when(misses) {
    missed := third
    missedLine := thirdLine
    own := comes
    miss := Miss.look
    replays := false.B
  }
  private def lookAgain(from: UInt): Unit = {
    miss := Miss.none
    replays := true.B
    again := from
  }
  switch(miss) {
    is(Miss.look) { miss := Miss.ask }
    is(Miss.ask) {
      when(blocked) { miss := Miss.await }
        .elsewhen(own) { lookAgain(oldest) }
        .elsewhen(reads.io.enq.ready) {
          own := true.B
          miss := Miss.sent
        }
    }
    is(Miss.sent) { miss := Miss.await }
    is(Miss.await) {
      when(!blocked) { lookAgain(oldest) }
    }
  }

  // A response to a waiting miss bypasses the SRAM.
  private val answer = memory.response.bits
  private val arrives = memory.response.valid && miss =/= Miss.none && own && answer.tag === missedLine
  when(arrives) { lookAgain(oldest + 1.U) }
  private val answers = Module(new Queue(new LoadedBeat(port.bytes), depth, hasFlush = true))
  private val hands = (thirdWanted && hit) || arrives
  answers.io.flush.get := cancel
  answers.io.enq.valid := hands && !cancel
  answers.io.enq.bits.data := Mux(arrives, answer.data, thirdBeat)
  answers.io.enq.bits.fault := Mux(arrives, answer.fault, isFault)
  response <> answers.io.deq
  when(hands) { oldest := oldest + 1.U }
  held := held + request.fire - response.fire
  when(cancel) {
    miss := Miss.none
    replays := false.B
    oldest := newest
    held := 0.U
  }

  // Reads: for a miss, or for a prefetch unless another read of its line was just issued.
  private val lastIssue = RegNext(issues, false.B)
  private val lastLine = RegNext(line)
  private val issueBefore = RegNext(lastIssue, false.B)
  private val lineBefore = RegNext(lastLine)
  private val isRecent = (lastIssue && lastLine === thirdLine) || (issueBefore && lineBefore === thirdLine)
  private val isAwaited = miss =/= Miss.none && missedLine === thirdLine
  private val wantsAhead = thirdAhead && !hit && !isPending && !isRecent && !isAwaited
  reads.io.enq.valid := asks || wantsAhead
  issued := Mux(asks, missed, third)
  reads.io.enq.bits := issued
  issues := reads.io.enq.fire
  when(issues) { lineOf.write(line, now ## issued) }

  private val read = reads.io.deq.bits
  memory.request.valid := reads.io.deq.valid
  reads.io.deq.ready := memory.request.ready
  private val beatNumber = if (banks == 1) read else Cat(read, bank.U(log2Ceil(banks).W))
  memory.request.bits.read(beatNumber << port.offsetBits, index(read))

  memory.response.ready := true.B
  when(memory.response.valid) { beats.write(answer.tag, answer.data) }
  private def bit(condition: Bool, line: UInt): UInt = Mux(condition, UIntToOH(line, lines), 0.U(lines.W))
  private val sent = bit(issues, line)
  private val came = bit(memory.response.valid, answer.tag)
  private val useful = came & ~stale
  // A fault is not cached: the next request reads memory again.
  private val tells = RegNext(answers.io.enq.fire && answers.io.enq.bits.fault, false.B)
  private val told = bit(tells, RegNext(Mux(arrives, missedLine, thirdLine)))
  private val kept = Mux(age, young, ~0.U(lines.W))
  present := Mux(clear, 0.U, ((present & ~sent) | useful) & kept & ~told)
  young := Mux(age, sent, young | sent)
  faulty := (faulty & ~came) | bit(memory.response.valid && answer.fault, answer.tag)
  pending := (pending & ~came) | sent
  stale := Mux(clear, (pending & ~came) | sent, (stale | (pending & ~kept)) & ~came)

  private val looksAhead = aheadLeft =/= 0.U || announced.io.deq.valid || firstAhead || secondAhead || thirdAhead
  idle := held === 0.U && pending === 0.U && !looksAhead
}

/** Constants of a [[SerializerCache]]. */
object SerializerCache {

  /** A beat to look up, and the time before which copies are stale. */
  private class Lookup(numberBits: Int) extends Bundle {
    val number = UInt(numberBits.W)
    val since = UInt(SerializerCache.timeBits.W)
  }

  /** The steps of a miss: check the state of its line, request the beat, one cycle of delay, wait for the beat. */
  private object Miss extends ChiselEnum {
    val none, look, ask, sent, await = Value
  }

  /** Width of the number of beats of a prefetch. */
  val prefetchBits: Int = 5

  /** Width of a time. */
  val timeBits: Int = 7

  /** Maximum number of waiting prefetches. */
  private val announced: Int = 4

  /** Width of the number of a beat in one of `banks` caches. */
  def numberBits(port: MemoryPortParams, banks: Int): Int =
    DescriptorTable.addressBits - port.offsetBits - log2Ceil(banks)
}
