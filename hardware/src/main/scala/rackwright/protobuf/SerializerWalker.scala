package rackwright.protobuf

import chisel3._
import chisel3.util._

import rackwright.contract.Status
import rackwright.memory.LoadedBeat

/** Walks messages, from the last field to the first, and says what is to be written.
  *
  * [[SerializerList]] finds entries, [[SerializerFetch]] reads fields, [[SerializerMap]] puts maps in order; here are
  * messages and the elements of fields.
  */
class SerializerWalker(params: SerializerParams) extends Module {
  import SerializerWalker.State
  private val addressBits = DescriptorTable.addressBits
  private val offsetBits = log2Ceil(params.portBytes)

  /** Messages to walk. */
  val request = IO(Flipped(Decoupled(new SerializerRequest)))

  /** What is to be written, in descending order of address. */
  val operation = IO(Decoupled(new SerializerOperation))

  /** Strings and arrays for the field serializers. */
  val task = IO(Decoupled(new FieldTask))

  /** Number of the request that need not be walked any further. */
  val givenUp = IO(Flipped(Valid(UInt(SerializerEncoder.requestBits.W))))

  /** Rows of descriptor tables. */
  val rowRequest = IO(Decoupled(new SerializerRowRequest))
  val row = IO(Flipped(Decoupled(new SerializerRow)))
  val cancelRow = IO(Output(Bool()))

  /** Beats of objects. */
  val beatRequest = IO(Decoupled(UInt((addressBits - offsetBits).W)))
  val beat = IO(Flipped(Decoupled(new LoadedBeat(params.portBytes))))
  val prefetch = IO(Valid(new SerializerPrefetch(addressBits - offsetBits)))

  /** Since when beats of the message must have been read. */
  val since = IO(Output(UInt(SerializerCache.timeBits.W)))

  /** Descriptor tables have changed; between requests. */
  val flush = IO(Input(Bool()))

  /** The outermost type walked last and the bytes of its objects, as far as they are read ahead. */
  val latest = IO(Valid(UInt(addressBits.W)))
  val latestBytes = IO(Output(UInt(SerializerWalker.sizeBits.W)))
  val cancelBeat = IO(Output(Bool()))

  /** No message is walked. */
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
  private val isString = Reg(Bool())
  private val status = Reg(UInt(Status.width.W))
  private val known = Reg(new KnownPresence)
  private val table = Reg(UInt(addressBits.W))
  private val isBare = Reg(Bool())
  private val elementBytes = Reg(UInt(SerializerWalker.sizeBits.W))
  // A message that is entered as soon as one that follows it has been announced: they are read at the same time.
  private val held = RegInit(false.B)
  private val heldMessage = Reg(new FoundField)
  private val heldPosition = Reg(new ListPosition)
  private val peeked = Reg(Bool())
  private val time = RegEnable(request.bits.time, request.fire)
  private val number = SerializerRequest.number(time)
  private def on(which: State.Type): Bool = state === which
  private val walking = on(State.fields)
  private val found = fetch.found
  private val items = at.items
  idle := on(State.idle)

  // Beats of objects: fields, or a word that is wanted here.
  private val answer = objects.answer
  private val word = answer.bits.word
  private val fault = answer.bits.beat.fault
  answer.ready := false.B
  beatRequest <> objects.request
  objects.response <> beat
  objects.clear := on(State.finish)
  objects.field.valid := walking && fetch.request.valid
  objects.field.bits := fetch.request.bits
  fetch.request.ready := walking && objects.field.ready
  fetch.response <> objects.fieldBeat

  // What is known of presence: the part of the hasbits for the field at hand, and the oneof seen last.
  private val hasbits = at.message + at.hasbits
  private val wantsPart = walking && list.wanted.valid && fetch.idle && !held
  private val hasbitsAreWords = at.hasbits(2, 0) === 0.U
  list.known := known
  when(fetch.holder.valid) {
    known.holder := fetch.holder
    known.oneof := fetch.oneof
  }
  private def learn(part: UInt, bits: UInt): Unit = {
    known.hasbits.valid := true.B
    known.hasbits.bits := bits
    known.part := part
  }
  private def forgetPresence(): Unit = {
    known.hasbits.valid := false.B
    known.holder.valid := false.B
  }

