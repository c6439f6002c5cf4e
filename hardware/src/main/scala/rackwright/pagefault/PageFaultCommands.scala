package rackwright.pagefault

import chisel3._
import chisel3.util._

import rackwright.rocc.CommandPort

/** Understands commands: those of software, which are answered at once, and walks, which are answered when the page has
  * come. Holds the queues between software and the rest.
  */
class PageFaultCommands(params: Params) extends Module {
  import PageFaultCommands.Functs

  val command = IO(new CommandPort)
  val walk = IO(Decoupled(new WalkRequest))
  val walked = IO(Flipped(Decoupled(UInt(Cause.width.W))))
  val freeFrame = IO(Decoupled(UInt(Sizes.frameBits.W)))
  val newPage = IO(Flipped(Decoupled(new NewPage)))
  val room = IO(Output(UInt(log2Ceil(params.queueEntries + 1).W)))
  val returned = IO(Flipped(Decoupled(new ReturnedFrame)))
  val evict = IO(Decoupled(new Eviction))
  val addresses = IO(Output(new Addresses))
  val tick = IO(Output(Bool()))

  /** A frame has come back, and software has not taken it yet. */
  val interrupt = IO(Output(Bool()))
  val idle = IO(Output(Bool()))

  private val freeFrames = Module(new Queue(UInt(Sizes.frameBits.W), params.queueEntries))
  private val newPages = Module(new Queue(new NewPage, params.queueEntries))
  private val back = Module(new Queue(new ReturnedFrame, params.queueEntries))
  freeFrame <> Queue(freeFrames.io.deq, 1)
  newPages.io.enq <> newPage
  back.io.enq <> returned
  room := RegNext(params.queueEntries.U - newPages.io.count, 0.U)
  interrupt := back.io.deq.valid

  private val request = Queue(command.request, 1, pipe = true)
  private val bits = request.bits
  private def is(funct: Int): Bool = bits.funct === funct.U
  private val names = Reg(new Addresses)
  addresses := names
  private val taken = Reg(UInt(64.W))

  // Head entries stand in registers: what software reads is chosen from few places.
  private val newHead = Queue(newPages.io.deq, 1)
  private val backHead = Queue(back.io.deq, 1)
  private val awaited = RegInit(false.B)
  private val awaitedRd = Reg(UInt(5.W))
  private val answers = Module(new Queue(chiselTypeOf(command.response.bits), 2))
  command.response <> answers.io.deq

  private val walks = is(Functs.walk) || is(Functs.fetch) || is(Functs.prefetch)
  private val answersNow = bits.xd && !(walks && !is(Functs.prefetch))
  // Time passes while a walk is awaited, too.
  private val ticks = is(Functs.tick) && !bits.xd
  private val accepted = ticks || (!awaited && answers.io.enq.ready && (!walks || walk.ready))
  request.ready := accepted
  private val obeyed = request.fire

  walk.valid := request.valid && !awaited && answers.io.enq.ready && walks
  walk.bits.place := bits.rs1(Sizes.addressBits - 1, 3)
  walk.bits.software := !is(Functs.walk)
  walk.bits.awaited := !is(Functs.prefetch)
  when(obeyed && walks && !is(Functs.prefetch)) {
    awaited := true.B
    awaitedRd := bits.rd
  }
  freeFrames.io.enq.valid := obeyed && is(Functs.giveFrame)
  freeFrames.io.enq.bits := bits.rs1(Sizes.addressBits - 1, Sizes.pageBits)
  // Registered, as the slots' choice is deep; software sees the one place less.
  private val evictions = Module(new Queue(new Eviction, 2))
  evict <> evictions.io.deq
  evictions.io.enq.valid := obeyed && is(Functs.evict)
  evictions.io.enq.bits.frame := bits.rs1(Sizes.addressBits - 1, Sizes.pageBits)
  evictions.io.enq.bits.entry := bits.rs2
  newHead.ready := obeyed && is(Functs.takeNew)
  when(newHead.fire) { taken := newHead.bits.entry }
  backHead.ready := obeyed && is(Functs.takeFrame)
  tick := RegNext(obeyed && is(Functs.tick), false.B)
  when(obeyed && is(Functs.ownAddress)) { names.own := bits.rs1(Sizes.hardwareAddressBits - 1, 0) }
  when(obeyed && is(Functs.bladeAddress)) { names.blades(bits.rs2(1, 0)) := bits.rs1(Sizes.hardwareAddressBits - 1, 0) }

  private val answer = MuxCase(
    0.U(64.W),
    Seq(
      is(Functs.giveFrame) -> freeFrames.io.enq.ready,
      is(Functs.evict) -> evictions.io.enq.ready,
      is(Functs.takeNew) -> Mux(newHead.valid, Cat(newHead.bits.place, 1.U(3.W)), 0.U),
      is(Functs.newEntry) -> taken,
      is(Functs.takeFrame) ->
        Mux(backHead.valid, Cat(backHead.bits.frame, 0.U(10.W), backHead.bits.settled, 1.U(1.W)), 0.U)
    )
  )
  walked.ready := awaited && answers.io.enq.ready
  answers.io.enq.valid := (request.valid && accepted && answersNow) || walked.fire
  answers.io.enq.bits.rd := Mux(awaited, awaitedRd, bits.rd)
  answers.io.enq.bits.data := Mux(awaited, walked.bits, answer)
  when(walked.fire) { awaited := false.B }

  // Queues move their heads to the registers behind them by themselves.
  private val settles = (freeFrames.io.deq.valid && freeFrames.io.deq.ready) ||
    (newPages.io.deq.valid && newPages.io.deq.ready) || (back.io.deq.valid && back.io.deq.ready)
  idle := !command.request.valid && !(request.valid && (ticks || !awaited)) && !command.response.valid && !settles &&
    !walked.valid && !returned.valid && !newPage.valid && !evict.valid && !tick &&
    room === params.queueEntries.U - newPages.io.count
}

/** Numbers of the commands. */
object PageFaultCommands {

  /** n of the custom-n of the unit. */
  val opcode: Int = 3

  object Functs {
    val walk: Int = 0
    val fetch: Int = 1
    val prefetch: Int = 2
    val giveFrame: Int = 3
    val takeNew: Int = 4
    val newEntry: Int = 5
    val evict: Int = 6
    val takeFrame: Int = 7
    val tick: Int = 8
    val ownAddress: Int = 9
    val bladeAddress: Int = 10
  }
}
