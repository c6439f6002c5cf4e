package rackwright.queue

import chisel3._
import chisel3.util._

import rackwright.memory.Sram
import rackwright.port.{CommandPort, MemoryPort, MemoryPortParams, Status}

/** Lets a streaming unit process packets: stores one, which the unit reads as the memory from address 0 on, and stores
  * the unit's writes in a memory of its own. Both memories have two halves: while the unit processes a packet, the next
  * one is stored and the one before is output. A packet that the unit refuses becomes one without bytes, and so does
  * one without bytes, of which the unit learns nothing.
  *
  * @param opcode
  *   of the unit's commands.
  * @param most
  *   maximum bytes of a packet in either direction; a power of two.
  */
class PacketRunner(opcode: Int, read: MemoryPortParams, write: MemoryPortParams, most: Int) extends Module {
  val service = IO(Flipped(new ServicePort))
  val command = IO(Flipped(new CommandPort))
  val reads = IO(Flipped(new MemoryPort(read)))
  val writes = IO(Flipped(new MemoryPort(write)))

  /** In this cycle the unit has refused a packet. */
  val refused = IO(Output(Bool()))

  private val input = Module(new PacketInput(read, most))
  private val output = Module(new PacketOutput(write, most))
  input.memory <> reads
  output.memory <> writes

  // Sizes of packets in halves of the memories: an entry leaves when the half is free again.
  private def sizes = Module(new Queue(UInt(log2Ceil(most + 1).W), 2))
  private val filled = sizes.suggestName("filled")
  private val results = sizes.suggestName("results")

  // A packet is stored.
  private val fills = RegInit(false.B)
  private val size = Reg(UInt(log2Ceil(most + 1).W))
  private val at = Reg(UInt(log2Ceil(most / 8 + 1).W))
  private val words = (size + 7.U) >> 3
  private val offered = service.in.bits.first
  private val wrong = offered > most.U
  private val two = service.in.bits.two && service.inBoth
  private val isLast = at + Mux(two, 2.U, 1.U) === words
  private val nothing = offered === 0.U
  service.inBoth := fills && !at(0) && at + 1.U < words
  service.in.ready := fills || filled.io.enq.ready
  service.wrong := !fills && service.in.valid && wrong
  input.word.valid := service.in.fire && fills
  input.word.bits.first := offered
  input.word.bits.second := service.in.bits.second
  input.word.bits.two := two
  input.at := at
  input.stored := filled.io.enq.fire
  filled.io.enq.valid := service.in.fire && Mux(fills, isLast, nothing)
  filled.io.enq.bits := Mux(fills, size, 0.U)
  when(service.in.fire) {
    when(fills) {
      at := at + Mux(two, 2.U, 1.U)
      when(isLast) { fills := false.B }
    }.elsewhen(!wrong) {
      size := offered
      at := 0.U
      fills := !nothing
    }
  }
  when(service.abort) { fills := false.B }

  // Its packets are in the queues.
  service.buffer.ready := false.B
  service.sent := false.B

  // The unit processes it.
  private val runner = Module(new DescriptorRunner(opcode))
  private val entry = filled.io.deq.bits
  private val skips = entry === 0.U
  runner.descriptor.valid := filled.io.deq.valid && results.io.enq.ready && !skips
  runner.descriptor.bits := 0.U.asTypeOf(new Descriptor)
  runner.descriptor.bits.sourceBytes := entry
  runner.descriptor.bits.capacity := most.U
  runner.hold := false.B
  QueueControl.join(opcode, service.setting, runner.command, command)
  private val good = runner.ending.status === Status.ok
  refused := runner.descriptor.fire && !good
  results.io.enq.valid := filled.io.deq.valid && (skips || runner.descriptor.fire)
  results.io.enq.bits := Mux(skips || !good, 0.U, runner.ending.outputBytes)
  filled.io.deq.ready := results.io.enq.fire
  input.processed := results.io.enq.fire
  output.processed := results.io.enq.fire

  // Its result is output.
  private val drains = RegInit(false.B)
  private val left = Reg(UInt(log2Ceil(most / 8 + 1).W))
  private val result = results.io.deq.bits
  private val pair = service.out.bits
  private val bothLeave = pair.two && service.outBoth
  private val ends = Mux(drains, left === Mux(bothLeave, 2.U, 1.U), result === 0.U)
  service.out.valid := Mux(drains, output.word.valid, results.io.deq.valid)
  // Of its last word, only the packet's bytes: the memory has those of earlier packets behind them.
  private val rest = result(2, 0)
  private val kept = FillInterleaved(8, Mux(rest === 0.U, 0xff.U, (1.U << rest)(7, 0) - 1.U))
  private def whole(word: UInt, isEnd: Bool): UInt = word & (kept | Fill(64, !isEnd))
  pair.first := Mux(drains, whole(output.word.bits.first, left === 1.U), result)
  pair.second := whole(output.word.bits.second, left === 2.U)
  pair.two := drains && output.word.bits.two && left > 1.U
  pair.last := Mux(drains, left === Mux(pair.two, 2.U, 1.U), result === 0.U)
  output.start := !drains && service.out.fire && result =/= 0.U
  output.words := (result + 7.U) >> 3
  output.next := drains && service.out.fire
  output.both := bothLeave
  output.drained := results.io.deq.fire
  results.io.deq.ready := service.out.fire && ends
  when(service.out.fire) {
    drains := !ends
    left := Mux(drains, left - Mux(bothLeave, 2.U, 1.U), output.words)
  }

