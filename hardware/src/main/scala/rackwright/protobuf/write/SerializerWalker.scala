package rackwright.protobuf.write

import chisel3._
import chisel3.util._

import rackwright.access.LoadedBeat
import rackwright.memory.LevelStack
import rackwright.port.Status
import rackwright.protobuf.map.{LoadedWord, SerializerMap}
import rackwright.protobuf.table.DescriptorTable

/** Walks messages, from the last field to the first, and outputs what is to be written.
  *
  * [[SerializerList]] finds entries, [[SerializerFetch]] reads fields, [[SerializerMap]] sorts maps; this module enters
  * and leaves messages, and iterates over repeated fields.
  */
class SerializerWalker(params: SerializerParams) extends Module {
  import SerializerWalker.State
  private val addressBits = DescriptorTable.addressBits
  private val offsetBits = log2Ceil(params.portBytes)

  /** Messages to walk. */
  val request = IO(Flipped(Decoupled(new SerializerRequest)))

  /** The output, in descending order of address. */
  val operation = IO(Decoupled(new SerializerOperation))

  /** Strings and arrays for the field serializers. */
  val task = IO(Decoupled(new FieldTask))

  /** Number of the request whose walk is abandoned. */
  val givenUp = IO(Flipped(Valid(UInt(SerializerEncoder.requestBits.W))))

  /** Rows of descriptor tables. */
  val rowRequest = IO(Decoupled(new SerializerRowRequest))
  val row = IO(Flipped(Decoupled(new SerializerRow)))
  val cancelRow = IO(Output(Bool()))

  /** Beats of objects. */
  val beatRequest = IO(Decoupled(UInt((addressBits - offsetBits).W)))
  val beat = IO(Flipped(Decoupled(new LoadedBeat(params.portBytes))))
  val prefetch = IO(Valid(new SerializerPrefetch(addressBits - offsetBits)))

  /** Cached copies of the message's beats from before this time are stale. */
  val since = IO(Output(UInt(SerializerCache.timeBits.W)))

  /** Descriptor tables have changed; between requests. */
  val flush = IO(Input(Bool()))

  /** The last top-level type walked, and the size of its objects, as far as they are prefetched. */
  val latest = IO(Valid(UInt(addressBits.W)))
  val latestBytes = IO(Output(UInt(SerializerWalker.sizeBits.W)))
  val cancelBeat = IO(Output(Bool()))

  /** No message is being walked. */
  val idle = IO(Output(Bool()))

  private val list = Module(new SerializerList)
  private val fetch = Module(new SerializerFetch(params.portBytes))
  private val objects = Module(new SerializerObjects(params.portBytes))
  private val map = Module(new SerializerMap(params.mapEntries))
  private val dispatch = Module(new SerializerDispatch)
  private val headers = Module(new SerializerHeaders)
  private val stack = Module(new LevelStack(new WalkedMessage, params.depth - 1))
  private val readAhead = new SerializerReadAhead(params)

  private val state = RegInit(State.idle)
  private val at = Reg(new WalkedMessage)
  private val isInner = Reg(Bool())
  private val status = Reg(UInt(Status.width.W))
  private val holder = RegInit(0.U.asTypeOf(Valid(UInt(32.W))))
  private val oneof = Reg(UInt(16.W))
  private val table = Reg(UInt(addressBits.W))
  private val isBare = Reg(Bool())
  private val elementBytes = Reg(UInt(SerializerWalker.sizeBits.W))
  // A message is entered after a delay, so that the one that follows it is prefetched: both are read at the same time.
  private val held = RegInit(false.B)
  private val patience = Reg(UInt(2.W))
  private def on(which: State.Type): Bool = state === which
  private val walking = on(State.fields)
  private val found = fetch.found
  private val items = at.items
  idle := on(State.idle)

  // Operations in flight are discarded when a message or a field is left.
  private val leavesFields = on(State.finish) || on(State.enter) || on(State.away)
  list.stop := leavesFields || on(State.idle)
  cancelRow := list.stop
  cancelBeat := leavesFields
  objects.clear := leavesFields
  fetch.clear := leavesFields
  stack.clear := on(State.finish)

