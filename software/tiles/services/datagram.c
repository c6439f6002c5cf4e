#include "datagram.h"

#include <string.h>

static uint64_t add(uint64_t sum, const uint8_t *from, size_t bytes)
{
    uint32_t word;
    for (; bytes >= 4; bytes -= 4, from += 4) memcpy(&word, from, 4), sum += word;
    for (size_t i = 0; i < bytes; i++) sum += (uint64_t)from[i] << 8 * i;
    return sum;
}

/* The sum of RFC 1071 in the order of bytes that memory has, which makes no difference to it. */
static uint16_t folded(uint64_t sum)
{
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)sum;
}

static void put(uint8_t *to, size_t value) { to[0] = (uint8_t)(value >> 8), to[1] = (uint8_t)value; }
static size_t number(const uint8_t *from) { return (size_t)from[0] << 8 | from[1]; }

/* Of the pseudo header (RFC 768), whose addresses are those of the packet, and of the datagram. */
static uint16_t udp_sum(const uint8_t *packet, size_t length)
{
    const uint8_t rest[4] = {0, 17, (uint8_t)(length >> 8), (uint8_t)length};
    return folded(add(add(add(0, packet + 12, 8), rest, 4), packet + 20, length));
}

void datagram_send(const datagram_socket *from, uint8_t *frame, size_t bytes)
{
    uint8_t *packet = frame + 14, *udp = packet + 20;
    memcpy(frame, from->peer_mac, 6), memcpy(frame + 6, from->mac, 6), put(frame + 12, 0x0800);
    memset(packet, 0, 20);
    packet[0] = 0x45, put(packet + 2, 28 + bytes), packet[6] = 0x40, packet[8] = 64, packet[9] = 17;
    memcpy(packet + 12, from->address, 4), memcpy(packet + 16, from->peer, 4);
    uint16_t sum = (uint16_t)~folded(add(0, packet, 20));
    memcpy(packet + 10, &sum, 2);
    memcpy(udp, from->port, 2), memcpy(udp + 2, from->peer_port, 2), put(udp + 4, 8 + bytes), put(udp + 6, 0);
    sum = (uint16_t)~udp_sum(packet, 8 + bytes);
    sum = sum ? sum : 0xffff;
    memcpy(udp + 6, &sum, 2);
}

static void swap(uint8_t *one, uint8_t *other, size_t bytes)
{
    uint8_t kept[8];
    memcpy(kept, one, bytes), memcpy(one, other, bytes), memcpy(other, kept, bytes);
}

void datagram_mirror(uint8_t *frame)
{
    swap(frame, frame + 6, 6), swap(frame + 26, frame + 30, 4), swap(frame + 34, frame + 36, 2);
}

long datagram_receive(const datagram_socket *at, const uint8_t *frame, size_t room)
{
    const uint8_t *packet = frame + 14, *udp = packet + 20;
    if (room < DATAGRAM_HEADERS || memcmp(frame, at->mac, 6) || number(frame + 12) != 0x0800) return -1;
    size_t length = number(packet + 2), datagram = number(udp + 4);
    if (packet[0] != 0x45 || packet[9] != 17 || length > room - 14 || datagram < 8 || datagram > length - 20) return -1;
    if (folded(add(0, packet, 20)) != 0xffff || memcmp(packet + 16, at->address, 4)) return -1;
    if (number(packet + 6) & 0x3fff || memcmp(udp + 2, at->port, 2)) return -1;
    if (number(udp + 6) && udp_sum(packet, datagram) != 0xffff) return -1;
    return (long)datagram - 8;
}
