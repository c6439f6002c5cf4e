package rackwright.internet

import chisel3.util.{isPow2, log2Ceil}

import rackwright.network.Frame

/** The parameters of the network unit.
  *
  * @param streams
  *   pairs of stream ports with the data of UDP.
  * @param bindings
  *   entries of the table from ports of UDP to streams.
  * @param bufferKib
  *   size of each buffer between a stream port and the network, in KiB.
  * @param mtu
  *   longest Internet packet that is sent, in bytes.
  * @param arpEntries
  *   addresses that the cache knows.
  * @param waiting
  *   maximum number of destinations whose addresses are being resolved.
  * @param echo
  *   whether stream 0 has no ports and is a service that returns received data.
  * @param shared
  *   whether a network interface is on the same link: frames that are of no use here have a port of their own.
  * @param assemblies
  *   datagrams that are put together from fragments at a time; none if the link is shared, whose interface has
  *   fragments.
  * @param senders
  *   senders whose rates are limited one by one.
  */
case class Params(
    streams: Int = 2,
    bindings: Int = 8,
    bufferKib: Int = 16,
    mtu: Int = 1500,
    arpEntries: Int = 16,
    waiting: Int = 4,
    echo: Boolean = false,
    shared: Boolean = false,
    assemblies: Int = 2,
    senders: Int = 8
) {
  require(streams >= 1 && streams <= 4, s"streams is from 1 to 4, not $streams")
  require(
    isPow2(bufferKib) && bufferKib * 1024 > Frame.maxBytes,
    s"buffer-kib is a power of two from 16, not $bufferKib"
  )

  require(isPow2(senders) && senders >= 4, s"senders is a power of two from 4, not $senders")

  /** Datagrams that are put together at a time. */
  val reassembly: Int = if (shared) 0 else assemblies

  /** Most bytes of data in a datagram that is sent. */
  val mostData: Int = mtu - 28

  /** Flits of a buffer. */
  val bufferFlits: Int = bufferKib * 1024 / Frame.flitBytes

  /** Flits of the place of a datagram that waits for an address. */
  val waitingFlits: Int = 1 << log2Ceil((mostData + Frame.flitBytes - 1) / Frame.flitBytes)

  /** Width of the number of a stream. */
  val streamBits: Int = log2Ceil(streams) max 1
}