  // Beats of objects: fields, or words for this module.
  private val answer = objects.answer
  private val word = answer.bits.word
  private val fault = answer.bits.beat.fault
  answer.ready := false.B
  beatRequest <> objects.request
  objects.response <> beat
  objects.field.valid := walking && fetch.request.valid
  objects.field.bits := fetch.request.bits
  fetch.request.ready := walking && objects.field.ready
  fetch.response <> objects.fieldBeat

  // Presence: the group of hasbits of the current field, and the oneof examined last.
  private val hasbits = RegNext(at.message + at.hasbits)
  private val hasPart = at.presence.valid && at.part === list.wanted.bits
  private val wantsPart =
    walking && list.wanted.valid && !hasPart && fetch.idle && !list.entry.valid && !held && !objects.reading
  private val wantedPart = Reg(UInt(SerializerList.partBits.W))
  private val hasbitsAreWords = at.hasbits(2, 0) === 0.U
  list.judges := walking
  list.known.hasbits := at.presence
  list.known.part := at.part
  list.known.holder := holder
  list.known.oneof := oneof
  when(fetch.holder.valid) {
    holder := fetch.holder
    oneof := fetch.oneof
  }
  private def learn(part: UInt, bits: UInt): Unit = {
    at.presence.valid := true.B
    at.presence.bits := bits
    at.part := part
  }

  // Entries are output while a message is walked.
  fetch.message := at.message
  fetch.entry.valid := list.entry.valid && walking
  fetch.entry.bits := list.entry.bits
  list.entry.ready := fetch.entry.ready && walking

  // Nothing is in flight in the caches when a message is looked up: they accept its requests at once.
  headers.table := table
  private val headerHere = RegNext(headers.found)
  private val header = Reg(new SerializerHeader)
  private val isRead = Reg(Bool())
  private val isWild = Reg(Bool())
  private val isForeign = Reg(Bool())
  private val looksUp = on(State.lookup) && rowRequest.ready && objects.word.ready
  rowRequest.valid := Mux(on(State.lookup), looksUp && !headerHere.valid, list.request.valid)
  rowRequest.bits := list.request.bits
  when(on(State.lookup)) {
    rowRequest.bits.address := table
    rowRequest.bits.continues := false.B
  }
  list.request.ready := !on(State.lookup) && rowRequest.ready
  list.response.valid := row.valid && !on(State.header)
  list.response.bits := row.bits
  row.ready := on(State.header) || list.response.ready

  // Words: metadata, hasbits, pointers of arrays from the last one on, and reads of the map sorter.
  private val inArray = on(State.elements) && !items.isMap
  private val pointersLeft = Reg(UInt(31.W))
  private val pointer = Reg(UInt(addressBits.W))
  private val metadata = RegNext(at.message + 8.U)
  private val part = RegNext(hasbits + (list.wanted.bits << 3))
  private val asksPart = wantsPart && RegNext(wantsPart, false.B)
  // The map sorter determines its reads late.
  private val mapWord = Module(new Queue(chiselTypeOf(map.read.request.bits), 1, hasFlush = true))
  mapWord.io.enq.valid := on(State.sort) && map.read.request.valid
  mapWord.io.enq.bits := map.read.request.bits
  map.read.request.ready := on(State.sort) && mapWord.io.enq.ready
  mapWord.io.flush.get := !on(State.sort)
  objects.word.valid := MuxLookup(state, asksPart)(
    Seq(
      State.lookup -> looksUp,
      State.elements -> (inArray && pointersLeft =/= 0.U),
      State.sort -> (mapWord.io.deq.valid && !objects.reading)
    )
  )
  objects.word.bits := MuxLookup(state, part)(
    Seq(State.lookup -> metadata, State.elements -> pointer, State.sort -> mapWord.io.deq.bits)
  )
  when(inArray && objects.word.fire) {
    pointersLeft := pointersLeft - 1.U
    pointer := pointer - 8.U
  }
  mapWord.io.deq.ready := on(State.sort) && objects.word.fire
  map.read.answer.valid := on(State.sort) && answer.fire
  map.read.answer.bits.data := word
  map.read.answer.bits.fault := fault
  when(on(State.sort)) { answer.ready := true.B }

