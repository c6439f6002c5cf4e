package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.access.LoadedBeat
import rackwright.memory.Sram
import rackwright.port.{MemoryPort, MemoryPortParams}
import rackwright.protobuf.table.DescriptorTable

/** Beats to read before they are asked for: `left` of them, from the beat `number` upward or downward. */
class SerializerPrefetch(numberBits: Int) extends Bundle {
  val number = UInt(numberBits.W)
  val left = UInt(SerializerCache.prefetchBits.W)
  val downward = Bool()

  /** They must have been read since that time. */
  val since = UInt(SerializerCache.timeBits.W)
}

/** Keeps beats of memory on chip: of objects, and of descriptor tables.
  *
  * Direct-mapped, a beat per line; tags and beats are macros. A lookup takes a cycle to read them, one to compare and
  * one to hand on, and one begins in every cycle. Of a request that misses and those behind it the lookups are done
  * again when its beat is here. The tag of a read is the line it goes to, so that an answer needs no search and there
  * is never more than one read per line.
  *
  * @param port
  *   shape of the memory port; its tags are the lines.
  * @param depth
  *   requests that are looked up or wait to be taken: a power of two.
  * @param banks
  *   memory is dealt out to that many caches, beat by beat; a power of two.
  * @param bank
  *   which of them this is. It counts only its own beats.
  */
class SerializerCache(port: MemoryPortParams, depth: Int, banks: Int = 1, bank: Int = 0) extends Module {
  import SerializerCache.{Lookup, Miss}
  private val lines = port.outstanding
  private val indexBits = port.tagBits
  private val numberBits = SerializerCache.numberBits(port, banks)

  /** The time, which is kept with each line, and since when what is asked for must have been read: what was read
    * earlier may have changed. Times are compared modulo 2^timeBits.
    */
  val now = IO(Input(UInt(SerializerCache.timeBits.W)))
  val since = IO(Input(UInt(SerializerCache.timeBits.W)))

  /** Forget the lines that were not read since the last `age`: given often enough that no line gets so old that its
    * time looks new.
    */
  val age = IO(Input(Bool()))

  /** Forget all lines; what is under way is dropped when it comes. Only while no request is unanswered. */
  val clear = IO(Input(Bool()))

  /** The number of the beat wanted next. */
  val request = IO(Flipped(Decoupled(UInt(numberBits.W))))

  /** Beats in the order of the requests. */
  val response = IO(Decoupled(new LoadedBeat(port.bytes)))

  /** Drop the requests that have not been answered, and take none. */
  val cancel = IO(Input(Bool()))

  /** Read these too, as far as there is time; what is too much may be dropped. */
  val prefetch = IO(Flipped(Decoupled(new SerializerPrefetch(numberBits))))

  /** Reads only. */
  val memory = IO(new MemoryPort(port))

  /** No request is unanswered and no read under way. */
  val idle = IO(Output(Bool()))

  private val beats = Sram(lines, UInt((8 * port.bytes).W))
  private val lineOf = Sram(lines, UInt((SerializerCache.timeBits + numberBits).W))
  private val present = RegInit(0.U(lines.W))
  private val faulty = RegInit(0.U(lines.W))
  private val pending = RegInit(0.U(lines.W))
  private val stale = RegInit(0.U(lines.W))
  private val young = RegInit(0.U(lines.W))
  private def index(number: UInt): UInt = number(indexBits - 1, 0) ^ number(2 * indexBits - 1, indexBits)

  // Requests that are not answered, from `oldest` on; those from `again` on are to be looked up again.
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

  // What is announced is looked up when nothing else is, and while there is room for its reads.
  private val reads = Module(new Queue(UInt(numberBits.W), 8))
  private val roomForReads = RegNext(reads.io.count <= 2.U, false.B)
  private val announced =
    Module(new Queue(new SerializerPrefetch(numberBits), SerializerCache.announced, hasFlush = true))
  private val ahead = Reg(new SerializerPrefetch(numberBits))
  private val aheadLeft = RegInit(0.U(SerializerCache.prefetchBits.W))
  announced.io.enq <> prefetch
  announced.io.deq.ready := aheadLeft === 0.U
  announced.io.flush.get := clear

  // First stage: the memories are asked. What comes behind a request that misses is looked up again.
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

  // Second stage: what they say is compared.
  private val issues = Wire(Bool())
  private val issued = Wire(UInt(numberBits.W))
  private val line = index(issued)
  private val firstLine = index(first.number)
  private val second = RegNext(first)
  private val secondWanted = RegNext(firstWanted && !stops, false.B)
  private val secondAhead = RegNext(firstAhead && !clear, false.B)
  private val tagThere = lineOf.read(firstLine, firstWanted || firstAhead)
  private val beatThere = beats.read(firstLine, firstWanted || firstAhead)
  // A tag that is written while it is read is not known.
  private val unknown = RegNext(issues && line === firstLine)
  private val wasPresent = RegNext(present(firstLine))
  private val wasFaulty = RegNext(faulty(firstLine))
  private val wasPending = RegNext(pending(firstLine))
  private val wasStale = RegNext(stale(firstLine))
  private val older = (tagThere >> numberBits) - second.since
  private val matches =
    tagThere(numberBits - 1, 0) === second.number && !older(SerializerCache.timeBits - 1) && !unknown

  // Third stage: beats are handed on; others have to be read.
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

  // An answer of memory that is waited for passes by the memory on chip.
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

  // Reads: of a request that missed, or of what was announced unless something else was asked for its line just now.
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
  // A fault is told once: whoever asks again asks memory again.
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

  /** A beat to look for, and since when it must have been read. */
  private class Lookup(numberBits: Int) extends Bundle {
    val number = UInt(numberBits.W)
    val since = UInt(SerializerCache.timeBits.W)
  }

  /** What becomes of a request that missed: the state of its line is looked at, its beat is asked for, was just asked
    * for, is awaited.
    */
  private object Miss extends ChiselEnum {
    val none, look, ask, sent, await = Value
  }

  /** Bits of the number of beats that may be announced at once. */
  val prefetchBits: Int = 5

  /** Bits of a time. */
  val timeBits: Int = 7

  /** Announcements that wait. */
  private val announced: Int = 4

  /** Bits of the number of a beat of one of `banks` caches. */
  def numberBits(port: MemoryPortParams, banks: Int): Int =
    DescriptorTable.addressBits - port.offsetBits - log2Ceil(banks)
}
