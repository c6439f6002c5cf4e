// The pins of the chip that memory and devices are connected to.
#pragma once
#include "map.h"

namespace soc {

// Names the pins of an AXI4 port of the top module.
#define SOC_PINS(NAME, PORT)                                                          \
    struct NAME {                                                                     \
        static constexpr uint64_t base = 0;                                           \
        static constexpr unsigned beat_bytes = sizeof(Chip::PORT##_r_bits_data);         \
        static auto& ar_ready(Chip& chip) { return chip.PORT##_ar_ready; }            \
        static auto& ar_valid(Chip& chip) { return chip.PORT##_ar_valid; }            \
        static auto& ar_id(Chip& chip) { return chip.PORT##_ar_bits_id; }             \
        static auto& ar_addr(Chip& chip) { return chip.PORT##_ar_bits_addr; }         \
        static auto& ar_len(Chip& chip) { return chip.PORT##_ar_bits_len; }           \
        static auto& ar_size(Chip& chip) { return chip.PORT##_ar_bits_size; }         \
        static auto& r_ready(Chip& chip) { return chip.PORT##_r_ready; }              \
        static auto& r_valid(Chip& chip) { return chip.PORT##_r_valid; }              \
        static auto& r_id(Chip& chip) { return chip.PORT##_r_bits_id; }               \
        static auto& r_data(Chip& chip) { return chip.PORT##_r_bits_data; }           \
        static auto& r_resp(Chip& chip) { return chip.PORT##_r_bits_resp; }           \
        static auto& r_last(Chip& chip) { return chip.PORT##_r_bits_last; }           \
        static auto& aw_ready(Chip& chip) { return chip.PORT##_aw_ready; }            \
        static auto& aw_valid(Chip& chip) { return chip.PORT##_aw_valid; }            \
        static auto& aw_id(Chip& chip) { return chip.PORT##_aw_bits_id; }             \
        static auto& aw_addr(Chip& chip) { return chip.PORT##_aw_bits_addr; }         \
        static auto& aw_size(Chip& chip) { return chip.PORT##_aw_bits_size; }         \
        static auto& w_ready(Chip& chip) { return chip.PORT##_w_ready; }              \
        static auto& w_valid(Chip& chip) { return chip.PORT##_w_valid; }              \
        static auto& w_data(Chip& chip) { return chip.PORT##_w_bits_data; }           \
        static auto& w_strb(Chip& chip) { return chip.PORT##_w_bits_strb; }           \
        static auto& w_last(Chip& chip) { return chip.PORT##_w_bits_last; }           \
        static auto& b_ready(Chip& chip) { return chip.PORT##_b_ready; }              \
        static auto& b_valid(Chip& chip) { return chip.PORT##_b_valid; }              \
        static auto& b_id(Chip& chip) { return chip.PORT##_b_bits_id; }               \
        static auto& b_resp(Chip& chip) { return chip.PORT##_b_bits_resp; }           \
    }

SOC_PINS(MemoryPins, mem_axi4_0);
SOC_PINS(DevicePins, mmio_axi4_0);

}  // namespace soc
