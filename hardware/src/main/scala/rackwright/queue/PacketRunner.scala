package rackwright.queue

import chisel3._
import chisel3.util._

import rackwright.memory.Sram
import rackwright.port.{CommandPort, MemoryPort, MemoryPortParams, Status}

/** Lets a streaming unit process packets: stores one, which the unit reads as the memory from address 0 on, and stores
  * the unit's writes in a memory of its own. A packet that the unit refuses becomes one without bytes, and so does one
  * without bytes, of which the unit learns nothing.
  *
  * @param opcode
  *   of the unit's commands.
  * @param most
  *   maximum bytes of a packet in either direction; a power of two.
  */
class PacketRunner(opcode: Int, read: MemoryPortParams, write: MemoryPortParams, most: Int) extends Module {
  import PacketRunner.State

  val service = IO(Flipped(new ServicePort))
  val command = IO(Flipped(new CommandPort))
  val reads = IO(Flipped(new MemoryPort(read)))
  val writes = IO(Flipped(new MemoryPort(write)))

  /** In this cycle the unit has refused a packet. */
  val refused = IO(Output(Bool()))

  private val state = RegInit(State.size)
  private val size = Reg(UInt(log2Ceil(most + 1).W))
  private val at = Reg(UInt(log2Ceil(most / 8 + 1).W))
  private val words = (size + 7.U) >> 3
  private val isLast = at === words - 1.U

  private val input = Module(new PacketInput(read, most))
  private val output = Module(new PacketOutput(write, most))
  input.memory <> reads
  output.memory <> writes
  input.word.valid := service.in.fire && state === State.fill
  input.word.bits := service.in.bits
  input.at := at

  private val wrong = service.in.bits > most.U
  service.in.ready := state === State.size || state === State.fill
  service.wrong := state === State.size && service.in.valid && wrong
  service.quiet := (state === State.size || state === State.fill) && !service.in.valid

  // Its packets are in the queues.
  service.buffer.ready := false.B
  service.sent := false.B

  private val runner = Module(new DescriptorRunner(opcode))
  runner.descriptor.valid := state === State.run
  runner.descriptor.bits := 0.U.asTypeOf(new Descriptor)
  runner.descriptor.bits.sourceBytes := size
  runner.descriptor.bits.capacity := most.U
  runner.hold := false.B
  QueueControl.join(opcode, service.setting, runner.command, command)
  private val good = runner.ending.status === Status.ok
  refused := runner.descriptor.fire && !good

  output.start := state === State.give && service.out.fire
  output.next := state === State.drain && service.out.fire
  service.out.valid := state === State.give || state === State.drain && output.word.valid
  service.out.bits.data := Mux(state === State.give, size, output.word.bits)
  service.out.bits.last := Mux(state === State.give, size === 0.U, isLast)

  switch(state) {
    is(State.size) {
      when(service.in.fire && !wrong) {
        size := service.in.bits
        at := 0.U
        state := Mux(service.in.bits === 0.U, State.give, State.fill)
      }
    }
    is(State.fill) {
      when(service.in.fire) {
        at := at + 1.U
        when(isLast) { state := State.run }
      }
    }
    is(State.run) {
      when(runner.descriptor.fire) {
        size := Mux(good, runner.ending.outputBytes, 0.U)
        state := State.give
      }
    }
    is(State.give) {
      when(service.out.fire) {
        at := 0.U
        state := Mux(size === 0.U, State.size, State.drain)
      }
    }
    is(State.drain) {
      when(service.out.fire) {
        at := at + 1.U
        when(isLast) { state := State.size }
      }
    }
  }
  when(service.abort && state === State.fill) { state := State.size }
}

object PacketRunner {
  object State extends ChiselEnum {
    val size, fill, run, give, drain = Value
  }
}

/** A packet as a unit's memory: written by words, read by beats in the order of their requests. */
class PacketInput(params: MemoryPortParams, most: Int) extends Module {
  val word = IO(Flipped(Valid(UInt(64.W))))
  val at = IO(Input(UInt(log2Ceil(most / 8 + 1).W)))
  val memory = IO(Flipped(new MemoryPort(params)))

  private val lanes = params.bytes / 8
  private val beats = Sram(most / params.bytes, Vec(lanes, UInt(64.W)))
  when(word.valid) {
    val lane = at(log2Ceil(lanes) - 1, 0)
    beats.write(at >> log2Ceil(lanes), VecInit.fill(lanes)(word.bits), UIntToOH(lane, lanes).asBools)
  }
  private val answers = Module(new Queue(chiselTypeOf(memory.response.bits), 2))
  private val asked = RegNext(memory.request.fire, false.B)
  memory.request.ready := !asked && answers.io.enq.ready
  answers.io.enq.valid := asked
  answers.io.enq.bits.tag := RegNext(memory.request.bits.tag)
  answers.io.enq.bits.data := beats.read(memory.request.bits.address >> params.offsetBits, memory.request.fire).asUInt
  answers.io.enq.bits.fault := RegNext(memory.request.bits.write || memory.request.bits.address >= most.U)
  memory.response <> answers.io.deq
}

/** A unit's writes from address 0 on, by words: after `start` the first is available, and after each `next` the
  * following one.
  */
class PacketOutput(params: MemoryPortParams, most: Int) extends Module {
  val memory = IO(Flipped(new MemoryPort(params)))
  val start = IO(Input(Bool()))
  val next = IO(Input(Bool()))
  val word = IO(Valid(UInt(64.W)))

  private val lanes = params.bytes / 8
  private val laneBits = log2Ceil(lanes)
  private val beats = Sram(most / params.bytes, Vec(params.bytes, UInt(8.W)))
  private val asks = memory.request.bits
  private val allowed = asks.write && asks.address < most.U
  when(memory.request.fire && allowed) {
    beats.write(asks.address >> params.offsetBits, asks.data.asTypeOf(Vec(params.bytes, UInt(8.W))), asks.mask.asBools)
  }
  private val answers = Module(new Queue(chiselTypeOf(memory.response.bits), 2))
  memory.request.ready := answers.io.enq.ready
  answers.io.enq.valid := memory.request.valid
  answers.io.enq.bits.tag := asks.tag
  answers.io.enq.bits.data := 0.U
  answers.io.enq.bits.fault := !allowed
  memory.response <> answers.io.deq

  // A beat is read into a register, from which its words are output.
  private val at = Reg(UInt(log2Ceil(most / 8 + 1).W))
  private val beat = Reg(UInt((8 * params.bytes).W))
  private val ahead = RegInit(false.B)
  private val there = RegInit(false.B)
  private val fetches = start || next && at(laneBits - 1, 0).andR
  private val fetchAt = Mux(start, 0.U, (at >> laneBits) + 1.U)
  private val found = beats.read(fetchAt(log2Ceil(most / params.bytes) - 1, 0), fetches).asUInt
  ahead := fetches
  when(ahead) {
    beat := found
    there := true.B
  }
  when(fetches) { there := false.B }
  when(next) { at := at + 1.U }
  when(start) { at := 0.U }
  word.valid := there
  word.bits := beat.asTypeOf(Vec(lanes, UInt(64.W)))(at(laneBits - 1, 0))
}