  // The current element; for messages, the next one is known too.
  /** Of the remaining elements; computed before their state begins. */
  private val noneLeft = Reg(Bool())
  private val oneLeft = Reg(Bool())
  private val entersLast = items.next.valid && oneLeft
  private val wantsElement = !noneLeft && !entersLast
  private val hasElement = on(State.elements) && Mux(items.isMap, map.last.valid && wantsElement, answer.valid)
  private val elementWord = Mux(items.isMap, map.last.bits, word)
  private val element = elementWord(addressBits - 1, 0)
  private val isBadElement = LoadedWord.isWild(elementWord) || (inArray && fault)
  map.last.ready := on(State.elements) && items.isMap && wantsElement

  // Strings, numbers and marks are output.
  private val leadsAway = found.bits.kind.isOneOf(FoundKind.message, FoundKind.messages, FoundKind.map)
  dispatch.field.valid := walking && found.valid && !leadsAway && !held
  dispatch.field.bits := found.bits
  found.ready := walking && !held && (leadsAway || dispatch.field.ready)
  private val time = RegEnable(request.bits.time, request.fire)
  private val number = SerializerRequest.number(time)
  dispatch.request := number
  dispatch.mark.valid := (on(State.enter) && isInner) || on(State.close) || on(State.finish)
  dispatch.mark.bits.kind := MuxLookup(state, OperationKind.finish)(
    Seq(State.enter -> OperationKind.open, State.close -> OperationKind.close)
  )
  dispatch.mark.bits.tag := items.tag
  dispatch.mark.bits.status := Mux(on(State.finish), status, Status.ok)
  operation <> dispatch.operation
  task <> dispatch.task

  // Prefetches pass through two registers: the address, and the beats.
  since := time
  private val announced = Wire(Valid(new Announced))
  announced.valid := false.B
  announced.bits := DontCare
  private val placed = RegNext(announced)
  private val begins = RegNext(placed.bits.base + (placed.bits.words << 3))
  private val placedNext = RegNext(placed)
  private val isPlaced = RegNext(RegNext(announced.valid, false.B), false.B)
  private def beats(downward: Boolean) = readAhead.beats(begins, placedNext.bits.bytes, time, downward)
  prefetch.valid := RegNext(isPlaced, false.B)
  prefetch.bits := RegNext(Mux(placedNext.bits.downward, beats(true), beats(false)))
  private def announce(address: UInt, bytes: UInt): Unit = {
    announced.valid := true.B
    announced.bits.base := address
    announced.bits.words := 0.U
    announced.bits.bytes := bytes
    announced.bits.downward := false.B
  }

  /** Prefetches the pointers of an array, which is walked from its end. */
  private def announcePointers(array: UInt, first: UInt, count: UInt): Unit = {
    announced.valid := true.B
    announced.bits.base := array
    announced.bits.words := first
    announced.bits.bytes := count << 3
    announced.bits.downward := true.B
  }

  private def fail(why: UInt): Unit = {
    status := why
    state := State.finish
  }
  private def begin(): Unit = {
    at.message := request.bits.message
    table := request.bits.table
    isInner := false.B
    when(request.fire) {
      state := State.enter
      when(request.bits.refused) { fail(Status.accessFault) }
    }
  }

  private val around = WireDefault(at)
  stack.push.valid := false.B
  stack.push.bits := around
  private val leaves = walking && list.finished && fetch.idle && !objects.reading && !held
  stack.pop := leaves && !stack.empty
  private def enter(message: UInt, newTable: UInt): Unit = {
    when(stack.full) { fail(Status.unsupported) }.otherwise {
      stack.push.valid := true.B
      at.message := message
      table := newTable
      isInner := true.B
      state := State.enter
    }
  }

  /** The walk of the list will continue behind this field. */
  private def leaveFor(field: FoundField): Unit = {
    at.position.list := list.list
    at.position.left := field.left
    items.tag := field.entry.tag
  }

