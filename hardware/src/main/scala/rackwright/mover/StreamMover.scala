package rackwright.mover

import chisel3._
import chisel3.experimental.noPrefix
import chisel3.util._

import rackwright.unit.{Attach, HardwareUnit}

/** Moves frames between memory and the AXI4-Stream ports of a user's unit. README.md is the contract.
  *
  * A module in Verilog around both connects the ports `<stream>_stream` to the unit
  * (`python/rackwright/verilog/moved.py`).
  *
  * @param streams
  *   the streams of the unit.
  * @param registerBytes
  *   bytes of a register of the unit, 4 or 8.
  * @param unitBytes
  *   bytes of addresses with registers of the unit; 0 for a unit without.
  */
class StreamMover(streams: Seq[StreamShape], registerBytes: Int, unitBytes: Int) extends HardwareUnit {
  override def attach: Seq[Attach] = Seq.empty

  /** The registers as programs access them, and those of the unit. */
  val outer = IO(Flipped(new LitePort(registerBytes)))
  val inner = IO(new LitePort(registerBytes))
  val idle = idlePort()

  private val router = Module(new RegisterRouter(registerBytes, unitBytes))
  router.outer <> outer
  inner <> router.inner

  // The names of pins are those of the streams.
  private val ends =
    for ((shape, index) <- streams.zipWithIndex) yield noPrefix {
      val registers = Module(new StreamRegisters).suggestName(s"${shape.name}_registers")
      val place = RegisterRouter.base + index * StreamRegisters.stride
      val isHere = router.own.bits.offset >= place.U && router.own.bits.offset < (place + StreamRegisters.stride).U
      registers.access := router.own
      registers.access.valid := router.own.valid && isHere
      registers.access.bits.offset := router.own.bits.offset - place.U
      val memory = memoryPort(shape.port).suggestName(s"${shape.name}_memory")
      val isIdle = Wire(Bool())
      if (shape.outward) {
        val stream = IO(Flipped(Decoupled(new Transfer(shape.bytes)))).suggestName(s"${shape.name}_stream")
        val receiver = Module(new FrameReceiver(shape)).suggestName(s"${shape.name}_receiver")
        receiver.control <> registers.control
        receiver.stream <> stream
        memory <> receiver.memory
        isIdle := receiver.idle
      } else {
        val stream = IO(Decoupled(new Transfer(shape.bytes))).suggestName(s"${shape.name}_stream")
        val sender = Module(new FrameSender(shape)).suggestName(s"${shape.name}_sender")
        sender.control <> registers.control
        stream <> sender.stream
        memory <> sender.memory
        isIdle := sender.idle
      }
      (isHere, registers, isIdle)
    }
  private val here = ends.map { case (isHere, _, _) => isHere }
  router.value := Mux1H(here, ends.map { case (_, registers, _) => registers.value })
  router.refused := !here.reduce(_ || _) || Mux1H(here, ends.map { case (_, registers, _) => registers.refused })
  idle := router.idle && ends.map { case (_, _, isIdle) => isIdle }.reduce(_ && _)

  /** A frame has ended, of a stream that interrupts. */
  val interrupt = interruptPort("mover")
  interrupt := ends.map { case (_, registers, _) => registers.interrupt }.reduce(_ || _)
}
