package rackwright.protobuf.parse

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.protobuf.table.{DescriptorLines, DescriptorRequest, DescriptorTable}

/** The part of a table's header that is needed to parse a message. */
class MessageType extends Bundle {
  val table = UInt(DescriptorTable.addressBits.W)
  val hasbitsOffset = UInt(32.W)
  val hasbitsBytes = UInt(16.W)

  /** Smallest field number, and the number of entries after that of the smallest one. */
  val least = UInt(29.W)
  val span = UInt(log2Ceil(DescriptorTable.maximumEntries).W)

  /** Bit i: every field with an entry whose number is i modulo 64 is a string or bytes field that the unit supports. */
  val texts = UInt(MessageType.textBits.W)
}

/** Constants of a [[MessageType]]. */
object MessageType {
  val textBits: Int = 64
}

/** A message to start. */
class MessageStart extends Bundle {
  val table = UInt(DescriptorTable.addressBits.W)

  /** Create an object, and store its address at `parent`; otherwise `existing` is the object. */
  val create = Bool()
  val parent = UInt(DescriptorTable.addressBits.W)
  val existing = UInt(DescriptorTable.addressBits.W)
}

/** Starts messages: reads the header of the table and, on request, creates the object as a copy of the table's image.
  */
class DeserializerMessages(params: DeserializerParams) extends Module {
  import DeserializerMessages._
  private val lineBytes = DescriptorTable.lineBytes

  /** Start; takes until `done`. */
  val start = IO(Flipped(Valid(new MessageStart)))

  /** The header of the candidate table is cached: the result is valid in the next cycle. */
  val isKept = IO(Output(Bool()))
  val done = IO(Valid(UInt(Status.width.W)))

  /** The result; held until the next start. */
  val found = IO(Output(new MessageType))
  val address = IO(Output(UInt(DescriptorTable.addressBits.W)))

  /** Invalidate the cached headers. */
  val flush = IO(Input(Bool()))

  val arena = IO(Input(UInt(64.W)))
  val lookup = IO(Decoupled(new DescriptorRequest))
  val line = IO(Flipped(Decoupled(new DescriptorLines)))
  val objects = IO(new Allocation)
  val store = IO(Decoupled(new Store(params.port)))

  private val state = RegInit(State.idle)
  // A cache of headers with first-in first-out replacement. The header of the current type is copied to a register.
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

  /** The first cycle of `header`. */
  private val isNew = Wire(Bool())

  // One line after the other: its address, the last address that may be prefetched with it, its number, and its
  // destination.
  private val at = Reg(UInt(DescriptorTable.addressBits.W))
  private val last = Reg(UInt(DescriptorTable.addressBits.W))
  private val got = Reg(UInt(28.W))
  private val to = Reg(UInt(DescriptorTable.addressBits.W))
  private val sent = Reg(Bool())
  // If the map of arena pointers is cached, the image is requested while memory is allocated for the object.
  private val early = hasMap && (isState(State.asking) || isState(State.creating))
  lookup.valid := ((inHeader && !isNew) || inMap || inImage || early) && !sent
  lookup.bits.address := at
  lookup.bits.last := Mux(inMap, at, last)
  when(lookup.fire) { sent := true.B }
  when(line.fire) { sent := false.B }

  // Two lines of the image are copied at once if both are on chip and form a beat.
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
  // One line of the map holds the bits of 64 lines of the image, starting at `got`.
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

  // Lines are written to the cache one cycle after they arrive.
  when(RegNext((inHeader || inMap) && line.valid, false.B)) { headers(now) := header }
  when(flush) {
    headerKept := VecInit.fill(keptTypes)(false.B)
    mapKept := VecInit.fill(keptTypes)(false.B)
  }
}

/** Constants and state of [[DeserializerMessages]]. */
object DeserializerMessages {

  /** Number of cached headers: a power of two. */
  val keptTypes: Int = 8

  /** A cached header: the number of `lines` of the image, and which words of 64 of its lines are pointers to the arena.
    */
  class Header extends Bundle {
    val message = new MessageType
    val lines = UInt(28.W)
    val image = UInt(DescriptorTable.addressBits.W)
    val arenaWords = UInt((8 * DescriptorTable.lineBytes).W)
  }

  /** `known` ends at once if nothing must be read, `header` reads the header. `measuring` and `asking` allocate the
    * object, `creating` stores its address. `finding` and `mapping` read which words of the image receive the pointer
    * to the arena, `locating` and `image` copy the image.
    */
  object State extends ChiselEnum {
    val idle, known, header, measuring, asking, creating, finding, mapping, locating, image = Value
  }
}