  /** A sub-message has been found: it is prefetched, and entered soon; address and table are kept as those of an
    * element.
    */
  private def meetMessage(): Unit = {
    leaveFor(found.bits)
    announce(found.bits.address, SerializerWalker.leastBytes.U)
    items.left := 0.U
    items.next.bits := found.bits.address
    items.table := found.bits.entry.field.table
    held := true.B
    patience := SerializerWalker.patience.U
  }

  /** Continues with the elements of a field. */
  private def meetElements(): Unit = {
    val isMap = found.bits.kind === FoundKind.map
    leaveFor(found.bits)
    items.table := Mux(isMap && !found.bits.inEntries, found.bits.entry.nodes.table, found.bits.entry.field.table)
    items.array := found.bits.address + 8.U
    items.left := found.bits.count
    items.isMap := isMap
    items.next.valid := false.B
    elementBytes := SerializerWalker.leastBytes.U
    sorts := isMap
    state := State.away
    val ahead = readAhead.pointers(found.bits.count)
    when(!isMap) { announcePointers(found.bits.address, found.bits.count - ahead + 1.U, ahead) }
  }
  private val sorts = Reg(Bool())
  map.start.valid := found.fire && found.bits.kind === FoundKind.map
  map.start.bits.field := found.bits.address
  map.start.bits.inEntries := found.bits.inEntries
  map.start.bits.count := found.bits.count
  map.start.bits.nodes := found.bits.entry.nodes
  map.clear := on(State.finish)

  /** The next element, a message, replaces the one known before it, which is entered. */
  private def meetElement(): Unit = {
    answer.ready := inArray
    announce(element, elementBytes)
    when(items.next.valid) {
      around.items.left := items.left - 1.U
      around.items.next.bits := element
      enter(items.next.bits, items.table)
    }.otherwise {
      items.next.valid := true.B
      items.next.bits := element
    }
  }

  private val knownBytes = readAhead.ofObject(header.bytes)
  headers.put.valid := false.B
  headers.put.bits := header
  headers.clear := flush
  list.start.valid := on(State.open) || on(State.back)
  list.start.bits := at.position
  when(on(State.open)) {
    list.start.bits.list := header.list
    list.start.bits.left := header.entries
  }
  private val latestTable = RegInit(0.U.asTypeOf(latest))
  private val latestSize = Reg(latestBytes.cloneType)
  latest := latestTable
  latestBytes := latestSize
  request.ready := on(State.idle) || (on(State.finish) && dispatch.mark.ready)

