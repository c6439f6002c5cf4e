package rackwright.store

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.stream.{ByteStream, Lines}

/** A key to look for, once it stands in the memory of keys. */
class Lookup extends Bundle {
  val hash = UInt(64.W)
  val keyBytes = UInt(Limits.keyBits.W)
  val operation = UInt(16.W)
  val flags = UInt(32.W)
  val tag = UInt(32.W)

  /** The request makes no sense: it only waits for its turn to be answered with `status`. */
  val refused = Bool()
  val status = UInt(Outcome.bits.W)
}

/** What a change of the store needs of its request. */
class Change(params: Params) extends Bundle {
  val slot = UInt(params.slotBits.W)
  val keyBytes = UInt(Limits.keyBits.W)
  val valueBytes = UInt(Limits.valueBits.W)
  val flags = UInt(32.W)
  val hash = UInt(64.W)

  /** The version that is to be replaced. */
  val expected = UInt(64.W)
}

/** A grain of a value. */
class ValueLine extends Bundle {
  val data = UInt((8 * Grain.bytes).W)
  val last = Bool()
}

/** Reads requests one after the other: keys go into their memory and into the hash, values to a change. */
class RequestReader(params: Params) extends Module {
  import RequestReader.State

  /** Requests are read; the region is known. */
  val run = IO(Input(Bool()))

  /** No more requests than the one under way. */
  val stop = IO(Input(Bool()))
  val hashKey = IO(Input(Vec(2, UInt(64.W))))
  val stream = IO(Flipped(new ByteStream(Grain.bytes)))

  /** The slot of the next lookup, offered while it is free; what is written into it. */
  val slot = IO(Flipped(Valid(UInt(params.slotBits.W))))
  val key = IO(Valid(new KeyPlace(params)))
  val lookup = IO(Decoupled(new Lookup))

  /** Nothing is under way, so that the store may be changed. */
  val alone = IO(Input(Bool()))
  val change = IO(Output(new Change(params)))
  val value = IO(Decoupled(new ValueLine))

  /** The value ends before it should; the change is over. */
  val cut = IO(Output(Bool()))
  val changed = IO(Input(Bool()))

  /** No request follows; with which status, and the bytes of the requests before. */
  val ended = IO(Output(Bool()))
  val status = IO(Output(UInt(Status.width.W)))
  val offset = IO(Output(UInt(64.W)))

  /** What is next has not come. */
  val waits = IO(Output(Bool()))

  private val state = RegInit(State.header)
  private val request = Reg(new RequestHeader)
  private val hasher = Module(new SipHash)
  hasher.key := hashKey

  private val position = RegInit(0.U(64.W))
  private val began = RegInit(0.U(64.W))
  private val word = Reg(UInt(5.W))
  private val left = Reg(UInt(RequestReader.leftBits.W))
  private val problem = RegInit(Status.ok)
  private val mySlot = Reg(UInt(params.slotBits.W))

  /** A request that was wanted of `bytes` bytes can't come whole. */
  private def short(bytes: UInt): Bool = stream.available < bytes && (stream.last || stream.fault)

  stream.consume := 0.U
  position := position + stream.consume
  private val fails = WireDefault(false.B)
  when(fails) {
    problem := Mux(stream.fault, Status.accessFault, Status.malformed)
    state := State.ended
  }

  // The header; words of eight bytes follow.
  private val keyData = Cat(stream.data.take(8).reverse)
  private val parsed = Cat(stream.data.take(RequestHeader.bytes).reverse).asTypeOf(new RequestHeader)
  when(state === State.header && run) {
    began := position
    val whole = stream.available >= RequestHeader.bytes.U
    when(stop || (stream.available === 0.U && stream.last && !stream.fault)) {
      state := State.ended
    }.elsewhen(whole && slot.valid) {
      stream.consume := RequestHeader.bytes.U
      request := parsed
      mySlot := slot.bits
      state := State.judge
    }.otherwise { fails := short(RequestHeader.bytes.U) }
  }

  private val isGet = RequestHeader.reads(request.operation)
  private val isSet = RequestHeader.stores(request.operation)
  private val compares = request.operation === RequestHeader.compareAndSet
  private val isKnown = isGet || isSet || request.operation === RequestHeader.delete
  private val keyFits = request.keyBytes =/= 0.U && request.keyBytes <= Limits.keyBytes.U
  private val valueFits = !isSet || request.valueBytes <= Limits.valueBytes.U
  private val refused = Reg(Bool())
  private val refusal = Reg(UInt(Outcome.bits.W))
  private val (keyRounded, valueRounded) =
    (RequestReader.rounded(request.keyBytes), RequestReader.rounded(request.valueBytes))
  when(state === State.judge) {
    val fits = isKnown && keyFits && valueFits
    refused := !fits
    refusal := Mux(isKnown, Outcome.tooLong, Outcome.unknown)
    left := Mux(fits, request.keyBytes, keyRounded +& valueRounded)
    word := 0.U
    state := MuxCase(State.key, Seq(compares -> State.version, !fits -> State.dispatch))
  }

