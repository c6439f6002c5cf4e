/* Microkernels: what one kind of instruction takes, in a chain and side by side. */
#include "micro.h"

static uint64_t buffer[4096] __attribute__((aligned(64), used));

void setup(void) {}

__attribute__((naked, aligned(64), used)) static void leaf(void) { __asm__("ret"); }

/* Multiplication and division. */
MICRO(mul_chain, 64, INTEGERS, REPEAT(16, "mul t0, t0, t1"))
MICRO(mul_add_chain, 64, INTEGERS, REPEAT(8, "mul t0, t0, t1\nadd t0, t0, t1"))
MICRO(mul_independent, 64, INTEGERS, REPEAT(4, EACH("mul \\r, t1, t2", "t0, t3, t4, t5")))
/* Each of these waits for the one before by a divisor that is made from the quotient. */
MICRO(div_64bit_full, 64, INTEGERS "li t3, 1\n",
      REPEAT(4, "li t0, -1\nsrli t0, t0, 1\ndivu t2, t0, t3\nandi t3, t2, 0\naddi t3, t3, 1"))
MICRO(div_same_size, 64, INTEGERS "li t3, 3\n", REPEAT(8, "divu t2, t0, t3\nandi t3, t2, 0\naddi t3, t3, 3"))
MICRO(div_throughput, 64, INTEGERS "li t3, 3\n", REPEAT(8, "divu t2, t0, t3"))
MICRO(div_by_larger, 64, INTEGERS "li t5, 1000\nli t3, 1000\n",
      REPEAT(8, "divu t2, t0, t3\nandi t3, t2, 0\nadd t3, t3, t5"))
MICRO(div_signed_neg, 64, INTEGERS "li t0, -1000\nli t5, 3\nli t3, 3\n",
      REPEAT(8, "div t2, t0, t3\nandi t3, t2, 0\nadd t3, t3, t5"))

/* Floating point, and the ways between the two files of registers. */
MICRO(fadd_d_chain, 64, FLOATS, REPEAT(16, "fadd.d ft0, ft0, ft1"))
MICRO(fmadd_d_chain, 64, FLOATS, REPEAT(16, "fmadd.d ft0, ft0, ft1, ft1"))
MICRO(fmul_s_chain, 64, FLOATS, REPEAT(16, "fmul.s fa0, fa0, fa1"))
MICRO(fsgnj_chain, 64, FLOATS, REPEAT(16, "fsgnjx.d ft0, ft0, ft1"))
MICRO(fmin_chain, 64, FLOATS, REPEAT(16, "fmin.d ft0, ft0, ft1"))
MICRO(fcvt_s_d_chain, 64, FLOATS, REPEAT(8, "fcvt.s.d ft0, ft0\nfcvt.d.s ft0, ft0"))
MICRO(fmv_roundtrip, 64, FLOATS, REPEAT(8, "fmv.x.d t0, ft0\nfmv.d.x ft0, t0"))
MICRO(fcvt_roundtrip, 64, FLOATS, REPEAT(8, "fcvt.l.d t0, ft0\nfcvt.d.l ft0, t0"))
MICRO(feq_fcvt_chain, 64, FLOATS, REPEAT(8, "feq.d t0, ft0, ft1\nfcvt.d.l ft0, t0"))
MICRO(fadd_independent, 64, FLOATS, REPEAT(4, EACH("fadd.d \\r, ft1, ft2", "ft0, ft3, ft4, ft5")))
MICRO(fmv_d_x_independent, 64, FLOATS, REPEAT(4, EACH("fmv.d.x \\r, t0", "ft0, ft3, ft4, ft5")))
MICRO(fmv_x_d_independent, 64, FLOATS, REPEAT(4, EACH("fmv.x.d \\r, ft0", "t0, t1, t2, t3")))
MICRO(fld_fadd_fmv, 64, FLOATS, REPEAT(8, "fld ft0, 0(a2)\nfmv.x.d t0, ft0\nandi t0, t0, 0\nadd a2, a2, t0"))
MICRO(fld_independent, 64, FLOATS, REPEAT(4, "fld ft0, 0(a2)\nfld ft1, 8(a2)\nfld ft2, 16(a2)\nfld ft3, 24(a2)"))
MICRO(fsd_independent, 64, FLOATS, REPEAT(4, "fsd ft0, 0(a2)\nfsd ft1, 8(a2)\nfsd ft2, 16(a2)\nfsd ft3, 24(a2)"))
MICRO(fsd_fld_chain, 64, FLOATS, REPEAT(8, "fsd ft0, 0(a2)\nfld ft0, 0(a2)"))
MICRO(fdiv_d_chain, 64, FLOATS, REPEAT(4, "fdiv.d ft0, ft0, ft1"))
MICRO(fsqrt_d_chain, 64, FLOATS, REPEAT(4, "fsqrt.d ft0, ft0"))
MICRO(fdiv_d_independent, 64, FLOATS, REPEAT(4, "fdiv.d ft3, ft0, ft1"))
MICRO(fsqrt_d_independent, 64, FLOATS, REPEAT(4, "fsqrt.d ft3, ft0"))
MICRO(fdiv_s_chain, 64, FLOATS, REPEAT(4, "fdiv.s fa0, fa0, fa1"))
MICRO(fsqrt_s_chain, 64, FLOATS, REPEAT(4, "fsqrt.s fa0, fa0"))
MICRO(fdiv_s_independent, 64, FLOATS, REPEAT(4, "fdiv.s fa3, fa0, fa1"))
MICRO(fsqrt_s_independent, 64, FLOATS, REPEAT(4, "fsqrt.s fa3, fa0"))

