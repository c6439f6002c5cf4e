package rackwright.queue

import chisel3._
import chisel3.util._

import rackwright.port.{CommandPort, MemoryPort, MmioPort, MmioResponse, RegisterMap}

/** The engine of a tile: takes descriptors from a queue in memory, has the unit do what they ask for, one after the
  * other, and gives their endings to another queue. README.md is the contract.
  *
  * @param opcode
  *   of the unit's commands.
  */
class QueueEngine(opcode: Int) extends Module {
  import QueueEngine._

  val mmio = IO(Flipped(new MmioPort))
  val command = IO(Flipped(new CommandPort))
  val memory = IO(new MemoryPort(LineAccess.port))
  val idle = IO(Output(Bool()))

  /** In this cycle an element is taken, one is answered; memory is read to see whether there is one. */
  val taken = IO(Output(Bool()))
  val answered = IO(Output(Bool()))
  val polled = IO(Output(Bool()))

  private val state = RegInit(State.closed)
  private val problem = RegInit(Problem.none)
  private val closing = RegInit(false.B)
  private val incoming = new Endpoint(Descriptor.bytes)
  private val outgoing = new Endpoint(Ending.bytes)
  private val descriptor = Reg(new Descriptor)

  /** The place of the element that the unit works on is the producer's again. */
  private val released = RegInit(true.B)
  private val pause = RegInit(0.U(log2Ceil(pollPause + 1).W))

  /** What this side of a queue knows of it. */
  private class Endpoint(bytes: Int) {
    val header = RegInit(0.U(64.W))
    val base = Reg(UInt(64.W))
    val length = Reg(UInt((log2Ceil(QueueLayout.longest) + 1).W))

    /** The index that this side writes, and what the other side's was when it was read last. */
    val own = RegInit(0.U(64.W))
    val other = RegInit(0.U(64.W))
    val place: UInt = base + ((own(19, 0) & (length - 1.U)(19, 0)) << log2Ceil(bytes))

    def open(found: UInt): Unit = {
      val read = found(191, 0).asTypeOf(new QueueHeader)
      base := read.base
      length := read.length
    }
  }

  private val line = Module(new LineAccess)
  private val runner = Module(new DescriptorRunner(opcode))
  memory <> line.memory
  command <> runner.command
  runner.descriptor.valid := state === State.run
  runner.descriptor.bits := descriptor
  runner.hold := !released

  private val waits = pause =/= 0.U
  private val accesses = !Seq(State.closed, State.failed).map(state === _).reduce(_ || _) && !waits
  private val rests = Wire(Bool())
  line.request.valid := accesses && !rests
  line.request.bits.address := MuxLookup(state, incoming.header)(
    Seq(
      State.outHeader -> outgoing.header,
      State.inIndex -> (incoming.header + QueueLayout.readIndex.U),
      State.outIndex -> (outgoing.header + QueueLayout.writeIndex.U),
      State.poll -> (incoming.header + QueueLayout.writeIndex.U),
      State.fetch -> incoming.place,
      State.run -> (incoming.header + QueueLayout.readIndex.U),
      State.space -> (outgoing.header + QueueLayout.readIndex.U),
      State.give -> outgoing.place,
      State.publish -> (outgoing.header + QueueLayout.writeIndex.U)
    )
  )
  private val gives = state === State.give
  line.request.bits.write := gives || state === State.run || state === State.publish
  line.request.bits.half := !gives
  line.request.bits.beats := MuxLookup(state, 1.U)(
    Seq(State.inHeader -> 2.U, State.outHeader -> 2.U, State.fetch -> 4.U, State.give -> 2.U)
  )
  line.request.bits.data := MuxLookup(state, runner.ending.asUInt)(
    Seq(State.run -> incoming.own, State.publish -> outgoing.own)
  )

  // Indices are compared as they are: they count on and on, and wrap after as many elements as nobody gives.
  private val read = line.response.data
  private val index = read(63, 0)
  private val hasElement = incoming.own =/= incoming.other
  private val isFull = outgoing.own - outgoing.other === outgoing.length
  rests := state === State.poll && (hasElement || closing && !line.busy) || state === State.space && !isFull || state === State.run && released
  private val done = line.request.fire
  private def inRange(ahead: UInt, behind: UInt, length: UInt): Bool = ahead - behind <= length