  // The version, which is of no use to a request that is refused.
  private val expected = Reg(UInt(64.W))
  when(state === State.version) {
    when(stream.available >= RequestHeader.versionBytes.U) {
      stream.consume := RequestHeader.versionBytes.U
      expected := keyData
      state := Mux(refused, State.dispatch, State.key)
    }.otherwise { fails := short(RequestHeader.versionBytes.U) }
  }

  // The key, word by word; what is left over of it goes with the length into the last word of the hash.
  private val isLast = left < 8.U
  private val rest = left(2, 0)
  private val masked = keyData & FillInterleaved(8, Lines.mask(rest, 8))
  private val keyNeeds = Mux(left === 0.U, 0.U, 8.U)
  private val takesWord = state === State.key && stream.available >= keyNeeds
  hasher.word.valid := takesWord
  hasher.word.bits.data := Mux(isLast, Cat(request.keyBytes(7, 0), masked(55, 0)), keyData)
  hasher.word.bits.first := word === 0.U
  hasher.word.bits.last := isLast
  key.valid := hasher.word.fire && left =/= 0.U
  key.bits.slot := mySlot
  key.bits.word := word
  key.bits.data := Mux(isLast, masked, keyData)
  when(state === State.key) {
    when(hasher.word.fire) {
      stream.consume := keyNeeds
      left := left - 8.U
      word := word + 1.U
      when(isLast) { state := State.hash }
    }.otherwise { fails := short(keyNeeds) }
  }
  when(state === State.hash && hasher.hash.valid) { state := State.dispatch }

  // The lookup: that of a change waits for those before it.
  private val changes = !isGet && !refused
  lookup.valid := state === State.dispatch && (!changes || alone)
  lookup.bits.hash := hasher.hash.bits
  lookup.bits.keyBytes := request.keyBytes
  lookup.bits.operation := request.operation
  lookup.bits.flags := request.flags
  lookup.bits.tag := request.tag
  lookup.bits.refused := refused
  lookup.bits.status := refusal
  when(lookup.fire) {
    when(!refused) { left := Mux(isSet, request.valueBytes, valueRounded) }
    state := Mux(changes && isSet, State.value, State.skip)
  }
  change.slot := mySlot
  change.keyBytes := request.keyBytes
  change.valueBytes := request.valueBytes
  change.flags := request.flags
  change.hash := hasher.hash.bits
  change.expected := expected

  // The value, a grain at a time.
  private val lineBytes = Mux(left > Grain.bytes.U, Grain.bytes.U, left(Grain.shift, 0))
  private val lineNeeds = (lineBytes + 7.U) & ~7.U((Grain.shift + 1).W)
  value.valid := state === State.value && left =/= 0.U && stream.available >= lineNeeds
  value.bits.data := stream.data.asUInt & FillInterleaved(8, Lines.mask(lineBytes, Grain.bytes))
  value.bits.last := left <= Grain.bytes.U
  cut := state === State.value && left =/= 0.U && short(lineNeeds)
  when(state === State.value) {
    when(value.fire) {
      stream.consume := lineNeeds
      left := left - lineBytes
    }
    when(left === 0.U && changed) { state := State.header }
    fails := cut && changed
  }

  // What nobody wants: the rest of a refused request, the value of one that has none. A deletion is waited for.
  private val skipped = Mux(left > stream.available, stream.available, left(Grain.shift, 0))
  private val deletes = RegInit(false.B)
  when(lookup.fire) { deletes := changes && !isSet }
  when(changed) { deletes := false.B }
  when(state === State.skip) {
    stream.consume := skipped
    left := left - skipped
    when(left === 0.U && !deletes) {
      state := State.header
    }.otherwise { fails := left =/= 0.U && short(1.U) && !deletes }
  }

  private val idles = stream.consume === 0.U && !lookup.fire
  waits := run && idles && Seq(State.header, State.version, State.key, State.value, State.skip).map(_ === state).reduce(
    _ || _
  )
  ended := state === State.ended
  status := problem
  offset := Mux(problem === Status.ok, position, began)
  when(!run) {
    state := State.header
    position := 0.U
    problem := Status.ok
  }
}

object RequestReader {

  /** Bits of the bytes of a request, whatever its header says. */
  val leftBits: Int = 34

  /** Keys and values have a multiple of so many bytes with what is behind them. */
  def rounded(bytes: UInt): UInt = Cat((bytes +& 7.U) >> 3, 0.U(3.W))

  object State extends ChiselEnum {
    val header, judge, version, key, hash, dispatch, value, skip, ended = Value
  }
}
