package rackwright.protobuf.map

import chisel3._
import chisel3.util._

import rackwright.memory.Sram
import rackwright.port.Status
import rackwright.protobuf.table.DescriptorTable

/** Sorts the elements of maps by insertion, and returns them in descending order of their keys.
  *
  * The elements of a nested map are stacked on the remaining ones of the enclosing map. The position of an element is
  * first assumed after the last one, then found by binary search.
  *
  * @param entries
  *   capacity in elements: a power of two.
  */
class MapSorter(entries: Int) extends Module {
  import MapSorter.State
  private val indexBits = log2Ceil(entries)
  private val countBits = log2Ceil(entries + 1)

  /** A map begins. */
  val begin = IO(Input(Bool()))

  /** An element to insert. */
  val insert = IO(Flipped(Decoupled(new MapElement)))

  /** Number of elements of the map; no insertion is in progress. */
  val count = IO(Output(UInt(countBits.W)))
  val idle = IO(Output(Bool()))

  /** Address of the last element; taking it removes it. */
  val last = IO(Decoupled(UInt(DescriptorTable.addressBits.W)))

  /** Discard all elements. */
  val clear = IO(Input(Bool()))

  /** There is no room, two keys are equal, or a key cannot be read. */
  val failure = IO(Valid(UInt(Status.width.W)))
  val read = IO(new WordRead)

  private val kept = Sram(entries, new MapElement)
  private val state = RegInit(State.idle)
  private val next = WireDefault(state)
  state := next
  private val top = RegInit(0.U(countBits.W))
  private val base = Reg(UInt(countBits.W))
  private val element = Reg(new MapElement)
  // The position is between `low` and `high`; `probe` is the element to compare with.
  private val low = Reg(UInt(countBits.W))
  private val high = Reg(UInt(countBits.W))
  private val probe = Reg(UInt(countBits.W))
  private val offset = Reg(UInt(31.W))
  private val mine = Reg(UInt(64.W))
  private val theirs = Reg(UInt(64.W))
  // The element to compare with, and the word read from its string.
  private val other = Reg(new MapElement)
  private val isSame = Reg(Bool())
  private val isGreater = Reg(Bool())
  private val asked = read.isUnderWay(clear)
  private def isState(which: State.Type): Bool = state === which

  count := top - base
  idle := isState(State.idle)
  insert.ready := isState(State.idle)

  private val isFull = top === entries.U
  private val looksAt = WireDefault(top - 1.U)
  private val present = kept.read(looksAt(indexBits - 1, 0), true.B)
  private val looksAtTop = isState(State.idle) && !insert.valid && top =/= 0.U
  // The last element is read into registers, one cycle later, and only between insertions.
  private val cameTop = RegNext(looksAtTop && !last.fire, false.B)
  private val knowsTop = RegInit(false.B)
  knowsTop := isState(State.idle) && !insert.valid && !last.fire && !clear && (cameTop || knowsTop)
  last.valid := knowsTop
  last.bits := RegEnable(present.address, cameTop)
  when(last.fire) { top := top - 1.U }

  // One element moves per cycle: one write port.
  private val puts = WireDefault(false.B)
  private val putPlace = WireDefault(low)
  private val putElement = WireDefault(element)
  when(puts) { kept.write(putPlace(indexBits - 1, 0), putElement) }
  failure.valid := false.B
  failure.bits := Status.unsupported
  private def fail(why: UInt): Unit = {
    failure.valid := true.B
    failure.bits := why
    next := State.idle
  }

  /** The element belongs behind the one that it was compared with, or before it. */
  private def narrow(isBehind: Bool): Unit = {
    val newLow = Mux(isBehind, probe + 1.U, low)
    val newHigh = Mux(isBehind, high, probe)
    low := newLow
    high := newHigh
    probe := (newLow +& newHigh) >> 1
    next := Mux(newLow === newHigh, State.place, State.look)
  }

  // If one key is a prefix of the other, the shorter one is less; of equal keys, only the library knows which one is
  // valid.
  private val elementReaches = RegNext(element.reaches(offset))
  private val otherReaches = RegNext(other.reaches(offset))
  private val bothEnd = !elementReaches && !otherReaches
  private val sameLength = RegNext(element.length === other.length)
  private val isLonger = RegNext(element.length > other.length)
  private def compareLengths(): Unit = {
    narrow(isLonger)
    when(sameLength)(fail(Status.unsupported))
  }

  // Longer strings are compared word by word.
  private val readsOther = isState(State.other)
  private val source = Mux(readsOther, other, element)
  private val reaches = Mux(readsOther, otherReaches, elementReaches)
  private val reads = RegNext(next === State.mine || next === State.other, false.B)
  read.request.valid := !asked && reaches && reads
  read.request.bits := source.text + offset
  private val word = Mux(reaches, MapElement.text(read.answer.bits.data, source.length - offset), 0.U)
  private val hasWord = !reaches || read.answer.valid
  private val isFault = reaches && read.answer.bits.fault

  when(begin) { base := top }
  switch(state) {
    is(State.idle) {
      when(insert.valid) {
        element := insert.bits
        low := base
        high := top
        probe := top - 1.U
        next := Mux(top === base, State.place, State.look)
        when(isFull)(fail(Status.unsupported))
      }
    }
    is(State.look) {
      looksAt := probe
      offset := 8.U
      next := State.compare
    }
    is(State.compare) {
      other := present
      isSame := element.key === present.key
      isGreater := element.key > present.key
      next := State.lengths
    }
    is(State.lengths) { next := State.weigh }
    is(State.weigh) {
      next := State.mine
      when(!isSame)(narrow(isGreater)).elsewhen(bothEnd)(compareLengths())
    }
    is(State.mine) {
      mine := word
      when(hasWord) {
        next := State.other
        when(isFault)(fail(Status.accessFault))
      }
    }
    is(State.other) {
      theirs := word
      when(hasWord) {
        offset := offset + 8.U
        next := State.tie
        when(isFault)(fail(Status.accessFault))
      }
    }
    is(State.tie) {
      isSame := mine === theirs
      isGreater := mine > theirs
      next := State.weigh
    }
    is(State.place) {
      // The elements behind the position move up, the last one first.
      probe := top - 1.U
      looksAt := top - 1.U
      next := State.shift
      when(top === low) {
        puts := true.B
        top := top + 1.U
        next := State.idle
      }
    }
    is(State.shift) {
      puts := true.B
      putPlace := probe + 1.U
      putElement := present
      looksAt := probe - 1.U
      probe := probe - 1.U
      when(probe === low) { next := State.fill }
    }
    is(State.fill) {
      puts := true.B
      top := top + 1.U
      next := State.idle
    }
  }
  when(clear) {
    next := State.idle
    top := 0.U
  }
}

/** The states of [[MapSorter]]. */
object MapSorter {

  /** `look` reads the element to compare with, `compare` and `lengths` compare the part on chip, `weigh` decides;
    * `mine`, `other` and `tie` compare one more word of two strings; `place` has found the position, `shift` makes room
    * for the element and writes it.
    */
  object State extends ChiselEnum {
    val idle, look, compare, lengths, weigh, mine, other, tie, place, shift, fill = Value
  }
}
