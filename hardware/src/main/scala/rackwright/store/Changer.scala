package rackwright.store

import chisel3._
import chisel3.util._

import rackwright.stream.Lines

/** Executes changes (all but gets) one at a time, while no lookup is in flight.
  *
  * The new item is first written to free memory; then one write of 4 bytes links it into its chain. Only after that,
  * the replaced item is freed.
  */
class Changer(params: Params) extends Module {
  private object State extends ChiselEnum {
    val idle, size, sized, usage, heads, free, choose, header, keyAsk, key, value, join, joinRead, joinValue, joinPut,
        written, number, digits, sum, text, numberWrite, lengthWrite, countUsage, counted, touch, newHead, newUsage,
        link, linked, freeSize, freeSized, freeHeads, freeItem, freeHead, freed, drain, answer = Value
  }

  val region = IO(Input(new Region))

  /** The result of the lookup, and the request. */
  val found = IO(Flipped(Decoupled(new Found)))
  val change = IO(Input(new Change(params)))
  val value = IO(Flipped(Decoupled(new ValueLine)))

  /** The value is truncated: nothing is changed, and there is no response. */
  val cut = IO(Input(Bool()))
  val response = IO(Decoupled(new Response))

  /** The change has ended. */
  val changed = IO(Output(Bool()))
  val keyRead = IO(Valid(new KeyLine(params)))
  val keyLine = IO(Input(Vec(Grain.words, UInt(64.W))))

  /** The memory port of changes. */
  val read = IO(Valid(UInt(Grain.placeBits.W)))
  val got = IO(Flipped(Valid(UInt((8 * Grain.bytes).W))))
  val write = IO(Decoupled(new GrainWrite))
  val clear = IO(Output(Bool()))
  val faulted = IO(Input(Bool()))
  val settled = IO(Input(Bool()))

  private val state = RegInit(State.idle)
  private val now = Reg(new Found)
  private val status = Reg(UInt(Outcome.bits.W))
  private val isSet = RequestHeader.stores(now.sought.operation)

  /** An item has the key, whether or not it has expired. */
  private val replaces = now.walk.status === Outcome.ok
  private val exists = now.exists

  private val valueTaken = RegInit(false.B)
  when(state === State.idle) { valueTaken := false.B }
  when(value.fire && value.bits.last) { valueTaken := true.B }

  /** Ends without a change; the value, or what is left of it, is discarded. */
  private def end(why: UInt): Unit = {
    status := why
    state := Mux(isSet && change.valueBytes =/= 0.U && !valueTaken, State.drain, State.answer)
  }

  found.ready := state === State.idle
  clear := found.fire
  when(found.fire) {
    now := found.bits
    state := State.size
  }

  // The size class of the new item.
  private val classifier = Module(new SizeClassifier)
  private val keyGrains = (change.keyBytes +& (Grain.bytes - 1).U) >> Grain.shift
  private val joins = RequestHeader.joins(now.sought.operation)
  private val counts = RequestHeader.counts(now.sought.operation)
  private val kept = Mux(RequestHeader.joins(found.bits.sought.operation), found.bits.walk.valueBytes, 0.U)
  private val valueBytes = RegEnable(change.valueBytes +& kept, found.fire)
  private val valueGrains = (valueBytes +& (Grain.bytes - 1).U) >> Grain.shift
  classifier.grains.valid := state === State.size || state === State.freeSize
  classifier.grains.bits := Mux(state === State.size, 1.U + keyGrains + valueGrains, now.walk.grains)
  private val size = Reg(new SizeClass)
  private def is(operation: UInt): Bool = now.sought.operation === operation
  private val compares = is(RequestHeader.compareAndSet)
  private val mustBeThere = compares || joins || is(RequestHeader.replace)
  private val isOther = now.walk.version =/= change.expected
  when(state === State.size) {
    val sound = replaces || now.walk.status === Outcome.missing
    when(!sound) { end(now.walk.status) }
      .elsewhen(!isSet) {
        when(!exists) { end(Outcome.missing) }
          .elsewhen(is(RequestHeader.touch)) { state := State.touch }
          .elsewhen(counts && (now.walk.valueBytes === 0.U || now.walk.valueBytes > Grain.bytes.U)) {
            end(Outcome.exists)
          }
          .otherwise { state := State.usage }
      }
      .otherwise {
        state := State.sized
        when(mustBeThere && !exists) { end(Outcome.missing) }
          .elsewhen((is(RequestHeader.add) && exists) || (compares && isOther)) { end(Outcome.exists) }
          .elsewhen(valueBytes > Limits.valueBytes.U) { end(Outcome.tooLong) }
      }
  }
  when(state === State.sized && classifier.above.valid) {
    size := classifier.above.bits
    state := State.usage
  }

