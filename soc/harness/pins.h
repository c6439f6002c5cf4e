// The pins of the chip that memory, devices and links are connected to: `map.h` says which it has.
#pragma once

// Names the pins of an AXI4 port of the top module.
#define SOC_AXI4(NAME, PORT)                                                          \
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

// Names the pins of a pair of streams, by which frames leave and arrive.
#define SOC_STREAMS(NAME, OUT, IN)                                                    \
    struct NAME {                                                                     \
        static constexpr unsigned bytes = sizeof(Chip::OUT##_bits_data);              \
        static_assert(bytes == sizeof(Chip::IN##_bits_data), "both have one width");  \
        static auto& out_ready(Chip& chip) { return chip.OUT##_ready; }               \
        static auto& out_valid(Chip& chip) { return chip.OUT##_valid; }               \
        static auto& out_data(Chip& chip) { return chip.OUT##_bits_data; }            \
        static auto& out_keep(Chip& chip) { return chip.OUT##_bits_keep; }            \
        static auto& out_last(Chip& chip) { return chip.OUT##_bits_last; }            \
        static auto& in_ready(Chip& chip) { return chip.IN##_ready; }                 \
        static auto& in_valid(Chip& chip) { return chip.IN##_valid; }                 \
        static auto& in_data(Chip& chip) { return chip.IN##_bits_data; }              \
        static auto& in_keep(Chip& chip) { return chip.IN##_bits_keep; }              \
        static auto& in_last(Chip& chip) { return chip.IN##_bits_last; }              \
    }
