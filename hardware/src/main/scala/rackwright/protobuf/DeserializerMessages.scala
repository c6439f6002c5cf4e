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
  val line = IO(Flipped(Decoupled(new DescriptorLines)))
  val objects = IO(new Allocation)
  val store = IO(Decoupled(new Store(params.port)))

  private val state = RegInit(State.idle)
  // The headers of a few types; where there is none, the oldest gives way.
  private val headers = Reg(Vec(keptTypes, new Header))
  private val headerKept = RegInit(VecInit.fill(keptTypes)(false.B))
  private val mapKept = RegInit(VecInit.fill(keptTypes)(false.B))
  private val oldest = RegInit(0.U(log2Ceil(keptTypes).W))
  private val now = Reg(UInt(log2Ceil(keptTypes).W))
  private val create = Reg(Bool())
  private val parent = Reg(UInt(DescriptorTable.addressBits.W))
  private val place = Reg(UInt(DescriptorTable.addressBits.W))
  private val asked = Reg(UInt(28.W))
  private val got = Reg(UInt(28.W))
  private val header = headers(now)
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
  // Two lines of the image are taken at once where both are on chip and make a beat.
  private val pairs =
    (params.portBytes == 2 * lineBytes).B && inImage && line.bits.both && !got(0) && got + 1.U =/= lines
  private val taken = Mux(pairs, 2.U, 1.U)
  private val next = asked + (pairs && line.fire)
  private val hasImage = isState(State.creating) && mapKept(now)
  lookup.valid := asks && (inHeader || inMap || (inImage && next =/= imageEnd) || hasImage)
  lookup.bits.address := MuxCase(
    image + (next << 4),
    Seq(inHeader -> (message.table + (asked << 4)), inMap -> (image + (lines << 4) + (asked >> 6 << 4)))
  )
  lookup.bits.last := MuxCase(
    image + ((lines - 1.U) << 4),
    Seq(inHeader -> (message.table + (lineBytes * (DescriptorTable.headerLines - 1)).U), inMap -> lookup.bits.address)
  )
  private val lastOfHeader = (DescriptorTable.headerLines - 1).U
  when(lookup.fire && !inMap) {
    asked := next + 1.U
    asks := Mux(inHeader, asked =/= lastOfHeader, next + 1.U =/= imageEnd)
  }.elsewhen(!inMap) {
    asked := next
  }
  when(lookup.fire && inMap) { asks := false.B }

  private val first = line.bits.first
  private val words = (line.bits.second ## first.data).asTypeOf(Vec(4, UInt(64.W)))
  private val whichWords = header.arenaWords >> Cat(got(5, 0), 0.U(1.W))
  private val patched = Cat(words.zipWithIndex.map { case (word, i) => Mux(whichWords(i), arena, word) }.reverse)
  store.valid := (inImage && line.valid && !first.fault) || isState(State.creating)
  store.bits := Mux(
    inImage,
    Store.line(params.port, place + (got << 4), patched(127, 0)),
    Store.value(params.port, parent, objects.address, 3.U)
  )
  when(pairs) {
    store.bits.data := patched
    store.bits.mask := Fill(params.portBytes, 1.U(1.W))
  }
  when(isState(State.creating)) { store.valid := objects.fits }
  line.ready := inHeader || inMap || (inImage && (store.ready || first.fault))

  private val objectBeats = ((lines << 4) +& (params.portBytes - 1).U) >> params.port.offsetBits
  objects.bytes := Cat(objectBeats, 0.U(params.port.offsetBits.W))
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

  private val hits = headers.zip(headerKept).map { case (each, kept) =>
    kept && each.message.table === start.bits.table
  }
  private val isKnown = hits.reduce(_ || _)
  private val chosen = Mux(isKnown, OHToUInt(hits), oldest)
  when(start.valid) {
    now := chosen
    create := start.bits.create
    parent := start.bits.parent
    place := start.bits.existing
    asked := 0.U
    got := 0.U
    begin(Mux(isKnown, Mux(start.bits.create, State.creating, State.known), State.header))
    when(!isKnown) {
      oldest := oldest + 1.U
      headers(chosen).message.table := start.bits.table
      headerKept(chosen) := false.B
      mapKept(chosen) := false.B
    }
  }
  when(isState(State.known))(end())

  private val (least, most) = (first.word1(60, 32), first.word1(28, 0))
  private val span = most - least
  private val tooWide = most < least || span >= DescriptorTable.maximumEntries.U
  private val refused = RegInit(false.B)
  when(inHeader && line.valid) {
    got := got + 1.U
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
        asked := 0.U
        got := 0.U
        headerKept(now) := !first.fault && !refused && !first.word0(33)
        when(refused || first.word0(33))(end(Status.unsupported)).elsewhen(create) {
          state := State.creating
        }.otherwise(end())
      }
    }
    when(first.fault)(end(Status.accessFault))
  }
  when(isState(State.creating)) {
    place := objects.address
    when(!objects.fits)(end(Status.outputFull)).elsewhen(store.ready) {
      when(mapKept(now)) { state := State.image }.otherwise(begin(State.mapping))
    }
  }
  when(inMap && line.valid) {
    header.arenaWords := first.data
    mapKept(now) := !first.fault && lines <= (4 * lineBytes).U
    begin(State.image)
    when(first.fault)(end(Status.accessFault))
  }
  when(inImage && line.fire) {
    val through = got + taken
    got := through
    when(first.fault)(end(Status.accessFault)).elsewhen(through === lines)(end()).elsewhen(through(5, 0) === 0.U)(
      begin(State.mapping)
    )
  }
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

  /** `known` ends at once what needs no reading; `mapping` reads which words of the image are to hold the arena,
    * `image` copies it.
    */
  object State extends ChiselEnum {
    val idle, known, header, creating, mapping, image = Value
  }
}
