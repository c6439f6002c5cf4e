package rackwright.protobuf

import chisel3._
import chisel3.util._

import rackwright.memory.{LoadedBeat, MemoryPort, MemoryPortParams}

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
  * Direct-mapped, a beat per line. A hit is answered in the cycle after its request, so that a consumer which takes
  * each answer at once gets one per cycle. The tag of a read is the line it goes to, so that an answer needs no search
  * and there is never more than one read per line.
  *
  * @param port
  *   shape of the memory port; its tags are the lines.
  * @param banks
  *   memory is dealt out to that many caches, beat by beat; a power of two.
  * @param bank
  *   which of them this is. It counts only its own beats.
  */
class SerializerCache(port: MemoryPortParams, banks: Int = 1, bank: Int = 0) extends Module {
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

  /** Forget all lines; what is under way is dropped when it comes. */
  val clear = IO(Input(Bool()))

  /** The number of the beat wanted next. */
  val request = IO(Flipped(Decoupled(UInt(numberBits.W))))

  /** Beats in the order of the requests. */
  val response = IO(Decoupled(new LoadedBeat(port.bytes)))

  /** Drop the request that has not been answered. */
  val cancel = IO(Input(Bool()))

  /** Read these too, as far as there is time; what is too much may be dropped. */
  val prefetch = IO(Flipped(Decoupled(new SerializerPrefetch(numberBits))))

  /** Reads only. */
  val memory = IO(new MemoryPort(port))

  /** No request is unanswered and no read under way. */
  val idle = IO(Output(Bool()))

  private val beats = SyncReadMem(lines, UInt((8 * port.bytes).W))
  private val lineOf = Mem(lines, UInt((SerializerCache.timeBits + numberBits).W))
  private val present = RegInit(0.U(lines.W))
  private val faulty = RegInit(0.U(lines.W))
  private val pending = RegInit(0.U(lines.W))
  private val stale = RegInit(0.U(lines.W))
  private val young = RegInit(0.U(lines.W))

  /** The line at that place is that beat, read or asked for not too early. */
  private def matches(place: UInt, number: UInt, since: UInt): Bool = {
    val line = lineOf.read(place)
    val age = (line >> numberBits) - since
    line(numberBits - 1, 0) === number && !age(SerializerCache.timeBits - 1)
  }
  private def index(number: UInt): UInt = number(indexBits - 1, 0) ^ number(2 * indexBits - 1, indexBits)

  private val busy = RegInit(false.B)
  private val asked = Reg(UInt(numberBits.W))
  private val looked = Mux(request.fire, request.bits, asked)
  private val found = RegNext(matches(index(looked), looked, since) && present(index(looked)) && !clear)
  private val isFault = RegNext(faulty(index(looked)))

  // An answer of memory that is waited for passes by the memory on chip.
  private val answer = memory.response.bits
  private val arrives = memory.response.valid && answer.tag === index(asked) && !stale(answer.tag) && !clear &&
    pending(answer.tag) && matches(index(asked), asked, since)
  response.valid := busy && (found || arrives)
  response.bits.data := Mux(found, beats.read(index(looked)), answer.data)
  response.bits.fault := Mux(found, isFault, answer.fault)
  request.ready := !busy || response.fire || cancel
  when(request.fire) { asked := request.bits }
  busy := request.fire || (busy && !response.fire && !cancel)

  // A request that misses is read first, then what was announced.
  private val askedIndex = index(asked)
  private val known = matches(askedIndex, asked, since) && (present(askedIndex) || pending(askedIndex))
  private val wanted = busy && !found && !known && !pending(askedIndex)
  private val announced =
    Module(new Queue(new SerializerPrefetch(numberBits), SerializerCache.announced, flow = true, hasFlush = true))
  private val ahead = Reg(new SerializerPrefetch(numberBits))
  private val aheadLeft = RegInit(0.U(SerializerCache.prefetchBits.W))
  announced.io.enq <> prefetch
  announced.io.deq.ready := aheadLeft === 0.U
  announced.io.flush.get := clear
  private val aheadIndex = index(ahead.number)
  private val aheadKnown = matches(aheadIndex, ahead.number, ahead.since) && present(aheadIndex)
  private val aheadWanted = aheadLeft =/= 0.U && !aheadKnown && !pending(aheadIndex)
  private val number = Mux(wanted, asked, ahead.number)
  private val line = Mux(wanted, askedIndex, aheadIndex)

  memory.request.valid := wanted || aheadWanted
  private val beatNumber = if (banks == 1) number else Cat(number, bank.U(log2Ceil(banks).W))
  memory.request.bits.read(beatNumber << port.offsetBits, line)
  when(memory.request.fire) { lineOf.write(line, now ## number) }
  when(announced.io.deq.fire) {
    ahead := announced.io.deq.bits
    aheadLeft := announced.io.deq.bits.left
  }.elsewhen(aheadLeft =/= 0.U && !wanted && (!aheadWanted || memory.request.ready)) {
    ahead.number := Mux(ahead.downward, ahead.number - 1.U, ahead.number + 1.U)
    aheadLeft := aheadLeft - 1.U
  }
  when(clear) { aheadLeft := 0.U }

  memory.response.ready := true.B
  when(memory.response.valid) { beats.write(answer.tag, answer.data) }
  private def bit(condition: Bool, line: UInt): UInt = Mux(condition, UIntToOH(line, lines), 0.U(lines.W))
  private val sent = bit(memory.request.fire, line)
  private val came = bit(memory.response.valid, answer.tag)
  private val useful = bit(memory.response.valid && !stale(answer.tag), answer.tag)
  // A fault is told once: whoever asks again asks memory again.
  private val told = bit(response.valid && (response.ready || cancel) && response.bits.fault, askedIndex)
  private val kept = Mux(age, young, ~0.U(lines.W))
  present := Mux(clear, 0.U, ((present & ~sent) | useful) & kept & ~told)
  young := Mux(age, sent, young | sent)
  faulty := (faulty & ~came) | bit(memory.response.valid && answer.fault, answer.tag)
  pending := (pending & ~came) | sent
  stale := Mux(clear, (pending & ~came) | sent, (stale | (pending & ~kept)) & ~came)

  idle := !busy && pending === 0.U && aheadLeft === 0.U && !announced.io.deq.valid
}

/** Constants of a [[SerializerCache]]. */
object SerializerCache {

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
