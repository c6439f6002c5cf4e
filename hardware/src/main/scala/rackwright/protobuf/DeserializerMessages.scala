package rackwright.protobuf

import chisel3._
import chisel3.util._

import rackwright.contract.Status

/** What a table's header says that the reading of a message needs. */
class MessageType extends Bundle {
  val table = UInt(DescriptorTable.addressBits.W)
  val hasbitsOffset = UInt(32.W)
  val hasbitsBytes = UInt(16.W)

  /** Least field number, and how many more the table has entries for. */
  val least = UInt(29.W)
  val span = UInt(log2Ceil(DescriptorTable.maximumEntries).W)
}

/** A message to begin. */
class MessageStart extends Bundle {
  val table = UInt(DescriptorTable.addressBits.W)

  /** Make an object, and store its address at `parent`; otherwise `existing` is the object. */
  val create = Bool()
  val parent = UInt(DescriptorTable.addressBits.W)
  val existing = UInt(DescriptorTable.addressBits.W)
}

/** Begins messages: reads the header of their table and, where asked, makes the object out of the table's image. */
class DeserializerMessages(params: DeserializerParams) extends Module {
  import DeserializerMessages._
  private val lineBytes = DescriptorTable.lineBytes

  /** Begin; takes until `done`. */
  val start = IO(Flipped(Valid(new MessageStart)))
  val done = IO(Valid(UInt(Status.width.W)))

  /** What was found; stays until the next start. */
  val found = IO(Output(new MessageType))
  val address = IO(Output(UInt(DescriptorTable.addressBits.W)))

  /** Forget the headers that are kept. */
  val flush = IO(Input(Bool()))

  val arena = IO(Input(UInt(64.W)))
  val lookup = IO(Decoupled(new DescriptorRequest))
  val line = IO(Flipped(Decoupled(new DescriptorLine)))
  val objects = IO(new Allocation)
  val store = IO(Decoupled(new Store(params.port)))

  private val state = RegInit(State.idle)
  // The latest header of messages that were made here, and of those that existed.
  private val headers = Reg(Vec(2, new Header))
  private val headerKept = RegInit(VecInit.fill(2)(false.B))
  private val mapKept = RegInit(VecInit.fill(2)(false.B))
  private val create = Reg(Bool())
  private val parent = Reg(UInt(DescriptorTable.addressBits.W))
  private val place = Reg(UInt(DescriptorTable.addressBits.W))
  private val asked = Reg(UInt(28.W))
  private val got = Reg(UInt(28.W))
  private val header = headers(create)
  private val (message, lines, image) = (header.message, header.lines, header.image)

  found := message
  address := place

  private def isState(which: State.Type): Bool = state === which
  private val inHeader = isState(State.header)
  private val inMap = isState(State.mapping)
  private val inImage = isState(State.image)

  // One line of the map holds the bits of the 64 lines of the image from `got` on.
  private val mapEnd = Cat(asked(asked.getWidth - 1, 6) + 1.U, 0.U(6.W))
  private val imageEnd = Mux(mapEnd < lines, mapEnd, lines)
  private val asks = Reg(Bool())
  lookup.valid := asks && (inHeader || inMap || inImage || (isState(State.creating) && mapKept(create)))
  lookup.bits.address := MuxCase(
    image + (asked << 4),
    Seq(inHeader -> (message.table + (asked << 4)), inMap -> (image + (lines << 4) + (asked >> 6 << 4)))
  )
  lookup.bits.last := MuxCase(
    image + ((lines - 1.U) << 4),
    Seq(inHeader -> (message.table + (lineBytes * (DescriptorTable.headerLines - 1)).U), inMap -> lookup.bits.address)
  )
  private val lastOfHeader = (DescriptorTable.headerLines - 1).U
  when(lookup.fire && !inMap) {
    asked := asked + 1.U
    asks := Mux(inHeader, asked =/= lastOfHeader, asked + 1.U =/= imageEnd)
  }
  when(lookup.fire && inMap) { asks := false.B }

