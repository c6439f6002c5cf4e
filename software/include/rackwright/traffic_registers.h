/* Registers of the unit `traffic`: offsets in bytes, and the first bits of their fields.
 *
 * Made of their map by `pytest tests/test_headers.py --update-docs`. */
#ifndef RACKWRIGHT_TRAFFIC_REGISTERS_H
#define RACKWRIGHT_TRAFFIC_REGISTERS_H

#define RW_TRAFFIC_REGISTER_START 0x0 /* a write begins a run, or ends it */
#define RW_TRAFFIC_REGISTER_START_WRITES_BIT 0 /* the bit: 0 begins a run of reads, 1 of writes; reads 1 while a run lasts */
#define RW_TRAFFIC_REGISTER_START_STOP_BIT 1 /* the bit: 1 has the run that lasts make no more requests */
#define RW_TRAFFIC_REGISTER_BASE 0x8 /* address of the first request */
#define RW_TRAFFIC_REGISTER_SIZE 0x10 /* bytes of a request */
#define RW_TRAFFIC_REGISTER_STRIDE 0x18 /* bytes from one request to the next */
#define RW_TRAFFIC_REGISTER_MASK 0x20 /* the offset from the base is taken modulo mask + 1, a power of two */
#define RW_TRAFFIC_REGISTER_COUNT 0x28 /* requests of a run */
#define RW_TRAFFIC_REGISTER_OUTSTANDING 0x30 /* requests under way at most, up to 1024 */
#define RW_TRAFFIC_REGISTER_INTERVAL 0x38 /* cycles from one request to the next at least */
#define RW_TRAFFIC_REGISTER_COPY 0x40 /* cycles to copy 16 bytes: of reads, request by request, when the last has come; of writes before they leave. 0 copies nothing */
#define RW_TRAFFIC_REGISTER_SEED 0x48 /* each word written is its address and the seed */
#define RW_TRAFFIC_REGISTER_SUM 0x50 /* sum of the 64-bit words read, of the last run */
#define RW_TRAFFIC_REGISTER_DONE 0x58 /* requests done, of the last run */
#define RW_TRAFFIC_REGISTER_FAULTS 0x60 /* beats that could not be read, of the last run */
#define RW_TRAFFIC_REGISTER_ERRORS 0x68 /* unexpected completions, time-outs, unsupported requests and dropped writes, since reset */
#define RW_TRAFFIC_REGISTER_PEER_BEATS 0x70 /* beats that other cards have written into BAR 2 */
#define RW_TRAFFIC_REGISTER_PEER_SUM 0x78 /* the sum of their words */

#endif