  // Entries are handed on while a message is walked.
  private val mayFetch = walking && !(held && peeked)
  fetch.message := at.message
  fetch.entry.valid := list.entry.valid && mayFetch
  fetch.entry.bits := list.entry.bits
  list.entry.ready := fetch.entry.ready && mayFetch

  // Nothing is under way in the caches when a message is entered: they take its requests at once. The row is that of the
  // table, or, if the header is known, the first one of the list.
  private val enters = on(State.enter) && (dispatch.mark.ready || !isInner)
  private val readsHeader = on(State.enter) && !headers.found.valid
  headers.table := table
  rowRequest.valid := Mux(readsHeader, enters, list.request.valid)
  rowRequest.bits := list.request.bits
  when(readsHeader) {
    rowRequest.bits.address := table
    rowRequest.bits.continues := false.B
  }
  list.request.ready := !readsHeader && rowRequest.ready
  list.response.valid := row.valid && !on(State.header)
  list.response.bits := row.bits
  row.ready := on(State.header) || list.response.ready

  // Words: metadata, hasbits, pointers of arrays, of which messages are read ahead by one, and what a map wants.
  private val inArray = on(State.elements) && !items.isMap
  private val entersLast = !isString && items.next.valid && items.left === 1.U
  private val wantsElement = items.left =/= 0.U && !entersLast
  // The string at hand is handed on in this cycle: the one before it is asked for.
  private val takesString = dispatch.element.fire && inArray
  private val wantsNext = takesString && items.left =/= 1.U
  private val behind = Mux(takesString || (!isString && items.next.valid), 2.U, 1.U)
  objects.word.valid := Mux(
    on(State.enter),
    enters,
    wantsNext ||
      (!objects.reading && (wantsPart || (inArray && wantsElement) || (on(State.sort) && map.read.request.valid)))
  )
  objects.word.bits := MuxLookup(state, hasbits + (list.wanted.bits << 3))(
    Seq(
      State.enter -> (at.message + 8.U),
      State.elements -> (items.array + ((items.left - behind) << 3)),
      State.sort -> map.read.request.bits
    )
  )
  map.read.request.ready := on(State.sort) && objects.word.fire
  map.read.answer.valid := on(State.sort) && answer.fire
  map.read.answer.bits.data := word
  map.read.answer.bits.fault := fault
  when(on(State.sort)) { answer.ready := true.B }

  // The element that is here.
  private val hasElement = on(State.elements) && Mux(items.isMap, map.last.valid && wantsElement, answer.valid)
  private val elementWord = Mux(items.isMap, map.last.bits, word)
  private val element = elementWord(addressBits - 1, 0)
  private val isBadElement = LoadedWord.isWild(elementWord) || (inArray && fault)
  private def takeElement(): Unit = { answer.ready := inArray }
  map.last.ready := on(State.elements) && items.isMap && wantsElement

  // Strings, numbers and marks are handed on.
  private val leadsAway = found.bits.kind.isOneOf(FoundKind.message, FoundKind.pointers, FoundKind.map)
  dispatch.field.valid := walking && found.valid && !leadsAway
  dispatch.field.bits := found.bits
  found.ready := walking && (leadsAway || dispatch.field.ready)
  dispatch.element.valid := hasElement && !isBadElement && isString
  dispatch.element.bits := FieldTask.element(element, items.tag, number)
  dispatch.mark.valid := (on(State.enter) && isInner) || on(State.close) || on(State.finish)
  dispatch.mark.bits.kind := MuxLookup(state, OperationKind.finish)(
    Seq(State.enter -> OperationKind.open, State.close -> OperationKind.close)
  )
  dispatch.mark.bits.tag := items.tag
  dispatch.mark.bits.status := Mux(on(State.finish), status, Status.ok)
  operation <> dispatch.operation
  task <> dispatch.task

