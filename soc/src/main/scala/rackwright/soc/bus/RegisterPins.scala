package rackwright.soc

import chisel3._

/** Connects accesses to registers with the pins of a contract, which `pin` gives by their signals. */
object RegisterPins {
  def connect(access: RegisterAccess, spec: RegisterSpec, pin: String => UInt): Unit = spec.contract match {
    case "mmio" => own(access, pin)
    case "axi4-lite" => lite(access, pin)
  }

  private def own(access: RegisterAccess, pin: String => UInt): Unit = {
    pin("request_valid") := access.request.valid
    pin("request_bits_address") := access.request.bits.address
    pin("request_bits_write") := access.request.bits.write
    pin("request_bits_data") := access.request.bits.data
    access.request.ready := pin("request_ready")
    access.response.valid := pin("response_valid")
    access.response.bits.data := pin("response_bits_data")
    access.response.bits.error := false.B
    pin("response_ready") := access.response.ready
  }

  /** A write has two channels, which a unit may take one after the other. */
  private def lite(access: RegisterAccess, pin: String => UInt): Unit = {
    val request = access.request
    val addressLeft, dataLeft = RegInit(false.B)
    val writes = request.valid && request.bits.write.asBool
    val addressLeaves = addressLeft || pin("aw_ready").asBool
    val dataLeaves = dataLeft || pin("w_ready").asBool
    addressLeft := writes && addressLeaves && !request.ready
    dataLeft := writes && dataLeaves && !request.ready
    request.ready := Mux(request.bits.write, addressLeaves && dataLeaves, pin("ar_ready").asBool)

    pin("aw_valid") := writes && !addressLeft
    pin("aw_bits_addr") := request.bits.address
    pin("w_valid") := writes && !dataLeft
    pin("w_bits_data") := request.bits.data
    pin("w_bits_strb") := request.bits.mask
    pin("ar_valid") := request.valid && !request.bits.write
    pin("ar_bits_addr") := request.bits.address

    val read = pin("r_valid").asBool
    access.response.valid := read || pin("b_valid").asBool
    access.response.bits.data := pin("r_bits_data")
    access.response.bits.error := Mux(read, pin("r_bits_resp"), pin("b_bits_resp")) >= 2.U
    pin("r_ready") := access.response.ready
    pin("b_ready") := access.response.ready
  }
}
