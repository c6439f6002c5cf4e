package rackwright.soc

import chisel3._
import chisel3.experimental.IntParam
import chisel3.util.HasBlackBoxResource

/** The Verilog of a unit: a black box with the pins that the contracts of its ports name.
  *
  * What a unit has beside them (events, which only a simulation counts) stays open. `further` are pins of contracts
  * that are not those of a unit beside a hart.
  */
class UnitBox(spec: UnitSpec, further: () => Seq[(String, Data)] = () => Nil)
    extends BlackBox(spec.parameters.map { case (name, value) => name -> IntParam(value) })
    with HasBlackBoxResource {
  override def desiredName: String = spec.module
  spec.verilog.foreach(file => addResource(s"/vsrc/$file"))

  val io = IO(new Pins(() => UnitBox.pins(spec) ++ further()))

  /** Runs it by a clock and a reset. */
  def run(clock: Clock, reset: Bool): Unit = {
    io(spec.clock) := clock
    io.bits(spec.reset) := (if (spec.resetHigh) reset else !reset)
  }

  /** Connects one of its memory ports. */
  def connect(memory: MemorySpec, port: MemoryPort): Unit = {
    def pin(name: String): UInt = io.bits(s"${memory.name}_$name")
    port.request.valid := pin("request_valid")
    port.request.bits.address := pin("request_bits_address")
    port.request.bits.write := pin("request_bits_write")
    port.request.bits.data := pin("request_bits_data")
    port.request.bits.mask := pin("request_bits_mask")
    port.request.bits.tag := pin("request_bits_tag")
    pin("request_ready") := port.request.ready
    pin("response_valid") := port.response.valid
    pin("response_bits_tag") := port.response.bits.tag
    pin("response_bits_data") := port.response.bits.data
    pin("response_bits_fault") := port.response.bits.fault
    port.response.ready := pin("response_ready")
  }

  /** Its interrupt lines. */
  def interrupts: Seq[Bool] = spec.interrupts.map(io.bits(_).asBool)
}

object UnitBox {
  private def in(width: Int): UInt = Input(UInt(width.W))
  private def out(width: Int): UInt = Output(UInt(width.W))

  private def pins(spec: UnitSpec): Seq[(String, Data)] =
    Seq(spec.clock -> Input(Clock()), spec.reset -> in(1)) ++
      spec.idle.map(_ -> out(1)) ++
      spec.command.toSeq.flatMap(command) ++
      spec.command.filter(_ => spec.translates).toSeq.flatMap(context) ++
      spec.memories.flatMap(memory) ++
      spec.interrupts.map(_ -> out(1))

  private def command(name: String): Seq[(String, Data)] = Seq(
    s"${name}_request_ready" -> out(1),
    s"${name}_request_valid" -> in(1),
    s"${name}_request_bits_opcode" -> in(2),
    s"${name}_request_bits_funct" -> in(7),
    s"${name}_request_bits_rs1" -> in(64),
    s"${name}_request_bits_rs2" -> in(64),
    s"${name}_request_bits_rd" -> in(5),
    s"${name}_request_bits_xd" -> in(1),
    s"${name}_response_ready" -> in(1),
    s"${name}_response_valid" -> out(1),
    s"${name}_response_bits_rd" -> out(5),
    s"${name}_response_bits_data" -> out(64)
  )

  private def context(name: String): Seq[(String, Data)] = Seq(
    s"${name}_request_bits_context_satp" -> in(64),
    s"${name}_request_bits_context_privilege" -> in(2),
    s"${name}_request_bits_context_sum" -> in(1),
    s"${name}_request_bits_context_mxr" -> in(1),
    s"${name}_fence" -> in(1)
  )

  private def memory(port: MemorySpec): Seq[(String, Data)] = Seq(
    s"${port.name}_request_ready" -> in(1),
    s"${port.name}_request_valid" -> out(1),
    s"${port.name}_request_bits_address" -> out(port.addressBits),
    s"${port.name}_request_bits_write" -> out(1),
    s"${port.name}_request_bits_data" -> out(8 * port.bytes),
    s"${port.name}_request_bits_mask" -> out(port.bytes),
    s"${port.name}_request_bits_tag" -> out(port.tagBits),
    s"${port.name}_response_ready" -> out(1),
    s"${port.name}_response_valid" -> in(1),
    s"${port.name}_response_bits_tag" -> in(port.tagBits),
    s"${port.name}_response_bits_data" -> in(8 * port.bytes),
    s"${port.name}_response_bits_fault" -> in(1)
  )
}