  when(waits) { pause := pause - 1.U }
  when(done) {
    when(line.response.fault) {
      fail(Problem.refused)
    }.otherwise {
      switch(state) {
        is(State.inHeader) {
          incoming.open(read)
          proceed(read(191, 0).asTypeOf(new QueueHeader).isOf(Descriptor.bytes), State.outHeader, Problem.incoming)
        }
        is(State.outHeader) {
          outgoing.open(read)
          proceed(read(191, 0).asTypeOf(new QueueHeader).isOf(Ending.bytes), State.inIndex, Problem.outgoing)
        }
        is(State.inIndex) {
          incoming.own := index
          incoming.other := index
          state := State.outIndex
        }
        is(State.outIndex) {
          outgoing.own := index
          outgoing.other := index - outgoing.length
          state := State.poll
        }
        is(State.poll) {
          incoming.other := index
          pause := Mux(index === incoming.own, pollPause.U, 0.U)
          proceed(inRange(index, incoming.own, incoming.length), State.poll, Problem.incoming)
        }
        is(State.fetch) {
          descriptor := read.asTypeOf(new Descriptor)
          incoming.own := incoming.own + 1.U
          released := false.B
          state := State.run
        }
        is(State.run) { released := true.B }
        is(State.space) {
          outgoing.other := index
          pause := Mux(index === outgoing.other, pollPause.U, 0.U)
          proceed(inRange(outgoing.own, index, outgoing.length), State.space, Problem.outgoing)
        }
        is(State.give) {
          outgoing.own := outgoing.own + 1.U
          state := State.publish
        }
        is(State.publish) { state := State.poll }
      }
    }
  }
  when(state === State.poll && hasElement && !waits) { state := State.fetch }
  when(state === State.poll && !hasElement && closing && !line.busy && !waits) {
    state := State.closed
    closing := false.B
  }
  when(runner.descriptor.fire) { state := State.space }
  when(state === State.space && !isFull && !waits) { state := State.give }

  private def fail(why: Problem.Type): Unit = {
    problem := why
    state := State.failed
  }
  private def proceed(right: Bool, next: State.Type, otherwise: Problem.Type): Unit =
    when(right) { state := next }.otherwise { fail(otherwise) }

  // Registers: each access is answered in the next cycle.
  private val access = mmio.request
  private val answers = Module(new Queue(new MmioResponse, 2))
  mmio.response <> answers.io.deq
  access.ready := answers.io.enq.ready
  answers.io.enq.valid := access.valid
  answers.io.enq.bits.data := MuxLookup(access.bits.address, 0.U)(
    Seq(
      Register.control.U -> Mux(state === State.failed, problem.asUInt, (state =/= State.closed).asUInt),
      Register.incoming.U -> incoming.header,
      Register.outgoing.U -> outgoing.header,
      Register.taken.U -> incoming.own,
      Register.answered.U -> outgoing.own
    )
  )
  private val isStill = state === State.closed || state === State.failed
  when(access.fire && access.bits.write) {
    val value = access.bits.data
    switch(access.bits.address) {
      is(Register.control.U) {
        when(isStill) {
          state := Mux(value(0), State.inHeader, State.closed)
          closing := false.B
        }.otherwise { closing := !value(0) }
      }
      is(Register.incoming.U) { when(isStill) { incoming.header := value(63, 6) ## 0.U(6.W) } }
      is(Register.outgoing.U) { when(isStill) { outgoing.header := value(63, 6) ## 0.U(6.W) } }
    }
  }

  taken := done && state === State.fetch
  answered := done && state === State.give
  polled := done && state === State.poll
  idle := isStill && !access.valid && !answers.io.deq.valid
}

/** States, problems and registers of a [[QueueEngine]]. */
object QueueEngine {

  /** Cycles between two looks at an index that has not changed. */
  val pollPause: Int = 4

  /** What it does, or waits for. */
  object State extends ChiselEnum {
    val closed, inHeader, outHeader, inIndex, outIndex, poll, fetch, run, space, give, publish, failed = Value
  }

  /** Why it has stopped; numbers as `control` reads them. */
  object Problem extends ChiselEnum {
    val none = Value(0.U)
    val incoming = Value(2.U)
    val outgoing = Value(3.U)
    val refused = Value(4.U)
  }

  /** The register map, as `registers.json` has it. */
  val registers: RegisterMap = RegisterMap.read("queue")

  /** Byte offsets of the registers. */
  private object Register {
    val control: Int = registers("control").offset
    val incoming: Int = registers("incoming").offset
    val outgoing: Int = registers("outgoing").offset
    val taken: Int = registers("taken").offset
    val answered: Int = registers("answered").offset
  }
}
