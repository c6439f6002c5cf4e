package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.port.MemoryPortParams
import rackwright.protobuf.table.DescriptorTable

/** Length and address of an output, and where they are stored. */
class OutputEntry(groups: Int) extends Bundle {

  /** A multiple of 8. */
  val address = UInt(DescriptorTable.addressBits.W)
  val length = UInt(32.W)
  val head = UInt(DescriptorTable.addressBits.W)
  val group = UInt(log2Ceil(groups).W)
}

/** Generates the writes of output entries: the length of an output, then its address. */
class OutputEntries(port: MemoryPortParams, groups: Int) extends Module {
  private val words = port.bytes / 8

  /** Entries, oldest first. */
  val entry = IO(Flipped(Decoupled(new OutputEntry(groups))))

  /** One beat, or two if the words are in different beats. */
  val beat = IO(Decoupled(new GroupedBeat(port, groups)))

  private val bits = entry.bits
  private val lane = bits.address(port.offsetBits - 1, 3)
  private val crosses = lane === (words - 1).U
  private val onSecond = RegInit(false.B)
  private val number = (bits.address >> port.offsetBits) + onSecond
  private val lanes = Mux(onSecond, 1.U(words.W), (3.U << lane)(words - 1, 0))
  private val data = Seq.tabulate(words)(index => Mux(!onSecond && lane === index.U, bits.length, bits.head).pad(64))

  beat.valid := entry.valid
  beat.bits.group := bits.group
  beat.bits.beat.address := number << port.offsetBits
  beat.bits.beat.data := Cat(data.reverse)
  beat.bits.beat.mask := FillInterleaved(8, lanes)
  entry.ready := beat.ready && (onSecond || !crosses)
  when(beat.fire) { onSecond := crosses && !onSecond }
}