  since := time
  dispatch.request := number
  prefetch.valid := false.B
  prefetch.bits := DontCare
  private def announce(address: UInt, bytes: UInt, downward: Boolean = false): Unit = {
    prefetch.valid := true.B
    prefetch.bits := readAhead.beats(address, bytes, time, downward)
  }

  /** Elements are walked from their end. */
  private def announcePointers(address: UInt, bytes: UInt): Unit = announce(address, bytes, downward = true)

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
  around.position := list.position
  stack.push.valid := false.B
  stack.push.bits := around
  private val leaves = walking && list.finished && fetch.ends && !objects.reading && !held
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
  private def enterField(field: FoundField, position: ListPosition): Unit = {
    around.items.tag := field.entry.tag
    around.items.left := 0.U
    around.position := position
    enter(field.address, field.entry.field.table)
  }

  /** The metadata word is here, and mostly the first hasbits with it. */
  private def learnMetadata(hasbits: UInt, bare: Bool): Unit = {
    answer.ready := true.B
    state := State.fields
    when(answer.bits.covers(hasbits) && hasbits(2, 0) === 0.U) { learn(0.U, answer.bits.wordAt(hasbits)) }
    when(fault) { fail(Status.accessFault) }.elsewhen(word(0) && !bare) { fail(Status.unsupported) }
  }

  /** A message that has been found is entered, now or when the next one has been announced too. */
  private def meetMessage(): Unit = {
    announce(found.bits.address, SerializerWalker.leastBytes.U)
    val next = list.entry.bits.field
    when(!held && list.entry.valid && FieldKind.isMessage(next.kind) && !next.repeated) {
      held := true.B
      peeked := false.B
      heldMessage := found.bits
      heldPosition := list.position
    }.elsewhen(!held) { enterField(found.bits, list.position) }
  }

  /** Elements of a field that has been found are next. */
  private def meetElements(): Unit = {
    val isMap = found.bits.kind === FoundKind.map
    items.tag := found.bits.entry.tag
    items.table := Mux(isMap && !found.bits.inEntries, found.bits.entry.nodes.table, found.bits.entry.field.table)
    items.array := found.bits.address + 8.U
    items.left := found.bits.count
    items.isMap := isMap
    items.next.valid := false.B
    elementBytes := SerializerWalker.leastBytes.U
    isString := FieldKind.isStringLike(found.bits.entry.field.kind)
    state := Mux(isMap, State.sort, State.elements)
    val ahead = readAhead.pointers(found.bits.count)
    when(!isMap) { announcePointers(found.bits.address + 8.U + ((found.bits.count - ahead) << 3), ahead << 3) }
  }
  map.start.valid := found.fire && found.bits.kind === FoundKind.map
  map.start.bits.field := found.bits.address
  map.start.bits.inEntries := found.bits.inEntries
  map.start.bits.count := found.bits.count
  map.start.bits.nodes := found.bits.entry.nodes
  map.clear := on(State.finish)

