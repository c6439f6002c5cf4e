package rackwright.daronpon

import chisel3._

import rackwright.memory.SramQueue
import rackwright.unit.{Attach, HardwareUnit}

/** A dispatcher of requests in the data path of a switch port (Wang 2025, section 2.3). README.md is its contract. */
class Daronpon(params: Params) extends HardwareUnit {
  override def attach: Seq[Attach] = Seq(Attach.Switch)
  val mmio = mmioPort(Registers.of(params))
  val networkOut = streamOutput(Sizes.flitBytes).suggestName("network_out")
  val networkIn = streamInput(Sizes.flitBytes).suggestName("network_in")
  val idle = idlePort()

  private val registers = Module(new RegisterFile(params))
  private val parser = Module(new Parser(params))
  private val frames = Module(new SramQueue(new Piece, Daronpon.bufferedFlits))
  private val control = Module(new Control(params))
  private val writer = Module(new ReportWriter(params))
  private val emitter = Module(new Emitter(params))

  mmio <> registers.mmio
  registers.amounts := control.amounts
  registers.nextTimer := control.nextTimer

  parser.network <> networkIn
  parser.key := registers.settings.key
  parser.tables := registers.tables
  parser.release := control.release
  frames.clear := false.B
  frames.enq <> parser.pieces

  control.settings := registers.settings
  control.tables := registers.tables
  control.start := registers.start
  control.arrival <> parser.arrival
  control.told := parser.told
  control.reportEntries := parser.entries
  control.writerFree := writer.free

  writer.key := registers.settings.key
  writer.start := control.writerStart
  writer.in := control.writer
  writer.release := emitter.release
  writer.at := emitter.at

  emitter.order <> control.order
  emitter.frames <> frames.deq
  emitter.isSealed := writer.isSealed
  emitter.reportSum := writer.sum
  emitter.reportPiece := writer.piece
  networkOut <> emitter.network

  // An action of the last stage is visible to the first one two cycles later.
  private val still = registers.idle && parser.idle && frames.empty && control.idle && writer.free && emitter.idle
  idle := still && RegNext(still, false.B) && RegNext(RegNext(still, false.B), false.B)
  Counters.names.zip(control.amounts).foreach { case (name, amount) => event(name, amount) }
}

/** Sizes of buffers. */
object Daronpon {

  /** Flits of frames that wait for a decision or behind other frames; exceeds the longest frame. */
  val bufferedFlits: Int = 2048
}
