package rackwright.pagefault

import chisel3._
import chisel3.util._

import rackwright.port.{CommandList, CommandPort, UnitCommand}

/** Executes commands: those of software, with an immediate response, and walks, with a response when the page has
  * arrived. Holds the queues from software to the rest.
  */
class PageFaultCommands(params: Params) extends Module {
  import PageFaultCommands.Functs

  val command = IO(new CommandPort)
  val walk = IO(Decoupled(new WalkRequest))
  val walked = IO(Flipped(Decoupled(UInt(Cause.width.W))))
  val freeFrame = IO(Decoupled(new FreeFrame))
  val evict = IO(Decoupled(new Eviction))
  val addresses = IO(Output(new Addresses))
  val tick = IO(Output(Bool()))

  /** The address of the ring of returned frames, the number of them that software has taken, and the number of new
    * pages so far.
    */
  val ring = IO(Valid(UInt(Sizes.frameBits.W)))
  val taken = IO(Valid(UInt(Ring.countBits.W)))
  val newPages = IO(Input(UInt(RecordWriter.totalBits.W)))

  /** Pages are being fetched. */
  val fetching = IO(Input(Bool()))
  val idle = IO(Output(Bool()))

  private val freeFrames = Module(new Queue(new FreeFrame, params.queueEntries))
  private val evictions = Module(new Queue(new Eviction, params.queueEntries))
  // Heads are in registers, because the logic that depends on them is deep. Slots may take frames in consecutive
  // cycles, and each must find a head while there are more: two frames are stored there.
  freeFrame <> Queue(freeFrames.io.deq, 2)
  evict <> Queue(evictions.io.deq, 1)

  private val request = Queue(command.request, 1, pipe = true)
  private val bits = request.bits
  private def is(command: UnitCommand): Bool = bits.funct === command.funct.U
  private val names = Reg(new Addresses)
  addresses := names
  private val awaited = RegInit(false.B)
  private val awaitedRd = Reg(UInt(5.W))
  private val answers = Module(new Queue(chiselTypeOf(command.response.bits), 2))
  command.response <> answers.io.deq

  private val walks = is(Functs.walk) || is(Functs.fetch)
  private val answersNow = bits.xd && !walks
  // Time passes while a walk is awaited, too.
  private val ticks = is(Functs.tick) && !bits.xd
  private val accepted = ticks || (!awaited && answers.io.enq.ready && (!walks || walk.ready))
  request.ready := accepted
  private val obeyed = request.fire

  walk.valid := request.valid && !awaited && answers.io.enq.ready && walks
  walk.bits.place := bits.rs1(Sizes.addressBits - 1, 3)
  walk.bits.software := !is(Functs.walk)
  walk.bits.awaited := bits.xd
  when(obeyed && walks && bits.xd) {
    awaited := true.B
    awaitedRd := bits.rd
  }
  freeFrames.io.enq.valid := obeyed && is(Functs.giveFrame)
  freeFrames.io.enq.bits.frame := bits.rs1(Sizes.addressBits - 1, Sizes.pageBits)
  freeFrames.io.enq.bits.record := bits.rs2(Sizes.addressBits - 1, 4)
  evictions.io.enq.valid := obeyed && is(Functs.evict)
  evictions.io.enq.bits.frame := bits.rs1(Sizes.addressBits - 1, Sizes.pageBits)
  evictions.io.enq.bits.entry := bits.rs2
  taken.valid := obeyed && is(Functs.taken)
  taken.bits := bits.rs1(Ring.countBits - 1, 0)
  ring.valid := obeyed && is(Functs.ring)
  ring.bits := bits.rs1(Sizes.addressBits - 1, Sizes.pageBits)
  tick := RegNext(obeyed && is(Functs.tick), false.B)
  when(obeyed && is(Functs.ownAddress)) { names.own := bits.rs1(Sizes.hardwareAddressBits - 1, 0) }
  when(obeyed && is(Functs.bladeAddress)) { names.blades(bits.rs2(1, 0)) := bits.rs1(Sizes.hardwareAddressBits - 1, 0) }

  private val answer = MuxCase(
    0.U(64.W),
    Seq(
      is(Functs.fetching) -> fetching,
      is(Functs.giveFrame) -> freeFrames.io.enq.ready,
      is(Functs.evict) -> evictions.io.enq.ready,
      is(Functs.taken) -> newPages
    )
  )
  walked.ready := awaited && answers.io.enq.ready
  answers.io.enq.valid := (request.valid && accepted && answersNow) || walked.fire
  answers.io.enq.bits.rd := Mux(awaited, awaitedRd, bits.rd)
  answers.io.enq.bits.data := Mux(awaited, walked.bits, answer)
  when(walked.fire) { awaited := false.B }

  // Queues move their heads to the registers after them by themselves.
  private val settles = freeFrames.io.deq.fire || evictions.io.deq.fire || evict.fire
  idle := !command.request.valid && !(request.valid && (ticks || !awaited)) && !command.response.valid && !settles &&
    !walked.valid && !tick
  private val lost = (freeFrames.io.enq.valid && !freeFrames.io.enq.ready) ||
    (evictions.io.enq.valid && !evictions.io.enq.ready)
  assert(!lost || bits.xd, "a frame is given for which there is no room, and no answer can tell")
}

/** The commands. */
object PageFaultCommands {

  /** n of the custom-n of the unit. */
  val opcode: Int = 3

  object Functs extends CommandList {
    val walk: UnitCommand = command("walk", 0, "place of an entry", answer = "cause")
    val fetch: UnitCommand = command("fetch", 1, "place of an entry", answer = "cause")
    val fetching: UnitCommand = command("fetching", 2, answer = "1 while a page is on its way")
    val giveFrame: UnitCommand = command("give_frame", 3, "frame", "its record", "1 taken, 0 no room")
    val evict: UnitCommand = command("evict", 4, "frame", "remote entry", "1 taken, 0 no room")
    val taken: UnitCommand =
      command("taken", 5, "entries of the ring that were read since", answer = "new pages so far, modulo 2^32")
    val ring: UnitCommand = command("ring", 6, "page of the ring")
    val tick: UnitCommand = command("tick", 7)
    val ownAddress: UnitCommand = command("own_address", 8, "hardware address")
    val bladeAddress: UnitCommand = command("blade_address", 9, "hardware address", "number of the blade")
  }
}