  // The usage of the region; the place of the new item, and the size class of the old one.
  private val usage = Reg(new Usage)
  private val place = Reg(UInt(Grain.placeBits.W))
  private val freeClass = Reg(new SizeClass)
  private def headsOf(number: UInt): UInt = Grain.freeHeads.U + (number >> 3).pad(Grain.placeBits)
  private def headIn(data: UInt, number: UInt): UInt =
    VecInit.tabulate(8)(i => data(32 * i + 31, 32 * i))(number(2, 0))
  private val reads = Seq(State.usage, State.heads, State.free, State.freeHeads, State.number, State.joinRead)
    .map(_ === state)
    .reduce(_ || _)
  private val valuePlace = RegEnable(now.response.valuePlace, state === State.size)
  private val oldAt = Reg(UInt(Grain.placeBits.W))
  read.valid := reads && !got.valid
  read.bits := MuxLookup(state, Grain.usage.U(Grain.placeBits.W))(
    Seq(
      State.heads -> headsOf(size.number),
      State.free -> place,
      State.freeHeads -> headsOf(freeClass.number),
      State.number -> valuePlace,
      State.joinRead -> oldAt
    )
  )
  when(state === State.usage && got.valid) {
    usage := got.bits.asTypeOf(usage)
    state := MuxCase(State.newUsage, Seq(isSet -> State.heads, counts -> State.number))
    when(faulted) { end(Outcome.accessFault) }
  }

  // The item comes from a free list, or from memory that was never allocated.
  private val reuses = Reg(Bool())
  private val nextFree = Reg(UInt(Grain.placeBits.W))
  private val limit = Reg(UInt((Grain.placeBits + 1).W))
  when(state === State.heads && got.valid) {
    place := headIn(got.bits, size.number)
    limit := usage.used +& size.grains
    state := State.choose
    when(faulted) { end(Outcome.accessFault) }
  }
  when(state === State.choose) {
    reuses := place =/= 0.U
    when(place === 0.U) {
      place := usage.used
      state := State.header
      when(limit > region.total) { end(Outcome.noMemory) }
        .elsewhen(usage.used < region.firstItem) { end(Outcome.broken) }
    }.elsewhen(region.holds(place)) {
      limit := place +& size.grains
      state := State.free
    }.otherwise { end(Outcome.broken) }
  }
  private val freeItem = got.bits.asTypeOf(new ItemHeader)
  when(state === State.free && got.valid) {
    nextFree := freeItem.next
    state := State.header
    when(faulted) { end(Outcome.accessFault) }
      .elsewhen(freeItem.seal =/= ItemHeader.free || freeItem.grains =/= size.grains || limit > region.total) {
        end(Outcome.broken)
      }
  }

  // Writes the item: its header, its key, its value.
  private val line = Reg(UInt(Limits.lineBits.W))
  private val words = KeyLines.words(change.keyBytes)
  private val at = Reg(UInt(Grain.placeBits.W))
  keyRead.valid := state === State.keyAsk
  keyRead.bits.slot := change.slot
  keyRead.bits.line := line
  private val newVersion = usage.version + 1.U
  private def setVersion(item: ItemHeader): Unit = {
    item.versionLow := newVersion(31, 0)
    item.versionHigh := newVersion(ItemHeader.versionBits - 1, 32)
  }

  write.valid := false.B
  write.bits.place := at
  write.bits.data := 0.U
  write.bits.mask := Fill(Grain.bytes, 1.U(1.W))
  private def put(data: UInt, next: State.Type): Unit = {
    write.valid := true.B
    write.bits.data := data
    when(write.ready) {
      at := at + 1.U
      state := next
    }
  }
  when(state === State.header) {
    val item = Wire(new ItemHeader)
    setVersion(item)
    item.expiry := Mux(joins, now.walk.expiry, change.expiry)
    item.seal := ItemHeader.used
    item.keyBytes := change.keyBytes
    item.flags := Mux(joins, now.walk.flags, change.flags)
    item.grains := size.grains
    item.valueBytes := valueBytes
    item.hash := change.hash >> 32
    item.next := Mux(replaces, now.walk.next, 0.U)
    line := 0.U
    put(item.asUInt, State.keyAsk)
    write.bits.place := place
    when(write.ready) { at := place + 1.U }
  }
  when(state === State.keyAsk) { state := State.key }
  when(state === State.key) {
    val isLast = line === KeyLines.last(words)
    val masked = KeyLines.mask(words, line).zip(keyLine).map { case (mine, word) => Mux(mine, word, 0.U) }
    put(Cat(masked.reverse), State.keyAsk)
    when(write.ready) {
      line := line + 1.U
      when(isLast) {
        state := MuxCase(State.value, Seq(joins -> State.join, (change.valueBytes === 0.U) -> State.written))
      }
    }
  }
  value.ready := state === State.drain || (state === State.value && write.ready) || state === State.joinValue
  when(state === State.value) {
    when(value.valid) { put(value.bits.data, Mux(value.bits.last, State.written, State.value)) }
    when(cut) { state := State.freed }
  }

