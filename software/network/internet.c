#include "internet.h"

#include "bare.h"
#include "bytes.h"

struct unused unused;

enum { TYPE_IPV4 = 0x0800, TYPE_ARP = 0x0806, ARP_BYTES = 28, ARP_REQUEST = 1, ARP_REPLY = 2 };
enum { PROTOCOL_ICMP = 1, PROTOCOL_UDP = 17, ECHO_REPLY = 0, ECHO_REQUEST = 8 };
static const uint64_t BROADCAST = 0xffffffffffffull;

static const struct handlers *handlers;
static uint64_t own_mac;
static uint32_t own_address;
static uint16_t identification;

/* The last answer to a question for an address. */
static struct endpoint resolved;

uint32_t internet_address(void) { return own_address; }

void internet_start(const struct handlers *program) {
  handlers = program;
  own_address = (uint32_t)boot_information.address;
  own_mac = nic_mac();
  nic_start();
}

static uint16_t fold(uint64_t sum) {
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return (uint16_t)sum;
}

static uint64_t sum_of(const uint8_t *bytes, unsigned length) {
  uint64_t sum = 0;
  for (; length > 1; length -= 2, bytes += 2) sum += get16(bytes);
  return length ? sum + (bytes[0] << 8) : sum;
}

/* The sum of the pseudo header of UDP. */
static uint64_t pseudo_header(uint32_t one, uint32_t other, unsigned length) {
  return (one >> 16) + (one & 0xffff) + (other >> 16) + (other & 0xffff) + PROTOCOL_UDP + length;
}

static void put_ethernet(uint8_t *frame, uint64_t to, uint16_t type) {
  put48(frame, to);
  put48(frame + 6, own_mac);
  put16(frame + 12, type);
}

static void send_arp(uint16_t operation, uint64_t mac, uint32_t address) {
  uint8_t *frame = nic_buffer(), *arp = frame + ETHERNET_BYTES;
  put_ethernet(frame, operation == ARP_REQUEST ? BROADCAST : mac, TYPE_ARP);
  put16(arp, 1); /* Ethernet, IPv4, and the lengths of their addresses */
  put16(arp + 2, TYPE_IPV4);
  put16(arp + 4, 0x0604);
  put16(arp + 6, operation);
  put48(arp + 8, own_mac);
  put32(arp + 14, own_address);
  put48(arp + 18, operation == ARP_REQUEST ? 0 : mac);
  put32(arp + 24, address);
  nic_send(ETHERNET_BYTES + ARP_BYTES, 0);
}

static void put_ipv4(uint8_t *ip, unsigned length, uint8_t protocol, uint32_t to) {
  put32(ip, 0x45000000 | length);
  put32(ip + 4, (uint32_t)identification++ << 16 | 0x4000); /* not to be fragmented */
  put32(ip + 8, 64u << 24 | (uint32_t)protocol << 16);
  put32(ip + 12, own_address);
  put32(ip + 16, to);
  put16(ip + 10, (uint16_t)~fold(sum_of(ip, IPV4_BYTES)));
}

uint8_t *internet_datagram(void) { return nic_buffer() + UDP_PAYLOAD; }

void internet_send_datagram(const struct endpoint *to, uint16_t from_port, unsigned length) {
  uint8_t *frame = nic_buffer(), *ip = frame + ETHERNET_BYTES, *udp = ip + IPV4_BYTES;
  const unsigned udp_length = UDP_BYTES + length;
  put_ethernet(frame, to->mac, TYPE_IPV4);
  put_ipv4(ip, IPV4_BYTES + udp_length, PROTOCOL_UDP, to->address);
  put16(udp, from_port);
  put16(udp + 2, to->port);
  put16(udp + 4, (uint16_t)udp_length);
  put16(udp + 6, 0);
  const struct nic_checksum checksum = {
      .first = ETHERNET_BYTES + IPV4_BYTES,
      .place = ETHERNET_BYTES + IPV4_BYTES + 6,
      .initial = fold(pseudo_header(own_address, to->address, udp_length)),
  };
  nic_send(ETHERNET_BYTES + IPV4_BYTES + udp_length, &checksum);
}

static void send_icmp(const struct endpoint *to, unsigned length) {
  uint8_t *ip = nic_buffer() + ETHERNET_BYTES;
  put_ethernet(ip - ETHERNET_BYTES, to->mac, TYPE_IPV4);
  put_ipv4(ip, IPV4_BYTES + ICMP_BYTES + length, PROTOCOL_ICMP, to->address);
  put16(ip + IPV4_BYTES + 2, 0);
  const struct nic_checksum checksum = {
      .first = ETHERNET_BYTES + IPV4_BYTES,
      .place = ETHERNET_BYTES + IPV4_BYTES + 2,
  };
  nic_send(ICMP_PAYLOAD + length, &checksum);
}