/* Loads and stores that hit, and what passes from one to the other. */
MICRO(ld_chain, 64, INTEGERS "sd a2, 0(a2)\nfence\n", REPEAT(16, "ld a2, 0(a2)"))
MICRO(lw_chain, 64, INTEGERS "sd zero, 0(a2)\nfence\n", REPEAT(8, "lw t0, 0(a2)\nadd a2, a2, t0"))
MICRO(sd_ld_chain, 64, INTEGERS, REPEAT(8, "sd t0, 0(a2)\nld t0, 0(a2)"))
MICRO(sd_ld_far, 64, INTEGERS, REPEAT(8, "sd t0, 0(a2)\nld t1, 0(a2)"))
MICRO(sd_lw_chain, 64, INTEGERS, REPEAT(8, "sd t0, 0(a2)\nlw t0, 0(a2)"))
MICRO(sw_ld_chain, 64, INTEGERS, REPEAT(8, "sw t0, 0(a2)\nld t0, 0(a2)"))
MICRO(load_independent, 64, INTEGERS, REPEAT(8, "ld t0, 0(a2)\nld t1, 8(a2)\nld t2, 16(a2)\nld t3, 24(a2)"))
MICRO(store_independent, 64, INTEGERS, REPEAT(8, "sd t0, 0(a2)\nsd t1, 8(a2)\nsd t2, 16(a2)\nsd t3, 24(a2)"))
MICRO(load_store_mix, 64, INTEGERS, REPEAT(8, "ld t0, 0(a2)\nsd t1, 64(a2)\nld t2, 16(a2)\nsd t3, 88(a2)"))
MICRO(load_alu_alu, 64, INTEGERS, REPEAT(8, "ld t0, 0(a2)\nadd t1, t2, t3\nadd t4, t2, t3"))
/* The load finds an older store whose address is not known yet, and will be the same. */
MICRO(store_load_order, 512, INTEGERS "li a5, 0\n",
      "mul t1, a5, t5\nandi t1, t1, 0\nadd t1, t1, a2\nsd a5, 0(t1)\nld t2, 0(a2)\nadd t3, t3, t2\naddi a5, a5, 1")

/* The front end: width, jumps, branches, small loops, calls. */
#define SIX "t0, t1, t2, t3, t4, t5"
MICRO(alu4_independent, 64, INTEGERS, WIDE(REPEAT(8, ADD(SIX))))
MICRO(alu2_independent, 64, INTEGERS, REPEAT(8, ADD(SIX)))
MICRO(alu_chain, 64, INTEGERS, REPEAT(32, "addi t0, t0, 1"))
MICRO(jump_every_2, 64, INTEGERS, WIDE(REPEAT(16, ADD("t0") "j 1f\n1:")))
MICRO(jump_every_4, 64, INTEGERS, WIDE(REPEAT(16, ADD("t0, t1, t2") "j 1f\n1:")))
MICRO(jump_every_8, 64, INTEGERS, WIDE(REPEAT(16, ADD(SIX ", t0") "j 1f\n1:")))
MICRO(branch_not_taken, 64, INTEGERS, WIDE(REPEAT(24, "beq zero, t1, 1f") "1:"))
MICRO(branch_not_taken_alu, 64, INTEGERS,
      WIDE(REPEAT(12, "beq zero, t1, 1f\naddi t0, t0, 1\naddi t2, t2, 1") "1:"))
#define LOOP(name, additions) \
  MICRO(name, 8, INTEGERS, WIDE("li a3, 64\n2:\naddi a3, a3, -1" additions "\nbnez a3, 2b"))