  switch(state) {
    is(State.idle) { begin() }
    is(State.enter) {
      held := false.B
      holder.valid := false.B
      at.presence.valid := false.B
      when(dispatch.mark.ready || !isInner) { state := State.lookup }
    }
    is(State.lookup) {
      header := headerHere.bits
      isRead := !headerHere.valid
      isWild := false.B
      isForeign := false.B
      when(looksUp) { state := Mux(headerHere.valid, State.open, State.header) }
    }
    is(State.header) {
      header := SerializerHeader.of(row.bits)
      isWild := SerializerHeader.isWild(row.bits)
      isForeign := SerializerHeader.isForeign(row.bits, table)
      when(row.valid) { state := State.open }
    }
    is(State.open) {
      // The fields of the object are read, from the end of the list.
      at.hasbits := header.hasbits
      items.left := 0.U
      at.size := knownBytes
      isBare := header.isBare
      announce(at.message, knownBytes)
      when(!isInner) {
        latestTable.valid := true.B
        latestTable.bits := table
        latestSize := knownBytes
      }
      state := State.metadata
      when(isWild) { fail(Status.accessFault) }
        .elsewhen(isForeign) { fail(Status.unsupported) }
        .otherwise { headers.put.valid := isRead }
    }
    is(State.metadata) {
      // The metadata word has arrived, mostly together with the first hasbits.
      when(answer.valid && RegNext(on(State.metadata), false.B)) {
        answer.ready := true.B
        state := State.fields
        when(answer.bits.covers(hasbits) && hasbitsAreWords) { learn(0.U, answer.bits.wordAt(hasbits)) }
        when(fault) { fail(Status.accessFault) }.elsewhen(word(0) && !isBare) { fail(Status.unsupported) }
      }
    }
    is(State.fields) {
      when(objects.word.fire) { wantedPart := list.wanted.bits }
      when(answer.valid) {
        answer.ready := true.B
        learn(wantedPart, word)
        when(fault) { fail(Status.accessFault) }
      }
      when(found.fire) {
        when(found.bits.kind === FoundKind.message) { meetMessage() }
          .elsewhen(leadsAway) { meetElements() }
      }
      when(held) {
        patience := patience - 1.U
        when(found.valid && found.bits.kind === FoundKind.message) {
          announce(found.bits.address, SerializerWalker.leastBytes.U)
        }
        when(found.valid || fetch.idle || patience === 0.U) { enter(items.next.bits, items.table) }
      }
      when(leaves) {
        state := State.restore
        when(stack.empty) { fail(Status.ok) }
      }
      when(list.fault) { fail(Status.accessFault) }
        .elsewhen(fetch.failure.valid) { fail(fetch.failure.bits) }
        .elsewhen(wantsPart && !hasbitsAreWords) { fail(Status.unsupported) }
    }
    is(State.away) {
      val known = !items.isMap && items.next.valid
      pointersLeft := items.left - known
      noneLeft := items.left === 0.U
      oneLeft := items.left === 1.U
      pointer := items.array + ((items.left - known - 1.U) << 3)
      state := Mux(sorts, State.sort, State.elements)
      sorts := false.B
    }
    is(State.sort) {
      items.left := map.count
      noneLeft := map.count === 0.U
      oneLeft := map.count === 1.U
      when(map.done.valid) {
        state := State.elements
        when(map.done.bits =/= Status.ok) { fail(map.done.bits) }
      }
    }
    is(State.elements) {
      when(inArray && objects.word.fire && readAhead.isDue(pointersLeft)) {
        announcePointers(items.array, readAhead.nextGroup(pointersLeft), readAhead.group.U)
      }
      when(noneLeft) { state := State.back }
        .elsewhen(entersLast) {
          around.items.left := 0.U
          enter(items.next.bits, items.table)
        }
      when(hasElement) {
        when(isBadElement) { fail(Status.accessFault) }
          .otherwise { meetElement() }
      }
    }
    is(State.back) { state := State.fields }
    is(State.restore) {
      at := stack.popped.bits
      holder.valid := false.B
      elementBytes := at.size
      state := State.close
    }
    is(State.close) {
      when(dispatch.mark.ready) { state := Mux(items.left === 0.U, State.back, State.away) }
    }
    is(State.finish) {
      held := false.B
      sorts := false.B
      when(dispatch.mark.ready) {
        state := State.idle
        begin()
      }
    }
  }
  when(flush) { latestTable.valid := false.B }
  private val isOpen = !on(State.idle) && !on(State.finish)
  private val isDropped = RegNext(givenUp.valid && givenUp.bits === number, false.B)
  when(isOpen && isDropped && RegNext(isOpen, false.B)) { fail(Status.ok) }

  /** Bytes to prefetch, at an offset in words from an address. */
  private class Announced extends Bundle {
    val base = UInt(addressBits.W)
    val words = UInt(31.W)
    val bytes = UInt(SerializerWalker.sizeBits.W)
    val downward = Bool()
  }
}

/** The states of a [[SerializerWalker]]. */
object SerializerWalker {

  /** Width of the number of bytes of a message that are prefetched. */
  val sizeBits: Int = 11

  /** Bytes that every message has: its virtual table pointer and its metadata word. */
  val leastBytes: Int = 16

  /** Cycles that a message waits for another one behind it. */
  val patience: Int = 3

  /** `enter`, `lookup`, `header`, `open` and `metadata` begin a message, `restore` and `close` end a sub-message;
    * `fields` walks the list, is left by `away`, and continued by `back`; `sort` sorts a map, `elements` iterates over
    * a repeated field or a map; `finish` ends a request.
    */
  object State extends ChiselEnum {
    val idle, enter, lookup, header, open, metadata, fields, away, sort, elements, back, restore, close, finish = Value
  }
}
