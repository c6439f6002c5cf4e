package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.protobuf.table.{DescriptorLines, DescriptorRequest, DescriptorTable}

/** What a table's header says that the reading of a message needs. */
class MessageType extends Bundle {
  val table = UInt(DescriptorTable.addressBits.W)
  val hasbitsOffset = UInt(32.W)
  val hasbitsBytes = UInt(16.W)

  /** Least field number, and how many more the table has entries for. */
  val least = UInt(29.W)
  val span = UInt(log2Ceil(DescriptorTable.maximumEntries).W)

  /** Bit i: each field with an entry whose number is i modulo 64 is a string or bytes, and the unit's. */
  val texts = UInt(MessageType.textBits.W)
}

/** Constants of a [[MessageType]]. */
object MessageType {
  val textBits: Int = 64
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

  /** The header of the table that may be begun with is kept: what is found is there in the next cycle. */
  val isKept = IO(Output(Bool()))
  val done = IO(Valid(UInt(Status.width.W)))

  /** What was found; stays until the next start. */
  val found = IO(Output(new MessageType))
  val address = IO(Output(UInt(DescriptorTable.addressBits.W)))

  /** Forget the headers that are kept. */
  val flush = IO(Input(Bool()))

  val arena = IO(Input(UInt(64.W)))
  val lookup = IO(Decoupled(new DescriptorRequest))
  val line = IO(Flipped(Decoupled(new DescriptorLines)))
  val objects = IO(new Allocation)
  val store = IO(Decoupled(new Store(params.port)))

  private val state = RegInit(State.idle)
  // The headers of a few types; where there is none, the oldest gives way. That of the type at hand is copied.
  private val headers = Reg(Vec(keptTypes, new Header))
  private val headerKept = RegInit(VecInit.fill(keptTypes)(false.B))
  private val mapKept = RegInit(VecInit.fill(keptTypes)(false.B))
  private val oldest = RegInit(0.U(log2Ceil(keptTypes).W))
  private val now = Reg(UInt(log2Ceil(keptTypes).W))
  private val header = Reg(new Header)
  private val hasMap = Reg(Bool())
  private val create = Reg(Bool())
  private val parent = Reg(UInt(DescriptorTable.addressBits.W))
  private val place = Reg(UInt(DescriptorTable.addressBits.W))
  private val (message, lines, image) = (header.message, header.lines, header.image)

  found := message
  address := place

  private def isState(which: State.Type): Bool = state === which
  private val inHeader = isState(State.header)
  private val inMap = isState(State.mapping)
  private val inImage = isState(State.image)

  /** In the first cycle of `header`. */
  private val isNew = Wire(Bool())

  // One line after the other: where it lies, that of the last one which may be read along, its number; where it goes.
  private val at = Reg(UInt(DescriptorTable.addressBits.W))
  private val last = Reg(UInt(DescriptorTable.addressBits.W))
  private val got = Reg(UInt(28.W))
  private val to = Reg(UInt(DescriptorTable.addressBits.W))
  private val sent = Reg(Bool())
  // Where the map is known, the image is asked for while its object takes memory.
  private val early = hasMap && (isState(State.asking) || isState(State.creating))
  lookup.valid := ((inHeader && !isNew) || inMap || inImage || early) && !sent
  lookup.bits.address := at
  lookup.bits.last := Mux(inMap, at, last)
  when(lookup.fire) { sent := true.B }
  when(line.fire) { sent := false.B }

  // Two lines of the image are taken at once where both are on chip and make a beat.
  private val another = RegNext(got + 1.U =/= lines)
  private val pairs = (params.portBytes == 2 * lineBytes).B && line.bits.both && !got(0) && another
  private val taken = Mux(pairs, 2.U(2.W), 1.U(2.W))

