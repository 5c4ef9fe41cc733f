#include "textflag.h"

// Both panels are the same but for how 16 weights are read: integers of 8 bits are widened on the way. SI and BX are two rows of
// weights, DI and R9 to R11 the four rows of x; Y0 to Y3 sum the products of the first row, Y4 to Y7 those of the second.

#define SETUP \
	MOVQ w+0(FP), SI      \
	MOVQ stride+8(FP), R12 \
	MOVQ rows+16(FP), R13 \
	MOVQ x+24(FP), DI     \
	MOVQ k+32(FP), CX     \
	MOVQ sums+40(FP), R8  \
	LEAQ (CX)(CX*1), DX   \
	LEAQ (DI)(DX*1), R9   \
	LEAQ (DI)(DX*2), R10  \
	LEAQ (R9)(DX*2), R11

#define ZERO \
	VPXOR Y0, Y0, Y0 \
	VPXOR Y1, Y1, Y1 \
	VPXOR Y2, Y2, Y2 \
	VPXOR Y3, Y3, Y3 \
	VPXOR Y4, Y4, Y4 \
	VPXOR Y5, Y5, Y5 \
	VPXOR Y6, Y6, Y6 \
	VPXOR Y7, Y7, Y7 \
	XORQ  AX, AX

// 16 numbers of one row of x with the weights in Y8 and Y9
#define TIMES(x, a, b) \
	VMOVDQU  (x)(AX*2), Y10 \
	VPMADDWD Y8, Y10, Y11   \
	VPMADDWD Y9, Y10, Y12   \
	VPADDD   Y11, a, a      \
	VPADDD   Y12, b, b

#define TIMESALL \
	TIMES(DI, Y0, Y4)  \
	TIMES(R9, Y1, Y5)  \
	TIMES(R10, Y2, Y6) \
	TIMES(R11, Y3, Y7)

// the eight lanes of each of a, b, c and d are added up, and the four sums stored
#define STORE(a, b, c, d, lower, other, at) \
	VPHADDD      b, a, a          \
	VPHADDD      d, c, c          \
	VPHADDD      c, a, a          \
	VEXTRACTI128 $1, a, other     \
	VPADDD       other, lower, lower \
	VMOVDQU      lower, at(R8)

// func panel8Asm(w *int8, stride, rows int, x *int16, k int, sums *int32)
TEXT ·panel8Asm(SB), NOSPLIT, $0-48
	SETUP

rows8:
	LEAQ (SI)(R12*1), BX
	ZERO

loop8:
	VPMOVSXBW (SI)(AX*1), Y8
	VPMOVSXBW (BX)(AX*1), Y9
	TIMESALL
	ADDQ      $16, AX
	CMPQ      AX, CX
	JLT       loop8
	STORE(Y0, Y1, Y2, Y3, X0, X1, 0)
	STORE(Y4, Y5, Y6, Y7, X4, X5, 16)
	ADDQ      $32, R8
	LEAQ      (SI)(R12*2), SI
	SUBQ      $2, R13
	JGT       rows8
	VZEROUPPER
	RET

// func panel16Asm(w *int16, stride, rows int, x *int16, k int, sums *int32)
TEXT ·panel16Asm(SB), NOSPLIT, $0-48
	SETUP
	SHLQ $1, R12

rows16:
	LEAQ (SI)(R12*1), BX
	ZERO

loop16:
	VMOVDQU (SI)(AX*2), Y8
	VMOVDQU (BX)(AX*2), Y9
	TIMESALL
	ADDQ    $16, AX
	CMPQ    AX, CX
	JLT     loop16
	STORE(Y0, Y1, Y2, Y3, X0, X1, 0)
	STORE(Y4, Y5, Y6, Y7, X4, X5, 16)
	ADDQ    $32, R8
	LEAQ    (SI)(R12*2), SI
	SUBQ    $2, R13
	JGT     rows16
	VZEROUPPER
	RET
