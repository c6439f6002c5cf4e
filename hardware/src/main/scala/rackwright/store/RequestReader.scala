package rackwright.store

import chisel3._
import chisel3.util._

import rackwright.port.Status
import rackwright.stream.{ByteStream, Lines}

/** A key to look up, once it is in the key memory. */
class Lookup extends Bundle {
  val hash = UInt(64.W)
  val keyBytes = UInt(Limits.keyBits.W)
  val operation = UInt(16.W)
  val flags = UInt(32.W)
  val tag = UInt(32.W)

  /** The request has no key to be looked up: it only waits for its turn. It is answered with `status`, or, if that is
    * ok, it is for all items.
    */
  val refused = Bool()
  val status = UInt(Outcome.bits.W)
}

/** What a change needs from its request. */
class Change(params: Params) extends Bundle {
  val slot = UInt(params.slotBits.W)
  val keyBytes = UInt(Limits.keyBits.W)
  val valueBytes = UInt(Limits.valueBits.W)
  val flags = UInt(32.W)
  val hash = UInt(64.W)

  /** The expected version of the item to be replaced, or what is added to a number or subtracted. */
  val expected = UInt(64.W)
  val expiry = UInt(32.W)
}

/** One grain of a value. */
class ValueLine extends Bundle {
  val data = UInt((8 * Grain.bytes).W)
  val last = Bool()
}

/** Parses requests in order: keys go to the key memory and the hash, values to the changer. */
class RequestReader(params: Params) extends Module {
  import RequestReader.State

  /** The region is known, so that requests may be read. */
  val run = IO(Input(Bool()))

  /** Read no request after the current one. */
  val stop = IO(Input(Bool()))
  val hashKey = IO(Input(Vec(2, UInt(64.W))))
  val stream = IO(Flipped(new ByteStream(Grain.bytes)))

  /** The slot of the next lookup, valid while it is free; the write into it. */
  val slot = IO(Flipped(Valid(UInt(params.slotBits.W))))
  val key = IO(Valid(new KeyPlace(params)))
  val lookup = IO(Decoupled(new Lookup))

  /** No request is in flight, so that the store may be changed. */
  val alone = IO(Input(Bool()))
  val change = IO(Output(new Change(params)))
  val value = IO(Decoupled(new ValueLine))

  /** The value is truncated; the change is abandoned. */
  val cut = IO(Output(Bool()))
  val changed = IO(Input(Bool()))

  /** No request follows; the status, and the total length of the preceding requests. */
  val ended = IO(Output(Bool()))
  val status = IO(Output(UInt(Status.width.W)))
  val offset = IO(Output(UInt(64.W)))

  /** Waits for input. */
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

  /** The input ends before `bytes` bytes of the request that is being parsed. */
  private def short(bytes: UInt): Bool = stream.available < bytes && (stream.last || stream.fault)

  stream.consume := 0.U
  position := position + stream.consume
  private val fails = WireDefault(false.B)
  when(fails) {
    problem := Mux(stream.fault, Status.accessFault, Status.malformed)
    state := State.ended
  }

  // The header; 8-byte words follow.
  private val expires = Reg(Bool())
  private val expiry = Reg(UInt(32.W))
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
      request.operation := parsed.operation(RequestHeader.expiryBit - 1, 0)
      expires := parsed.operation(RequestHeader.expiryBit)
      mySlot := slot.bits
      state := State.judge
    }.otherwise { fails := short(RequestHeader.bytes.U) }
  }

  private val isGet = RequestHeader.reads(request.operation)
  private val isSet = RequestHeader.stores(request.operation)
  private val leads = RequestHeader.leads(request.operation)
  private val plain = Seq(RequestHeader.delete, RequestHeader.touch).map(_ === request.operation).reduce(_ || _)
  private val isForAll = RequestHeader.isForAll(request.operation)
  private val isKnown = isGet || isSet || plain || leads || isForAll
  private val keyFits = Mux(isForAll, request.keyBytes === 0.U, request.keyBytes =/= 0.U) &&
    request.keyBytes <= Limits.keyBytes.U
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
    expiry := 0.U
    state := MuxCase(State.key, Seq(leads -> State.version, expires -> State.expiry, !fits -> State.dispatch))
  }

  // The number in front of the key; an invalid request does not use it.
  private val expected = Reg(UInt(64.W))
  when(state === State.version) {
    when(stream.available >= RequestHeader.versionBytes.U) {
      stream.consume := RequestHeader.versionBytes.U
      expected := keyData
      state := MuxCase(State.key, Seq(expires -> State.expiry, refused -> State.dispatch))
    }.otherwise { fails := short(RequestHeader.versionBytes.U) }
  }
  when(state === State.expiry) {
    when(stream.available >= RequestHeader.versionBytes.U) {
      stream.consume := RequestHeader.versionBytes.U
      expiry := keyData(31, 0)
      state := Mux(refused, State.dispatch, State.key)
    }.otherwise { fails := short(RequestHeader.versionBytes.U) }
  }

  // The key, word by word; its last bytes and its length form the last word of the hash.
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

  // The lookup; that of a change waits until all earlier lookups have ended.
  private val changes = !isGet && !refused
  lookup.valid := state === State.dispatch && (!changes || alone)
  lookup.bits.hash := hasher.hash.bits
  lookup.bits.keyBytes := request.keyBytes
  lookup.bits.operation := request.operation
  lookup.bits.flags := request.flags
  lookup.bits.tag := request.tag
  lookup.bits.refused := refused || isForAll
  lookup.bits.status := Mux(refused, refusal, Outcome.ok)
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
  change.expiry := expiry

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

  // Skipped input: the rest of an invalid request, or the value of an operation that does not use it. A deletion waits
  // for the changer.
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
  waits := run && idles &&
    Seq(State.header, State.version, State.expiry, State.key, State.value, State.skip).map(_ === state).reduce(_ || _)
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

  /** Width of the number of bytes of a request, whatever its header contains. */
  val leftBits: Int = 34

  /** Keys and values are padded to a multiple of 8 bytes. */
  def rounded(bytes: UInt): UInt = Cat((bytes +& 7.U) >> 3, 0.U(3.W))

  object State extends ChiselEnum {
    val header, judge, version, expiry, key, hash, dispatch, value, skip, ended = Value
  }
}