  service.quiet := !service.in.valid && !filled.io.deq.valid && !results.io.deq.valid
}

/** Packets as a unit's memory: one is written by words, while one is read by beats in the order of their requests. */
class PacketInput(params: MemoryPortParams, most: Int) extends Module {
  val word = IO(Flipped(Valid(new WordPair)))

  /** The place of the first word, an even one if there are two. */
  val at = IO(Input(UInt(log2Ceil(most / 8 + 1).W)))

  /** The packet is complete, and the next one is written; the next one is read. */
  val stored, processed = IO(Input(Bool()))
  val memory = IO(Flipped(new MemoryPort(params)))

  private val lanes = params.bytes / 8
  private val perPacket = most / params.bytes
  private val placeBits = log2Ceil(perPacket)
  private val beats = Sram(2 * perPacket, Vec(lanes, UInt(64.W)))
  private val writeHalf, readHalf = RegInit(false.B)
  when(stored) { writeHalf := !writeHalf }
  when(processed) { readHalf := !readHalf }
  when(word.valid) {
    val lane = at(log2Ceil(lanes) - 1, 0)
    val pair = VecInit.tabulate(lanes)(i =>
      if (i % 2 == 0) word.bits.first else Mux(word.bits.two, word.bits.second, word.bits.first)
    )
    val mask = UIntToOH(lane, lanes)
    beats.write(
      writeHalf ## (at >> log2Ceil(lanes))(placeBits - 1, 0),
      pair,
      (mask | Mux(word.bits.two, (mask << 1)(lanes - 1, 0), 0.U)).asBools
    )
  }
  private val answers = Module(new Queue(chiselTypeOf(memory.response.bits), 4))
  private val asked = RegNext(memory.request.fire, false.B)
  private val place = (memory.request.bits.address >> params.offsetBits)(placeBits - 1, 0)
  memory.request.ready := answers.io.count +& asked < 4.U
  answers.io.enq.valid := asked
  answers.io.enq.bits.tag := RegNext(memory.request.bits.tag)
  answers.io.enq.bits.data := beats.read(readHalf ## place, memory.request.fire).asUInt
  answers.io.enq.bits.fault := RegNext(memory.request.bits.write || memory.request.bits.address >= most.U)
  memory.response <> answers.io.deq
}

/** A unit's writes from address 0 on, while those for the packet before are output by words. */
class PacketOutput(params: MemoryPortParams, most: Int) extends Module {
  val memory = IO(Flipped(new MemoryPort(params)))

  /** The unit has written a packet, and writes the next one; the packet before has been output. */
  val processed, drained = IO(Input(Bool()))

  /** Outputs the first words of the oldest packet, this number. */
  val start = IO(Input(Bool()))
  val words = IO(Input(UInt(log2Ceil(most / 8 + 1).W)))

  /** The first of `word` has been taken, or both. */
  val next, both = IO(Input(Bool()))
  val word = IO(Valid(new WordPair))

  private val lanes = params.bytes / 8
  private val laneBits = log2Ceil(lanes)
  private val perPacket = most / params.bytes
  private val beats = Sram(2 * perPacket, Vec(params.bytes, UInt(8.W)))
  private val writeHalf, readHalf = RegInit(false.B)
  when(processed) { writeHalf := !writeHalf }
  when(drained) { readHalf := !readHalf }
  private val asks = memory.request.bits
  private val allowed = asks.write && asks.address < most.U
  when(memory.request.fire && allowed) {
    beats.write(
      writeHalf ## (asks.address >> params.offsetBits)(log2Ceil(perPacket) - 1, 0),
      asks.data.asTypeOf(Vec(params.bytes, UInt(8.W))),
      asks.mask.asBools
    )
  }
  private val answers = Module(new Queue(chiselTypeOf(memory.response.bits), 2))
  memory.request.ready := answers.io.enq.ready
  answers.io.enq.valid := memory.request.valid
  answers.io.enq.bits.tag := asks.tag
  answers.io.enq.bits.data := 0.U
  answers.io.enq.bits.fault := !allowed
  memory.response <> answers.io.deq

  // Beats are read ahead: as many as there are words for, so that none are left.
  private val ahead = Module(new Queue(UInt((8 * params.bytes).W), 3))
  private val left = RegInit(0.U(log2Ceil(perPacket + 1).W))
  private val place = Reg(UInt(log2Ceil(perPacket).W))
  private val arrives = RegInit(false.B)
  private val fetches = left =/= 0.U && ahead.io.count +& arrives < 3.U
  arrives := fetches
  when(fetches) {
    left := left - 1.U
    place := place + 1.U
  }
  ahead.io.enq.valid := arrives
  ahead.io.enq.bits := beats.read(readHalf ## place, fetches).asUInt

  private val at = Reg(UInt(laneBits.W))
  private val remaining = Reg(UInt(log2Ceil(most / 8 + 1).W))
  private val taken = Mux(both, 2.U, 1.U)
  private val beat = ahead.io.deq.bits.asTypeOf(Vec(lanes, UInt(64.W)))
  word.valid := ahead.io.deq.valid
  word.bits.first := beat(at)
  word.bits.second := beat(at | 1.U)
  word.bits.two := !at(0)
  ahead.io.deq.ready := next && (remaining === taken || at +& taken === lanes.U)
  when(next) {
    at := at + taken
    remaining := remaining - taken
  }
  when(start) {
    left := (words + (lanes - 1).U) >> laneBits
    place := 0.U
    at := 0.U
    remaining := words
  }
}
