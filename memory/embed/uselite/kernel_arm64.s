#include "textflag.h"

// As on amd64: R6 and R7 are two rows of weights, R8 to R11 the four rows of x; V0 to V3 sum the products of the first row, V4 to
// V7 those of the second. V16 and V17 are 16 weights of the first row, V18 and V19 of the second, V20 and V21 16 numbers of x.

// The assembler has no names for these: sums of products of 16 bits (of the lower and of the upper four), and integers of
// 8 bits widened to 16 (the lower and the upper eight).
#define SMLAL(d, n, m) WORD $(0x0E608000 | (m)<<16 | (n)<<5 | (d))
#define SMLAL2(d, n, m) WORD $(0x4E608000 | (m)<<16 | (n)<<5 | (d))
#define SXTL(d, n) WORD $(0x0F08A400 | (n)<<5 | (d))
#define SXTL2(d, n) WORD $(0x4F08A400 | (n)<<5 | (d))

#define SETUP \
	MOVD w+0(FP), R0      \
	MOVD stride+8(FP), R1 \
	MOVD rows+16(FP), R2  \
	MOVD x+24(FP), R3     \
	MOVD k+32(FP), R4     \
	MOVD sums+40(FP), R5

#define ROWS \
	MOVD R0, R6          \
	ADD  R1, R0, R7      \
	MOVD R3, R8          \
	ADD  R4<<1, R8, R9   \
	ADD  R4<<1, R9, R10  \
	ADD  R4<<1, R10, R11 \
	MOVD R4, R12         \
	VEOR V0.B16, V0.B16, V0.B16 \
	VEOR V1.B16, V1.B16, V1.B16 \
	VEOR V2.B16, V2.B16, V2.B16 \
	VEOR V3.B16, V3.B16, V3.B16 \
	VEOR V4.B16, V4.B16, V4.B16 \
	VEOR V5.B16, V5.B16, V5.B16 \
	VEOR V6.B16, V6.B16, V6.B16 \
	VEOR V7.B16, V7.B16, V7.B16

#define TIMES(x, a, b) \
	VLD1.P 32(x), [V20.H8, V21.H8] \
	SMLAL(a, 20, 16)  \
	SMLAL(b, 20, 18)  \
	SMLAL2(a, 20, 16) \
	SMLAL2(b, 20, 18) \
	SMLAL(a, 21, 17)  \
	SMLAL(b, 21, 19)  \
	SMLAL2(a, 21, 17) \
	SMLAL2(b, 21, 19)

#define TIMESALL \
	TIMES(R8, 0, 4)  \
	TIMES(R9, 1, 5)  \
	TIMES(R10, 2, 6) \
	TIMES(R11, 3, 7)

#define STORE \
	VADDP  V1.S4, V0.S4, V0.S4 \
	VADDP  V3.S4, V2.S4, V2.S4 \
	VADDP  V2.S4, V0.S4, V0.S4 \
	VADDP  V5.S4, V4.S4, V4.S4 \
	VADDP  V7.S4, V6.S4, V6.S4 \
	VADDP  V6.S4, V4.S4, V4.S4 \
	VST1.P [V0.S4], 16(R5)     \
	VST1.P [V4.S4], 16(R5)

// func panel8Asm(w *int8, stride, rows int, x *int16, k int, sums *int32)
TEXT ·panel8Asm(SB), NOSPLIT, $0-48
	SETUP

rows8:
	ROWS

loop8:
	VLD1.P 16(R6), [V16.B16]
	VLD1.P 16(R7), [V18.B16]
	SXTL2(17, 16)
	SXTL(16, 16)
	SXTL2(19, 18)
	SXTL(18, 18)
	TIMESALL
	SUBS $16, R12
	BGT  loop8
	STORE
	ADD  R1<<1, R0
	SUBS $2, R2
	BGT  rows8
	RET

// func panel16Asm(w *int16, stride, rows int, x *int16, k int, sums *int32)
TEXT ·panel16Asm(SB), NOSPLIT, $0-48
	SETUP
	LSL $1, R1

rows16:
	ROWS

loop16:
	VLD1.P 32(R6), [V16.H8, V17.H8]
	VLD1.P 32(R7), [V18.H8, V19.H8]
	TIMESALL
	SUBS $16, R12
	BGT  loop16
	STORE
	ADD  R1<<1, R0
	SUBS $2, R2
	BGT  rows16
	RET
