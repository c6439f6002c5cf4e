package rackwright.lz77

import chisel3._
import chisel3.util._

/** The last bytes of the output, read at any distance while more are appended.
  *
  * Whole lines stand in the banks; the line being filled and the two before it, which a read may be too early to find
  * there, stand in registers too. A read is asked for with the position of the step (the number of bytes before it) and
  * the offset; one cycle later, when everything up to that position has been appended, the window shows the bytes from
  * `position - offset` on.
  */
class History(params: DecoderParams) extends Module {
  private val bytes = params.bytes
  private val lineBits = params.lineBits
  private val lines = params.historyBytes / bytes
  private val addressBits = log2Ceil(params.historyBytes)

  /** Forgets everything: no byte is held. */
  val clear = IO(Input(Bool()))

  /** A read per lane; `position` is common to all. */
  val read = IO(Input(Bool()))
  val position = IO(Input(UInt(32.W)))
  val offset = IO(Input(Vec(params.lanes, UInt(params.offsetBits.W))))

  /** One line of bytes per lane, one cycle after the read; bytes not yet produced are undefined. */
  val window = IO(Output(Vec(params.lanes, UInt((8 * bytes).W))))

  /** Bytes appended in this cycle: those of the read of the cycle before. */
  val append = IO(Flipped(Valid(new OutputChunk(params))))

  private val banks = Module(new LineBanks(bytes, lines, params.lanes, masked = false))

  private val current = Reg(UInt((8 * bytes).W))
  private val recent = Reg(Vec(2, UInt((8 * bytes).W)))
  private val fill = RegInit(0.U(lineBits.W))
  private val line = RegInit(0.U(log2Ceil(lines).W))

  private val placed = (append.bits.data << Cat(fill, 0.U(3.W))).pad(16 * bytes)
  private val merged = current | placed(8 * bytes - 1, 0)
  private val filled = fill +& append.bits.count
  private val complete = append.valid && filled >= bytes.U

  when(append.valid) {
    fill := filled(lineBits - 1, 0)
    current := Mux(complete, placed(16 * bytes - 1, 8 * bytes), merged)
  }
  when(complete) {
    line := line + 1.U
    recent(0) := merged
    recent(1) := recent(0)
  }
  when(clear) {
    fill := 0.U
    line := 0.U
    current := 0.U
  }

  // The line completed in the cycle before is written from its register.
  private val store = RegNext(complete, false.B)
  private val storedLine = RegEnable(line, complete)
  for (bank <- 0 until 2) {
    banks.write(bank) := store && storedLine(0) === bank.U
    banks.row(bank) := storedLine >> 1
    banks.data(bank) := recent(0)
  }

  banks.read := read
  for (lane <- 0 until params.lanes) {
    val source = position - offset(lane)
    banks.start(lane) := source(addressBits - 1, 0)
    val lineDistance = ((position >> lineBits) - (source >> lineBits))(params.offsetBits - lineBits, 0)
    window(lane) := aligned(lane, RegEnable(lineDistance.min(4.U), read), RegEnable(source(lineBits - 1, 0), read))
  }

  /** The window that begins `back` lines before the current one, `byte` bytes into that line. */
  private def aligned(lane: Int, back: UInt, byte: UInt): UInt = {
    val low = banks.pair(lane)(8 * bytes - 1, 0)
    val high = banks.pair(lane)(16 * bytes - 1, 8 * bytes)
    val first = MuxLookup(back, low)(Seq(0.U -> current, 1.U -> recent(0), 2.U -> recent(1)))
    val second = MuxLookup(back, high)(Seq(1.U -> current, 2.U -> recent(0), 3.U -> recent(1)))
    Lines.align(Cat(second, first), byte, bytes)
  }
}