LOOP(loop_of_2, "")
LOOP(loop_of_3, ADD("t1"))
LOOP(loop_of_4, ADD("t1, t2"))
LOOP(loop_of_6, ADD("t1, t2, t3, t4"))
LOOP(loop_of_8, ADD("t1, t2, t3, t4, t0, t1"))
LOOP(loop_of_12, ADD("t1, t2, t3, t4, t0, t1, t2, t3, t4, t0"))
LOOP(loop_of_16, ADD("t1, t2, t3, t4, t0, t1, t2, t3, t4, t0, t1, t2, t3, t4"))
LOOP(loop_of_24, ADD("t1, t2, t3, t4, t0, t1, t2, t3, t4, t0, t1, t2, t3, t4, t0, t1, t2, t3, t4, t0, t1, t2"))
MICRO_CHANGING(call_return, 64, INTEGERS, REPEAT(8, "call leaf"), "ra", CHANGED)

/* Instructions that have the pipeline for themselves. */
MICRO(csr_mcycle, 64, INTEGERS, REPEAT(8, "csrr t0, mcycle"))
MICRO(csr_write, 64, INTEGERS, REPEAT(8, "csrw mscratch, t0"))
MICRO(fcsr_read, 64, INTEGERS, REPEAT(8, "frflags t0"))
MICRO(fence, 64, INTEGERS, REPEAT(8, "fence"))
MICRO(fence_i, 16, INTEGERS, REPEAT(4, "fence.i"))
MICRO(amo_chain, 64, INTEGERS, REPEAT(8, "amoadd.d t0, zero, (a2)"))
MICRO(amo_every_12_alu, 64, INTEGERS, REPEAT(4, "amoadd.d t0, zero, (a2)" ADD(SIX) ADD(SIX)))
MICRO(lr_sc, 64, INTEGERS, REPEAT(4, "lr.d t0, (a2)\nsc.d t1, t0, (a2)"))

/* Prediction. The numbers without pattern are those of a xorshift generator. */
#define XORSHIFT "slli t1, t0, 13\nxor t0, t0, t1\nsrli t1, t0, 7\nxor t0, t0, t1\nslli t1, t0, 17\nxor t0, t0, t1\n"
MICRO(random_branch, 512, INTEGERS "li t0, 0x123456789\n",
      REPEAT(4, XORSHIFT "andi t2, t0, 16\nbeqz t2, 1f\naddi t3, t3, 1\n1:"))
MICRO(random_nobranch, 512, INTEGERS "li t0, 0x123456789\n",
      REPEAT(4, XORSHIFT "andi t2, t0, 16\nseqz t2, t2\nadd t3, t3, t2"))
MICRO(alternate_branch, 2048, INTEGERS "li a5, 0\n", "andi t1, a5, 1\nbeqz t1, 1f\naddi t3, t3, 1\n1: addi a5, a5, 1")
MICRO(period4_branch, 2048, INTEGERS "li a5, 0\n", "andi t1, a5, 3\nbeqz t1, 1f\naddi t3, t3, 1\n1: addi a5, a5, 1")
MICRO(indirect_same, 64, INTEGERS, REPEAT(8, "lla a3, 1f\njr a3\n1:"))
MICRO(indirect_alternate, 1024, INTEGERS "li a5, 0\n",
      "andi t1, a5, 1\nslli t1, t1, 3\nlla a3, 7f\nadd a3, a3, t1\njr a3\n.balign 8"
      WIDE("7: addi t3, t3, 1\nj 8f\naddi t3, t3, 2\nj 8f") "8: addi a5, a5, 1")

/* How much waits behind a division that takes 70 cycles. */
#define SLOW "divu t6, t6, t1\nori t6, t6, -1\n"
#define ONES "li t6, -1\nli t1, 1\n"
MICRO(window_alu, 64, INTEGERS ONES, SLOW REPEAT(160, "addi t0, t2, 1"))
MICRO(window_nodest, 64, INTEGERS ONES, SLOW REPEAT(160, "nop"))
MICRO(window_branch, 64, INTEGERS ONES, SLOW REPEAT(40, "nop\nnop\nnop\nbne zero, zero, 9f") "9:")
MICRO(window_load, 64, INTEGERS ONES, SLOW REPEAT(160, "ld t0, 0(a2)"))
MICRO(window_store, 64, INTEGERS ONES, SLOW REPEAT(160, "sd t0, 0(a2)"))
MICRO(window_dependent, 64, INTEGERS ONES,
      "divu t6, t6, t1\nori a7, t6, -1\n" REPEAT(160, "add t0, t6, t2") "mv t6, a7")
MICRO(window_fp, 64, FLOATS ONES, SLOW REPEAT(160, "fadd.d ft0, ft1, ft2"))