  private val words = line.bits.data.asTypeOf(Vec(2, UInt(64.W)))
  private val whichWords = header.arenaWords >> Cat(got(5, 0), 0.U(1.W))
  private val patched = Cat(words.zipWithIndex.map { case (word, i) => Mux(whichWords(i), arena, word) }.reverse)
  store.valid := (inImage && line.valid && !line.bits.fault) || isState(State.creating)
  store.bits := Mux(
    inImage,
    Store.line(params.port, place + (got << 4), patched),
    Store.value(params.port, parent, objects.address, 3.U)
  )
  when(isState(State.creating)) { store.valid := objects.fits }
  line.ready := inHeader || inMap || (inImage && (store.ready || line.bits.fault))

  objects.bytes := Cat(lines, 0.U(4.W))
  objects.take := isState(State.creating) && store.fire

  done.valid := false.B
  done.bits := Status.ok
  private def end(status: UInt = Status.ok): Unit = {
    done.valid := true.B
    done.bits := status
    state := State.idle
  }
  private def begin(next: State.Type): Unit = {
    state := next
    asks := true.B
  }

  private val chosen = start.bits.create
  when(start.valid) {
    val isKnown = headerKept(chosen) && headers(chosen).message.table === start.bits.table
    create := chosen
    parent := start.bits.parent
    place := start.bits.existing
    asked := 0.U
    got := 0.U
    begin(Mux(isKnown, Mux(chosen, State.creating, State.known), State.header))
    when(!isKnown) {
      headers(chosen).message.table := start.bits.table
      headerKept(chosen) := false.B
      mapKept(chosen) := false.B
    }
  }
  when(isState(State.known))(end())

  private val (least, most) = (line.bits.word1(60, 32), line.bits.word1(28, 0))
  private val span = most - least
  private val tooWide = most < least || span >= DescriptorTable.maximumEntries.U
  private val refused = RegInit(false.B)
  when(inHeader && line.valid) {
    got := got + 1.U
    switch(got(1, 0)) {
      is(0.U) { lines := (line.bits.word1(31, 0) +& (lineBytes - 1).U) >> 4 }
      is(1.U) {
        message.hasbitsOffset := line.bits.word0(31, 0)
        message.hasbitsBytes := line.bits.word0(63, 32)
        message.least := least
        message.span := span
        refused := tooWide || lines === 0.U
      }
      is(2.U) { image := line.bits.word0 }
      is(3.U) {
        asked := 0.U
        got := 0.U
        headerKept(create) := !line.bits.fault && !refused && !line.bits.word0(33)
        when(refused || line.bits.word0(33))(end(Status.unsupported)).elsewhen(create) {
          state := State.creating
        }.otherwise(end())
      }
    }
    when(line.bits.fault)(end(Status.accessFault))
  }
  when(isState(State.creating)) {
    place := objects.address
    when(!objects.fits)(end(Status.outputFull)).elsewhen(store.ready) {
      when(mapKept(create)) { state := State.image }.otherwise(begin(State.mapping))
    }
  }
  when(inMap && line.valid) {
    header.arenaWords := line.bits.data
    mapKept(create) := !line.bits.fault && lines <= (4 * lineBytes).U
    begin(State.image)
    when(line.bits.fault)(end(Status.accessFault))
  }
  when(inImage && line.fire) {
    got := got + 1.U
    when(line.bits.fault)(end(Status.accessFault)).elsewhen(got + 1.U === lines)(end()).elsewhen(got(5, 0) === 63.U)(
      begin(State.mapping)
    )
  }
  when(flush) {
    headerKept := VecInit.fill(2)(false.B)
    mapKept := VecInit.fill(2)(false.B)
  }
}

/** State of [[DeserializerMessages]]. */
object DeserializerMessages {

  /** What is kept of the header of a type: `lines` of its image, and which of the words of 64 lines are the arena. */
  class Header extends Bundle {
    val message = new MessageType
    val lines = UInt(28.W)
    val image = UInt(DescriptorTable.addressBits.W)
    val arenaWords = UInt((8 * DescriptorTable.lineBytes).W)
  }

  /** `known` ends at once what needs no reading; `mapping` reads which words of the image are to hold the arena,
    * `image` copies it.
    */
  object State extends ChiselEnum {
    val idle, known, header, creating, mapping, image = Value
  }
}
