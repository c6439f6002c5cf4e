package rackwright.queue

import chisel3._
import chisel3.util._

import rackwright.access.{MemoryArbiter, StreamLoader, StreamWriter}
import rackwright.port.{MemoryPort, MemoryPortParams, StreamFlit}

/** Packets as datagrams of a connected socket: incoming ones get the header of a datagram to the peer in the register
  * of that name, outgoing ones lose theirs. The data of a packet is in the queue, or in memory at the address of a
  * descriptor. Packets whose data is in the queue may have the header of their datagram in front of it instead.
  *
  * @param most
  *   bytes of a packet.
  */
class DatagramStreams(most: Int) extends Module {
  import DatagramStreams._

  val service = IO(Flipped(new ServicePort))

  /** Reads and writes the data of descriptors. */
  val memory = IO(new MemoryPort(port))

  /** To and from a unit whose frames begin with 16 bytes: peer, its port, the own port; at 12 bytes of data. */
  val toUnit = IO(Decoupled(new StreamFlit(8)))
  val fromUnit = IO(Flipped(Decoupled(new StreamFlit(8))))

  /** The unit is idle. */
  val unitIdle = IO(Input(Bool()))

  private val loader = Module(new StreamLoader(beats, 8, outstanding))
  private val writer = Module(new StreamWriter(beats, 8, outstanding))
  private val arbiter = Module(new MemoryArbiter(beats, 2))
  arbiter.ports(0) <> loader.memory
  arbiter.ports(1) <> writer.memory
  memory <> arbiter.memory

  // Words are moved one at a time.
  private val word = service.in.bits.first
  service.inBoth := false.B
  service.out.bits.second := 0.U
  service.out.bits.two := false.B

  // What is sent.
  private val sends = RegInit(Step.size)
  private val left = Reg(UInt(16.W))
  private val length = Reg(UInt(16.W))
  private val fromMemory = Reg(Bool())
  private val addressed = service.form.addressed && !service.form.sent
  private val nothing = word === 0.U
  private val wrong = word > most.U || (addressed && !nothing && word < headerBytes.U)
  private val named = Reg(Bool())
  private val isLast = left <= 8.U
  private val wanted = Mux(isLast, left, 8.U)
  private val stream = loader.stream
  // An access fault ends the datagram early, so that the unit drops it for its length.
  private val broken = fromMemory && stream.available < wanted && stream.fault
  private val there = Mux(fromMemory, stream.available >= wanted || broken, service.in.valid || service.abort)
  service.sent := toUnit.fire && toUnit.bits.last
  service.wrong := sends === Step.size && service.in.valid && wrong
  service.in.ready := MuxLookup(sends, false.B)(
    Seq(
      Step.size -> true.B,
      Step.address -> loader.range.ready,
      Step.first -> (toUnit.ready && named && !service.abort),
      Step.second -> (toUnit.ready && named),
      Step.data -> (toUnit.ready && !fromMemory)
    )
  )
  loader.range.valid := sends === Step.address && service.in.valid
  loader.range.bits.address := word
  loader.range.bits.length := length
  stream.consume := Mux(toUnit.fire && sends === Step.data && fromMemory && !broken, wanted, 0.U)
  loader.stop := RegNext(toUnit.fire && toUnit.bits.last && fromMemory, false.B)
  private val hasHeader = !named || service.in.valid
  toUnit.valid := sends === Step.first && hasHeader && !(named && service.abort) ||
    sends === Step.second && (hasHeader || service.abort) || sends === Step.data && there
  toUnit.bits.data := MuxLookup(sends, Mux(fromMemory, stream.data.asUInt, word))(
    Seq(
      Step.first -> Mux(named, word, swapped(service.peer, 8)),
      Step.second -> swapped(length, 2) ## 0.U(32.W)
    )
  )
  toUnit.bits.last := sends === Step.second && (left === 0.U || named && service.abort) ||
    sends === Step.data && (isLast || broken || !fromMemory && service.abort)
  toUnit.bits.keep := Mux(sends === Step.data && isLast, (1.U << left(3, 0)) - 1.U, 0xff.U)
  switch(sends) {
    is(Step.size) {
      // A packet without bytes is no datagram.
      when(service.in.fire && !wrong && !nothing && !service.abort) {
        val bytes = word(15, 0) - Mux(addressed, headerBytes.U, 0.U)
        length := bytes
        left := bytes
        named := addressed
        fromMemory := service.form.sent
        sends := Mux(service.form.sent, Step.address, Step.first)
      }
    }
    is(Step.address) {
      when(loader.range.fire) { sends := Step.first }.elsewhen(service.abort) { sends := Step.size }
    }
    is(Step.first) {
      when(toUnit.fire) { sends := Step.second }.elsewhen(named && service.abort) { sends := Step.size }
    }
    is(Step.second) { when(toUnit.fire) { sends := Mux(toUnit.bits.last, Step.size, Step.data) } }
    is(Step.data) {
      when(toUnit.fire) {
        left := left - 8.U
        when(toUnit.bits.last) { sends := Step.size }
      }
    }
  }