  /** A message among the elements takes the place of the one that was known before it, which is entered. */
  private def meetElement(): Unit = {
    takeElement()
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

  private val header = Mux(on(State.enter), headers.found.bits, SerializerHeader.of(row.bits))
  private val knownBytes = readAhead.ofObject(header.bytes)
  headers.put.valid := false.B
  headers.put.bits := header
  headers.clear := flush
  list.start.valid := false.B
  list.start.bits.list := header.list
  list.start.bits.left := header.entries

  /** The header is known: what lies in the object is read, from the end of the list. */
  private def open(): Unit = {
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
    list.start.valid := true.B
    state := State.metadata
  }
  list.stop := on(State.finish) || on(State.enter) || on(State.idle)
  cancelRow := list.stop
  cancelBeat := on(State.finish)
  fetch.clear := on(State.finish)
  stack.clear := on(State.finish)
  request.ready := on(State.idle) || (on(State.finish) && dispatch.mark.ready)
  private val latestTable = RegInit(0.U.asTypeOf(latest))
  private val latestSize = Reg(latestBytes.cloneType)
  latest := latestTable
  latestBytes := latestSize

  switch(state) {
    is(State.idle) { begin() }
    is(State.enter) {
      forgetPresence()
      when(enters) {
        state := State.header
        when(headers.found.valid)(open())
      }
    }
    is(State.header) {
      when(row.valid) {
        open()
        when(answer.valid) { learnMetadata(at.message + header.hasbits, header.isBare) }
        when(SerializerHeader.isWild(row.bits)) { fail(Status.accessFault) }
          .elsewhen(SerializerHeader.isForeign(row.bits, table)) { fail(Status.unsupported) }
          .otherwise { headers.put.valid := true.B }
      }
    }
    is(State.metadata) {
      when(answer.valid) { learnMetadata(hasbits, isBare) }
    }
    is(State.fields) {
      when(answer.valid) {
        answer.ready := true.B
        learn(((answer.bits.address - hasbits) >> 3)(SerializerList.partBits - 1, 0), word)
        when(fault) { fail(Status.accessFault) }
      }
      when(fetch.entry.fire) { peeked := true.B }
      when(found.fire) {
        when(found.bits.kind === FoundKind.message) { meetMessage() }
          .elsewhen(leadsAway) { meetElements() }
      }
      when(held && peeked && (fetch.idle || found.valid)) {
        held := false.B
        enterField(heldMessage, heldPosition)
      }
      when(leaves) {
        state := State.restore
        when(stack.empty) { fail(Status.ok) }
      }
      when(list.fault) { fail(Status.accessFault) }
        .elsewhen(fetch.failure.valid) { fail(fetch.failure.bits) }
        .elsewhen(wantsPart && !hasbitsAreWords) { fail(Status.unsupported) }
    }
    is(State.sort) {
      items.left := map.count
      when(map.done.valid) {
        state := State.elements
        when(map.done.bits =/= Status.ok) { fail(map.done.bits) }
      }
    }
    is(State.elements) {
      when(objects.word.fire && readAhead.isDue(items.left)) {
        announcePointers(items.array + (readAhead.nextGroup(items.left) << 3), (8 * readAhead.group).U)
      }
      when(items.left === 0.U) { state := State.fields }
        .elsewhen(entersLast) {
          around.items.left := 0.U
          enter(items.next.bits, items.table)
        }
      when(hasElement) {
        when(isBadElement) { fail(Status.accessFault) }
          .elsewhen(!isString) { meetElement() }
          .elsewhen(dispatch.element.ready) {
            takeElement()
            items.left := items.left - 1.U
          }
      }
    }
    is(State.restore) {
      at := stack.popped.bits
      list.start.valid := true.B
      list.start.bits := stack.popped.bits.position
      forgetPresence()
      isString := false.B
      elementBytes := at.size
      state := State.close
    }
    is(State.close) {
      when(dispatch.mark.ready) { state := Mux(items.left === 0.U, State.fields, State.elements) }
    }
    is(State.finish) {
      held := false.B
      when(dispatch.mark.ready) {
        state := State.idle
        begin()
      }
    }
  }
  when(flush) { latestTable.valid := false.B }
  private val isOpen = !on(State.idle) && !on(State.finish)
  when(isOpen && givenUp.valid && givenUp.bits === number) { fail(Status.ok) }
}

/** The states of a [[SerializerWalker]]. */
object SerializerWalker {

  /** Bits of the bytes of a message that are read ahead. */
  val sizeBits: Int = 11

  /** Bytes that every message has: its virtual table and its metadata word. */
  val leastBytes: Int = 16

  /** `enter`, `header` and `metadata` begin a message, `restore` and `close` end a sub-message; `fields` is the walk
    * itself, `sort` puts a map in order, `elements` walks what a field has many of; `finish` ends a request.
    */
  object State extends ChiselEnum {
    val idle, enter, header, metadata, fields, sort, elements, restore, close, finish = Value
  }
}