  // Writes the current value and new bytes, in either order: lines that may end anywhere become whole grains.
  private val turn = Reg(UInt(2.W))
  private val oldLeft = Reg(UInt(Limits.valueBits.W))
  private val carry, piece = Reg(UInt((8 * Grain.bytes).W))
  private val carried, pieceBytes = Reg(UInt((Grain.shift + 1).W))
  private val isOld = turn(0) === is(RequestHeader.prepend)
  private def lineOf(left: UInt): UInt = Mux(left > Grain.bytes.U, Grain.bytes.U, left(Grain.shift, 0))
  private val newLeft = Reg(UInt(Limits.valueBits.W))
  when(state === State.header) {
    turn := 0.U
    oldAt := valuePlace
    oldLeft := now.walk.valueBytes
    newLeft := change.valueBytes
    carry := 0.U
    carried := 0.U
  }
  when(state === State.join) {
    when(turn === 2.U) {
      when(carried === 0.U) { state := State.written }.otherwise { put(carry, State.written) }
    }.elsewhen(Mux(isOld, oldLeft, newLeft) === 0.U) {
      turn := turn + 1.U
    }.otherwise { state := Mux(isOld, State.joinRead, State.joinValue) }
  }
  when(state === State.joinRead && got.valid) {
    val bytes = lineOf(oldLeft)
    piece := got.bits & FillInterleaved(8, Lines.mask(bytes, Grain.bytes))
    pieceBytes := bytes
    oldLeft := oldLeft - bytes
    oldAt := oldAt + 1.U
    state := State.joinPut
    when(faulted) { end(Outcome.accessFault) }
  }
  when(state === State.joinValue) {
    when(value.valid) {
      piece := value.bits.data
      pieceBytes := lineOf(newLeft)
      newLeft := newLeft - lineOf(newLeft)
      state := State.joinPut
    }
    when(cut) { state := State.freed }
  }
  private val joined = carry.pad(16 * Grain.bytes) | (piece << (carried(Grain.shift - 1, 0) ## 0.U(3.W)))
  private val joinedBytes = carried +& pieceBytes
  when(state === State.joinPut) {
    val isFull = joinedBytes >= Grain.bytes.U
    when(isFull) { put(joined(8 * Grain.bytes - 1, 0), State.join) }.otherwise { state := State.join }
    when(!isFull || write.ready) {
      carry := Mux(isFull, joined >> (8 * Grain.bytes), joined)
      carried := Mux(isFull, joinedBytes - Grain.bytes.U, joinedBytes)
    }
  }
  when(state === State.written && settled) {
    state := Mux(reuses, State.newHead, State.newUsage)
    when(faulted) { end(Outcome.accessFault) }
  }

  // A number: the decimal digits that the value begins with, behind spaces.
  private val text = Reg(UInt((8 * Grain.bytes).W))
  private val textLeft, textAt = Reg(UInt((Grain.shift + 1).W))
  private val number = Reg(UInt(64.W))
  private val begun, overflows = Reg(Bool())
  private val character = text(7, 0)
  private val isSpace = character === 32.U || (character >= 9.U && character <= 13.U)
  when(state === State.number && got.valid) {
    text := got.bits
    textLeft := now.walk.valueBytes
    number := 0.U
    begun := false.B
    overflows := false.B
    state := State.digits
    when(faulted) { end(Outcome.accessFault) }
  }
  when(state === State.digits) {
    val isDigit = character(7, 4) === 3.U && character(3, 0) < 10.U
    val tenfold = (number << 3) +& (number << 1) +& character(3, 0)
    text := text >> 8
    textLeft := textLeft - 1.U
    when(textLeft =/= 0.U && isDigit) {
      number := tenfold(63, 0)
      begun := true.B
      overflows := overflows || tenfold(67, 64).orR
    }.elsewhen(begun && !overflows && (textLeft === 0.U || isSpace || character === 0.U)) {
      state := State.sum
    }.elsewhen(begun || textLeft === 0.U || !isSpace) { end(Outcome.exists) }
  }
  private val decimal = Module(new DecimalDigits)
  decimal.number.valid := false.B
  decimal.number.bits := number
  decimal.digit.ready := state === State.text
  private val summed = RegInit(false.B)
  when(state === State.sum) {
    // In two cycles: the sum, and its digits.
    summed := !summed
    when(!summed) {
      val less = Mux(change.expected > number, 0.U, number - change.expected)
      number := Mux(is(RequestHeader.increment), number + change.expected, less)
    }.otherwise {
      decimal.number.valid := true.B
      text := Fill(Grain.bytes, 32.U(8.W))
      textAt := 0.U
      state := State.text
    }
  }
  when(decimal.digit.fire) {
    text := VecInit.tabulate(Grain.bytes)(i => Mux(textAt === i.U, decimal.digit.bits, text(8 * i + 7, 8 * i))).asUInt
    textAt := textAt + 1.U
    when(decimal.last) { state := State.numberWrite }
  }
  // A number that is shorter than the value before is followed by spaces.
  private val countedBytes = Mux(textAt > now.walk.valueBytes, textAt, now.walk.valueBytes)(Grain.shift, 0)
  when(state === State.numberWrite) {
    put(text & FillInterleaved(8, Lines.mask(countedBytes, Grain.bytes)), State.lengthWrite)
    write.bits.place := valuePlace
  }
  when(state === State.lengthWrite) {
    val item = WireDefault(0.U.asTypeOf(new ItemHeader))
    setVersion(item)
    item.valueBytes := countedBytes
    put(item.asUInt, State.countUsage)
    write.bits.place := now.walk.item
    write.bits.mask := (0xf << 24 | 1 << 21 | 0xf << 8).U
  }
  when(state === State.touch) {
    val item = WireDefault(0.U.asTypeOf(new ItemHeader))
    item.expiry := change.expiry
    put(item.asUInt, State.counted)
    write.bits.place := now.walk.item
    write.bits.mask := Cat(Fill(4, 1.U(1.W)), 0.U(28.W))
  }
  when(state === State.countUsage) {
    val after = WireDefault(usage)
    after.version := newVersion
    put(after.asUInt, State.counted)
    write.bits.place := Grain.usage.U
  }
  when(state === State.counted && settled) {
    status := Mux(faulted, Outcome.accessFault, Outcome.ok)
    state := State.answer
  }

  // Updates free list and usage; then one write commits the change.
  private def putHead(number: UInt, head: UInt, next: State.Type): Unit = {
    put(Fill(8, head), next)
    write.bits.place := headsOf(number)
    write.bits.mask := GrainWrite.lane(number(2, 0))
  }
  when(state === State.newHead) { putHead(size.number, nextFree, State.newUsage) }
  when(state === State.newUsage) {
    val after = WireDefault(usage)
    when(isSet) {
      after.version := newVersion
      when(!reuses) { after.used := limit }
      when(!replaces) { after.items := usage.items + 1.U }
    }.otherwise { after.items := usage.items - 1.U }
    put(after.asUInt, State.link)
    write.bits.place := Grain.usage.U
  }
  private val bucket = RegNext(change.hash(Region.mostBucketBits - 1, 0) & region.bucketMask)
  private val bucketGrain = RegNext(Grain.table.U + (bucket >> 3))
  when(state === State.link && settled) {
    val inBucket = now.walk.previous === 0.U
    put(Fill(8, Mux(isSet, place, now.walk.next)), State.linked)
    write.bits.place := Mux(inBucket, bucketGrain, now.walk.previous)
    write.bits.mask := GrainWrite.lane(Mux(inBucket, bucket(2, 0), 0.U))
  }
  when(state === State.linked && settled) {
    status := Outcome.ok
    state := Mux(replaces, State.freeSize, State.answer)
    when(faulted) { end(Outcome.accessFault) }
  }

  // Frees the item that has been removed from its chain.
  when(state === State.freeSize) { state := State.freeSized }
  when(state === State.freeSized && classifier.above.valid) {
    freeClass := classifier.below
    state := State.freeHeads
  }
  when(state === State.freeHeads && got.valid) {
    nextFree := headIn(got.bits, freeClass.number)
    state := State.freeItem
    when(faulted) { end(Outcome.accessFault) }
  }
  when(state === State.freeItem) {
    val item = WireDefault(0.U.asTypeOf(new ItemHeader))
    item.seal := ItemHeader.free
    item.grains := freeClass.grains
    item.next := nextFree
    put(item.asUInt, State.freeHead)
    write.bits.place := now.walk.item
  }
  when(state === State.freeHead) { putHead(freeClass.number, now.walk.item, State.freed) }
  when(state === State.freed && settled) {
    state := Mux(cut, State.idle, State.answer)
    when(faulted) { status := Outcome.accessFault }
  }

  when(state === State.drain) {
    when(value.fire && value.bits.last) { state := State.answer }
    when(cut) { state := State.freed }
  }
  response.valid := state === State.answer
  response.bits.version := number
  response.bits.hasVersion := counts && status === Outcome.ok
  response.bits.tag := now.sought.tag
  response.bits.flags := 0.U
  response.bits.valueBytes := 0.U
  response.bits.operation := now.sought.operation
  response.bits.status := status
  response.bits.valuePlace := 0.U
  when(response.fire) { state := State.idle }
  changed := response.fire || (state === State.freed && settled && cut)
}