  // What is received.
  private val receives = RegInit(Step.first)
  private val received = Reg(UInt(16.W))
  private val place = Reg(UInt(64.W))
  private val flit = fromUnit.bits
  private val bytes = swapped(flit.data(47, 32), 2)
  private val data = VecInit(flit.data.asTypeOf(Vec(8, UInt(8.W))).zip(flit.keep.asBools).map { case (byte, kept) =>
    Mux(kept, byte, 0.U)
  })
  private val describes = service.form.received
  private val names = service.form.addressed && !describes
  private val header = Reg(Vec(2, UInt(64.W)))
  private val empty = Reg(Bool())
  private val gives = Seq(Step.size, Step.address, Step.peer, Step.ports).map(receives === _).reduce(_ || _)
  private val passes = receives === Step.second && !describes && !names || receives === Step.data
  fromUnit.ready := MuxLookup(receives, service.out.ready && passes)(
    Seq(
      Step.first -> true.B,
      Step.second -> (describes || names || service.out.ready),
      Step.written -> writer.chunk.ready,
      Step.size -> false.B,
      Step.address -> false.B,
      Step.peer -> false.B,
      Step.ports -> false.B,
      Step.buffer -> false.B,
      Step.ending -> false.B
    )
  )
  service.out.valid := fromUnit.valid && passes || gives
  service.out.bits.first := MuxLookup(receives, data.asUInt)(
    Seq(
      Step.second -> bytes,
      Step.size -> received,
      Step.address -> place,
      Step.peer -> header(0),
      Step.ports -> header(1)
    )
  )
  service.out.bits.last := Mux(gives, receives === Step.address || receives === Step.ports && empty, flit.last)
  service.buffer.ready := receives === Step.buffer && writer.start.ready
  writer.start.valid := receives === Step.buffer && service.buffer.valid
  writer.start.bits.address := service.buffer.bits
  writer.start.bits.capacity := most.U
  writer.chunk.valid := receives === Step.written && fromUnit.valid
  writer.chunk.bits.data := data
  writer.chunk.bits.count := PopCount(flit.keep)
  writer.finish := fromUnit.fire && receives === Step.written && flit.last
  writer.result.ready := receives === Step.ending
  switch(receives) {
    is(Step.first) {
      when(fromUnit.fire) {
        header(0) := flit.data
        receives := Step.second
      }
    }
    is(Step.second) {
      when(fromUnit.fire) {
        header(1) := flit.data
        empty := flit.last
        received := bytes
        place := 0.U
        // An empty datagram needs no buffer.
        receives := Mux(describes, Mux(flit.last, Step.size, Step.buffer), Mux(flit.last, Step.first, Step.data))
        when(names) {
          received := bytes + headerBytes.U
          receives := Step.size
        }
      }
    }
    is(Step.data) { when(fromUnit.fire && flit.last) { receives := Step.first } }
    is(Step.buffer) {
      when(writer.start.fire) {
        place := service.buffer.bits
        receives := Step.written
      }
    }
    is(Step.written) { when(writer.finish) { receives := Step.ending } }
    // After an access fault, the descriptor has 0 bytes.
    is(Step.ending) {
      when(writer.result.fire) {
        when(writer.faulted) { received := 0.U }
        receives := Step.size
      }
    }
    is(Step.size) { when(service.out.fire) { receives := Mux(names, Step.peer, Step.address) } }
    is(Step.address) { when(service.out.fire) { receives := Step.first } }
    is(Step.peer) { when(service.out.fire) { receives := Step.ports } }
    is(Step.ports) { when(service.out.fire) { receives := Mux(empty, Step.first, Step.data) } }
  }

  service.setting.ready := true.B
  private val waits = Seq(
    (sends === Step.size) -> !service.in.valid,
    (sends === Step.address) -> (!service.in.valid && !service.abort),
    (sends === Step.first || sends === Step.second) -> (!hasHeader && !service.abort),
    (sends === Step.data) -> (!fromMemory && !service.in.valid && !service.abort)
  ).map { case (here, none) => here && none }.reduce(_ || _)
  private val noBuffer = receives === Step.buffer && !service.buffer.valid
  private val rests = noBuffer || unitIdle && receives === Step.first && !fromUnit.valid
  service.quiet := waits && rests && loader.idle && writer.idle
}

object DatagramStreams {

  /** The next part of a packet: its size, the address of its data, both flits of the header, data; of a received
    * descriptor: its buffer, the data to be written, and the end of writing; of the header that a received packet
    * begins with: both elements.
    */
  object Step extends ChiselEnum {
    val size, address, first, second, data, buffer, written, ending, peer, ports = Value
  }

  /** Of the header of a datagram. */
  private val headerBytes = 16

  private val outstanding = 16
  private val beats = MemoryPortParams(32, log2Ceil(outstanding))
  val port: MemoryPortParams = MemoryArbiter.downstream(beats, 2)

  /** The first byte last. */
  private def swapped(value: UInt, bytes: Int): UInt =
    VecInit((0 until bytes).reverse.map(i => value(8 * i + 7, 8 * i))).asUInt
}