  private val first = line.bits.first
  private val words = (line.bits.second ## first.data).asTypeOf(Vec(4, UInt(64.W)))
  private val whichWords = RegNext((header.arenaWords >> Cat(got(5, 0), 0.U(1.W)))(3, 0))
  private val patched = Cat(words.zipWithIndex.map { case (word, i) => Mux(whichWords(i), arena, word) }.reverse)
  private val lastOfImage = image + ((lines - 1.U) << log2Ceil(lineBytes))
  private val fits = Reg(Bool())
  private val creating = isState(State.creating)
  store.valid := (inImage && line.valid && !first.fault) || (creating && fits)
  store.bits := Mux(
    inImage,
    Store.line(params.port, to, patched(127, 0)),
    Store.value(params.port, parent, place, 3.U)
  )
  when(inImage && pairs) {
    store.bits.data := patched
    store.bits.mask := Fill(params.portBytes, 1.U(1.W))
  }
  line.ready := inHeader || inMap || (inImage && (store.ready || first.fault))

  private val objectBeats = Reg(UInt((28 + log2Ceil(lineBytes) + 1 - params.port.offsetBits).W))
  objects.bytes := Cat(objectBeats, 0.U(params.port.offsetBits.W))
  objects.take := creating && store.fire

  done.valid := false.B
  done.bits := Status.ok
  private def end(status: UInt = Status.ok): Unit = {
    done.valid := true.B
    done.bits := status
    state := State.idle
  }

  private val hits = headers.zip(headerKept).map { case (each, kept) =>
    kept && each.message.table === start.bits.table
  }
  private val isKnown = hits.reduce(_ || _)
  isKept := isKnown
  private val chosen = Mux(isKnown, OHToUInt(hits), oldest)
  isNew := RegNext(start.valid && !isKnown, false.B)
  when(start.valid) {
    now := chosen
    create := start.bits.create
    parent := start.bits.parent
    place := start.bits.existing
    header := Mux1H(hits, headers)
    header.message.table := start.bits.table
    hasMap := Mux1H(hits, mapKept)
    at := start.bits.table
    got := 0.U
    sent := false.B
    state := Mux(isKnown, Mux(start.bits.create, State.measuring, State.known), State.header)
  }
  when(isNew) {
    last := at + (lineBytes * (DescriptorTable.headerLines - 1)).U
    oldest := oldest + 1.U
    headerKept(now) := false.B
    mapKept(now) := false.B
  }
  when(isState(State.known))(end())

  private val (least, most) = (first.word1(60, 32), first.word1(28, 0))
  private val span = most - least
  private val tooWide = most < least || span >= DescriptorTable.maximumEntries.U
  private val refused = RegInit(false.B)
  when(inHeader && line.valid) {
    got := got + 1.U
    at := at + lineBytes.U
    switch(got(1, 0)) {
      is(0.U) { lines := (first.word1(31, 0) +& (lineBytes - 1).U) >> 4 }
      is(1.U) {
        message.hasbitsOffset := first.word0(31, 0)
        message.hasbitsBytes := first.word0(63, 32)
        message.least := least
        message.span := span
        refused := tooWide || lines === 0.U
      }
      is(2.U) { image := first.word0 }
      is(3.U) {
        message.texts := first.word1
        headerKept(now) := !first.fault && !refused && !first.word0(33)
        when(refused || first.word0(33))(end(Status.unsupported)).elsewhen(create) {
          state := State.measuring
        }.otherwise(end())
      }
    }
    when(first.fault)(end(Status.accessFault))
  }
  when(isState(State.measuring)) {
    objectBeats := ((lines << log2Ceil(lineBytes)) +& (params.portBytes - 1).U) >> params.port.offsetBits
    got := 0.U
    at := image
    last := lastOfImage
    state := State.asking
  }
  when(isState(State.asking)) {
    fits := objects.fits
    place := objects.address
    to := objects.address
    state := State.creating
  }
  when(creating) {
    when(!fits)(end(Status.outputFull)).elsewhen(store.ready) { state := Mux(hasMap, State.image, State.finding) }
  }
  // One line of the map holds the bits of the 64 lines of the image from `got` on.
  when(isState(State.finding)) {
    at := image + (lines << log2Ceil(lineBytes)) + (got >> 6 << log2Ceil(lineBytes))
    state := State.mapping
  }
  when(inMap && line.valid) {
    header.arenaWords := first.data
    mapKept(now) := !first.fault && lines <= (4 * lineBytes).U
    state := State.locating
    when(first.fault)(end(Status.accessFault))
  }
  when(isState(State.locating)) {
    at := image + (got << log2Ceil(lineBytes))
    last := lastOfImage
    state := State.image
  }
  when(inImage && line.fire) {
    val through = got + taken
    got := through
    at := at + (taken << log2Ceil(lineBytes))
    to := to + (taken << log2Ceil(lineBytes))
    when(first.fault)(end(Status.accessFault)).elsewhen(through === lines)(end()).elsewhen(through(5, 0) === 0.U) {
      state := State.finding
    }
  }

  // What was read is kept, one cycle after it came.
  when(RegNext((inHeader || inMap) && line.valid, false.B)) { headers(now) := header }
  when(flush) {
    headerKept := VecInit.fill(keptTypes)(false.B)
    mapKept := VecInit.fill(keptTypes)(false.B)
  }
}

/** Constants and state of [[DeserializerMessages]]. */
object DeserializerMessages {

  /** Types whose headers are kept: a power of two. */
  val keptTypes: Int = 8

  /** What is kept of the header of a type: `lines` of its image, and which of the words of 64 lines are the arena. */
  class Header extends Bundle {
    val message = new MessageType
    val lines = UInt(28.W)
    val image = UInt(DescriptorTable.addressBits.W)
    val arenaWords = UInt((8 * DescriptorTable.lineBytes).W)
  }

  /** `known` ends at once what needs no reading, `header` reads it. `measuring` and `asking` take memory for the
    * object, `creating` stores where that is. `finding` and `mapping` read which words of the image are to hold the
    * arena, `locating` and `image` copy it.
    */
  object State extends ChiselEnum {
    val idle, known, header, measuring, asking, creating, finding, mapping, locating, image = Value
  }
}
