package libm

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"testing"
)

// TestSpecialValues compares the functions with those of package math where these are exact: at zeros, infinities, NaN,
// ones, the bounds of what is finite, and whole numbers.
func TestSpecialValues(t *testing.T) {
	special := []float64{0, math.Copysign(0, -1), 1, -1, 2, -2, 3, -3, 0.5, -0.5, 1.5, -1.5, math.Inf(1), math.Inf(-1), math.NaN(),
		math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, 1 << 53, -(1 << 53), 1<<53 - 1,
		1 << 63, 0x1p65, -0x1p65, math.Nextafter(1, 2), math.Nextafter(1, 0), math.Nextafter(-1, 0), 1000, -1000, 1e300, -1e300}
	same := func(what string, got, want float64, args ...float64) {
		t.Helper()
		near := math.Abs(got-want) <= max(1e-15, 1e-6*math.Abs(want)) // package math itself is off by that, near 1
		if !near && math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
			t.Errorf("%s%v is %v, want %v", what, args, got, want)
		}
		if math.Signbit(got) != math.Signbit(want) && !math.IsNaN(got) {
			t.Errorf("%s%v is %v, want %v", what, args, got, want)
		}
	}
	for _, x := range special {
		same("exp", Exp(x), math.Exp(x), x)
		same("exp2", Exp2(x), math.Exp2(x), x)
		if x != math.SmallestNonzeroFloat64 { // for which package math is wrong on amd64
			same("log", Log(x), math.Log(x), x)
		}
		same("log2", Log2(x), math.Log2(x), x)
		same("tanh", Tanh(x), math.Tanh(x), x)
		for _, y := range special {
			same("pow", Pow(x, y), math.Pow(x, y), x, y)
		}
	}
	for _, x := range []float64{math.Inf(1), math.NaN(), MaxAngle + 1} {
		if s, c := Sincos(x); !math.IsNaN(s) || !math.IsNaN(c) {
			t.Errorf("sine and cosine of %v are %v and %v", x, s, c)
		}
	}
	if s, c := Sincos(math.Copysign(0, -1)); s != 0 || c != 1 {
		t.Errorf("sine and cosine of -0 are %v and %v", s, c)
	}
}

// TestWholePowersAreExact raises whole numbers as long as the power is a float64.
func TestWholePowersAreExact(t *testing.T) {
	for base := 2.0; base < 1000; base++ {
		for n, power := 1.0, base; power < 1<<53; n, power = n+1, power*base {
			if got := Pow(base, n); got != power {
				t.Errorf("%v^%v is %v, want %v", base, n, got, power)
			}
		}
	}
	if got := Pow(99, -1); got != 1./99 {
		t.Errorf("99^-1 is %v, want %v", got, 1./99)
	}
	for k := -1074; k < 1024; k++ {
		power := math.Ldexp(1, k)
		if got := Exp2(float64(k)); got != power {
			t.Errorf("2^%d is %v, want %v", k, got, power)
		}
		if got := Pow(2, float64(k)); got != power {
			t.Errorf("pow(2, %d) is %v, want %v", k, got, power)
		}
		if got := Log2(power); got != float64(k) {
			t.Errorf("the binary logarithm of 2^%d is %v", k, got)
		}
	}
}

// TestPowAgreesWithPackageMath allows one unit in the last place where package math is accurate itself: its error grows
// with the logarithm of the power.
func TestPowAgreesWithPackageMath(t *testing.T) {
	r, differ := rand.New(rand.NewPCG(3, 4)), 0
	const values = 100_000
	for range values {
		x, y := math.Ldexp(1+r.Float64(), r.IntN(4)-2), 4*r.Float64()-2
		got, want := Pow(x, y), math.Pow(x, y)
		if got != want {
			differ++
		}
		if got != want && got != math.Nextafter(want, math.Inf(1)) && got != math.Nextafter(want, 0) {
			if exact := bigExp(zero().Mul(exactly(y), bigLog(x))); ulps(got, exact) > 0.51 {
				t.Errorf("%v^%v is %v, package math says %v", x, y, got, want)
			}
		}
	}
	t.Logf("%d of %d powers differ from those of package math", differ, values)
}

// TestBitsAreTheSameEverywhere holds the digest of many results. Where the test fails on a processor and passes on another,
// a product was fused or a function of package math is not exact there.
func TestBitsAreTheSameEverywhere(t *testing.T) {
	const want = "6a7ff69e42ccf4f8"
	r, hash := rand.New(rand.NewPCG(5, 6)), sha256.New()
	for range 20_000 {
		x, y := math.Ldexp(1+r.Float64(), r.IntN(200)-100), 20*r.Float64()-10
		sin, cos := Sincos(1000 * y)
		for _, f := range []float64{Pow(x, y), Exp(y), Exp2(y), Log(x), Log2(x), Tanh(y), sin, cos} {
			_ = binary.Write(hash, binary.BigEndian, f)
		}
	}
	if got := hex.EncodeToString(hash.Sum(nil)[:8]); got != want {
		t.Errorf("the digest of the results is %s, want %s", got, want)
	}
}

func BenchmarkPow(b *testing.B) {
	for b.Loop() {
		Pow(1.7, 3.3)
	}
}

func BenchmarkExp(b *testing.B) {
	for b.Loop() {
		Exp(1.7)
	}
}

func BenchmarkLog(b *testing.B) {
	for b.Loop() {
		Log(1.7)
	}
}
