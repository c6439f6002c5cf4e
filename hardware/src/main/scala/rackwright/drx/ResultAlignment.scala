package rackwright.drx

import chisel3._

/** Packs the results of lanes to bytes, and aligns them to lines of the scratchpad; a register is behind it. */
class ResultAlignment(params: Params) extends Module {
  val results = IO(Input(Vec(params.lanes, UInt(32.W))))
  val written = IO(Input(Vec(params.lanes, UInt((1 << Packing.most).W))))

  /** Of the chunk: the elements that it has, and their destination. */
  val count = IO(Input(UInt(params.elementBits.W)))
  val packing = IO(Input(UInt(2.W)))
  val destination = IO(Input(new Operand))
  val write = IO(Output(new ScratchpadWrite(params)))

  private val (packed, mask) =
    Elements.pack(results, written, count, packing, Elements.bytes(destination.elementType))
  private val placed = Wire(new ScratchpadWrite(params))
  placed.place(params, destination.address, packed, mask) { (bytes, offset) =>
    val rotation = Module(new LineRotation(params.lineBytes))
    rotation.line := bytes
    rotation.by := offset
    rotation.turned
  }
  write := RegNext(placed)
}
