package rackwright.nic.receive

import chisel3._
import chisel3.util._

import rackwright.network.{Flit, Summed}
import rackwright.nic.port.{Completion, Params, ReceiveChecksumSetting, ReceiveRequest}
import rackwright.nic.virtio.{Arrival, TcpCheck}
import rackwright.port.{MemoryPort, StreamFlit}

/** Frames between sum and packer, where a front end divides them into parts.
  *
  * @param flitBytes
  *   bytes of a flit.
  */
class ReceiveDetour(flitBytes: Int) extends Bundle {

  /** A frame that has become visible, a few cycles before; none becomes so while there is no `room` for eight. */
  val arrival = Output(Valid(new Arrival))
  val room = Input(Bool())
  val frames = Decoupled(new Summed(new Flit(flitBytes)))
  val parts = Flipped(Decoupled(new Summed(new Flit(flitBytes))))
}

/** From flits on the wire to a completion: packet buffer, sum, packer, writer. */
class ReceivePath(params: Params) extends Module {
  val network = IO(Flipped(Decoupled(new StreamFlit(params.networkBytes))))
  val request = IO(Flipped(Decoupled(new ReceiveRequest)))
  val completion = IO(Decoupled(new Completion))
  val checksum = IO(Input(new ReceiveChecksumSetting))
  val memory = IO(new MemoryPort(params.port))

  /** The path of frames through a front end, if there is one. */
  val detour = Option.when(params.virtio)(IO(new ReceiveDetour(params.networkBytes)))

  /** Bytes taken for memory in this cycle. */
  val bytes = IO(Output(UInt(Flit.countBits(params.networkBytes).W)))
  val droppedFull = IO(Output(Bool()))
  val droppedLength = IO(Output(Bool()))

  /** A whole frame waits for memory or for a request. */
  val stall = IO(Output(Bool()))

  /** The path is inactive until memory responds or there is a flit, a new request or a place for a completion. */
  val idle = IO(Output(Bool()))

  private val buffer = Module(new PacketBuffer(params.bufferFlits, params.networkBytes, params.virtio))
  private val sum = Module(new ReceiveChecksum(params.networkBytes))
  private val check = Option.when(params.virtio)(Module(new TcpCheck(params.networkBytes)))
  private val packer = Module(new ReceivePacker(params.port, params.networkBytes))
  private val beats = Module(new Queue(new FrameBeat(params.port), 2))
  private val writer = Module(new ReceiveWriter(params.port, params.outstanding))

  network.ready := true.B
  buffer.in.valid := network.valid
  buffer.in.bits := Flit.fromWire(network.bits)
  sum.setting := checksum
  sum.flit <> buffer.out
  detour match {
    case Some(detour) =>
      check.get.flit := buffer.in
      check.get.kept := buffer.kept.get
      detour.arrival := check.get.arrival
      buffer.roomForLength.get := detour.room
      detour.frames <> sum.summed
      packer.summed <> detour.parts
    case None => packer.summed <> sum.summed
  }
  packer.request <> request
  beats.io.enq <> packer.beat
  writer.beat <> beats.io.deq
  memory <> writer.memory
  completion <> writer.completion

  bytes := Mux(packer.summed.fire, packer.summed.bits.along.count, 0.U)
  droppedFull := buffer.droppedFull
  droppedLength := buffer.droppedLength
  stall := packer.summed.valid && !packer.summed.ready
  private val checked = check.map(_.idle).getOrElse(true.B)
  idle := buffer.idle && checked && sum.idle && packer.idle && writer.idle
}
