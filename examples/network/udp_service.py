"""A UDP service without a driver: the network unit, a client's frame, and a service behind a stream."""

from rackwright.unit.internet import Address, Datagram, NetworkUnit

unit = NetworkUnit(Address(mac="02:00:00:00:00:01", interface="10.0.0.1/24"))
unit.bind(entry=0, port=7, stream=0)

# A client at 10.0.0.2 asks who has the address, and is answered by the unit.
ethernet = "ffffffffffff 020000000002 0806"
question = "0001 0800 06 04 0001 020000000002 0a000002 000000000000 0a000001"
unit.receive(bytes.fromhex(ethernet + question))
unit.work()
[answer] = unit.frames()
print("the client learns", answer.data[22:28].hex(":"))

# Its datagram, which has no checksum, comes to port 7.
ethernet = "020000000001 020000000002 0800"
ipv4 = "45 00 0021 0000 4000 40 11 26ca 0a000002 0a000001"
udp = "1f90 0007 000d 0000" + b"hello".hex()
unit.receive(bytes.fromhex(ethernet + ipv4 + udp))
unit.work()
[request] = unit.datagrams(stream=0)
print("the service gets", request.data.decode(), "from", request.peer, request.peer_port)

# The service answers; the unit knows the client's address from its question.
unit.send(Datagram(request.peer, request.peer_port, request.own_port, request.data.upper()), stream=0)
unit.work()
[frame] = unit.frames()
print("the client gets", frame.data[42:].decode(), "after", unit.unit.cycle, "cycles in all")
print({name: count for name, count in unit.counters().items() if count})
