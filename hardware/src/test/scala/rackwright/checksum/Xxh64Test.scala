package rackwright.checksum

import org.scalatest.funsuite.AnyFunSuite

/** Constants of XXH64. */
class Xxh64Test extends AnyFunSuite {
  test("the digits of the primes of XXH64 are the primes") {
    val value = BigInt(3)
    for (n <- 1 to 5) {
      val product = value * Xxh64.primes(n - 1) % (BigInt(1) << Xxh64.width)
      val terms = Xxh64.signedDigits(Xxh64.primes(n - 1)).map { case (place, negative) =>
        (if (negative) -1 else 1) * (value << place)
      }
      assert(
        (terms.sum % (BigInt(1) << Xxh64.width) + (BigInt(1) << Xxh64.width)) % (BigInt(1) << Xxh64.width) == product
      )
    }
  }
}