void internet_ping(const struct endpoint *to, uint16_t identifier, uint16_t sequence, unsigned length) {
  uint8_t *icmp = nic_buffer() + ETHERNET_BYTES + IPV4_BYTES;
  put16(icmp, ECHO_REQUEST << 8);
  put16(icmp + 4, identifier);
  put16(icmp + 6, sequence);
  memset(icmp + ICMP_BYTES, (uint8_t)sequence, length);
  send_icmp(to, length);
}

static void take_arp(const struct received *frame) {
  const uint8_t *arp = frame->bytes + ETHERNET_BYTES;
  if (frame->length < ETHERNET_BYTES + ARP_BYTES || get16(arp) != 1 || get16(arp + 2) != TYPE_IPV4) {
    ++unused.damaged;
    return;
  }
  const uint64_t mac = get48(arp + 8);
  const uint32_t address = get32(arp + 14);
  if (get32(arp + 24) != own_address) {
    ++unused.foreign;
  } else if (get16(arp + 6) == ARP_REQUEST) {
    send_arp(ARP_REPLY, mac, address);
  } else {
    resolved = (struct endpoint){.mac = mac, .address = address};
  }
}

static void take_icmp(const struct received *frame, struct endpoint *from, unsigned length) {
  const uint8_t *icmp = frame->bytes + NIC_SUMMED;
  if (length < ICMP_BYTES || frame->sum != 0xffff) {
    ++unused.damaged;
    return;
  }
  const unsigned payload = length - ICMP_BYTES;
  if (icmp[0] == ECHO_REQUEST) {
    uint8_t *answer = nic_buffer() + NIC_SUMMED;
    put16(answer, ECHO_REPLY << 8);
    memcpy(answer + 4, icmp + 4, length - 4);
    send_icmp(from, payload);
  } else if (icmp[0] == ECHO_REPLY && handlers->echo_reply) {
    handlers->echo_reply(from, get16(icmp + 4), get16(icmp + 6), payload);
  } else {
    ++unused.foreign;
  }
}

static void take_udp(const struct received *frame, struct endpoint *from, unsigned length) {
  const uint8_t *udp = frame->bytes + NIC_SUMMED;
  const unsigned udp_length = length < UDP_BYTES ? 0 : get16(udp + 4);
  if (udp_length < UDP_BYTES || udp_length > length) {
    ++unused.damaged;
    return;
  }
  const uint16_t sum = fold(frame->sum + pseudo_header(from->address, own_address, udp_length));
  if (get16(udp + 6) && sum != 0xffff) {
    ++unused.damaged;
    return;
  }
  from->port = get16(udp);
  if (handlers->datagram) {
    handlers->datagram(from, get16(udp + 2), udp + UDP_BYTES, udp_length - UDP_BYTES);
  } else {
    ++unused.foreign;
  }
}

static void take_ipv4(const struct received *frame) {
  const uint8_t *ip = frame->bytes + ETHERNET_BYTES;
  const unsigned available = frame->length - ETHERNET_BYTES;
  if (available < IPV4_BYTES || ip[0] != 0x45 || get16(ip + 2) < IPV4_BYTES || get16(ip + 2) > available ||
      fold(sum_of(ip, IPV4_BYTES)) != 0xffff) {
    ++unused.damaged;
    return;
  }
  if (get32(ip + 16) != own_address || get16(ip + 6) & 0x3fff) {
    ++unused.foreign;
    return;
  }
  struct endpoint from = {.mac = get48(frame->bytes + 6), .address = get32(ip + 12)};
  const unsigned length = get16(ip + 2) - IPV4_BYTES;
  if (ip[9] == PROTOCOL_ICMP) {
    take_icmp(frame, &from, length);
  } else if (ip[9] == PROTOCOL_UDP) {
    take_udp(frame, &from, length);
  } else {
    ++unused.foreign;
  }
}

static void take(const struct received *frame) {
  if (frame->length < ETHERNET_BYTES) {
    ++unused.damaged;
    return;
  }
  const uint64_t to = get48(frame->bytes);
  const uint16_t type = get16(frame->bytes + 12);
  if (to != own_mac && to != BROADCAST) {
    ++unused.foreign;
  } else if (type == TYPE_IPV4) {
    take_ipv4(frame);
  } else if (type == TYPE_ARP) {
    take_arp(frame);
  } else if (handlers->other) {
    handlers->other(frame);
  } else {
    ++unused.foreign;
  }
}

bool internet_poll(void) {
  struct received frame;
  if (!nic_receive(&frame)) return false;
  take(&frame);
  nic_release();
  return true;
}

uint64_t internet_resolve(uint32_t address) {
  enum { CYCLES_PER_MILLISECOND = 2000000 };
  for (unsigned index = 0; index < boot_information.neighbour_count; ++index)
    if (boot_information.neighbours[index].address == address) return boot_information.neighbours[index].mac;
  for (;;) {
    send_arp(ARP_REQUEST, 0, address);
    const uint64_t again = read_cycles() + CYCLES_PER_MILLISECOND;
    while (read_cycles() < again) {
      if (!internet_poll()) nic_wait_until(again);
      if (resolved.address == address) return resolved.mac;
    }
  }
}
