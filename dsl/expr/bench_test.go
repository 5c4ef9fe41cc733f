package expr

import (
	"fmt"
	"testing"

	"github.com/flowrun/flowrun/dsl/ir"
	"github.com/flowrun/flowrun/dsl/value"
)

// benchEnv declares n steps.
func benchEnv(n int) *Env {
	env := testEnv()
	t := result(value.AnyType)
	for i := range n {
		env.Roots["step"].Names[fmt.Sprintf("s%d", i)] = t
	}
	return env
}

const benchCondition = `step.s3.status == 'succeeded' && step.s7.output.coverage >= var.min`
const benchValue = `{ name = "${var.name}-${step.s3.output.id}", list = [for f in step.s7.output.files : upper(f)] }`

// What a check, a first use and an evaluation cost must not depend on how many steps a workflow declares.
func Benchmark(b *testing.B) {
	data := scopeOf(b, `{"var":{"min":80,"name":"n"},"step":{"s3":{"status":"succeeded","output":{"id":"x"}},"s7":{"output":{"coverage":90,"files":["a","b"]}}}}`)
	for _, n := range []int{10, 1000, 10_000} {
		env := benchEnv(n)
		for _, lang := range []struct {
			name, src string
			check     func(src string) (*ir.Expr, error)
		}{
			{"condition", "x = " + quote(benchCondition) + "\n", func(src string) (*ir.Expr, error) {
				e, diags := Condition(parsed(src), []byte(src), env)
				if e == nil {
					return nil, diags[0]
				}
				return e, nil
			}},
			{"value", "x = " + benchValue + "\n", func(src string) (*ir.Expr, error) {
				e, diags := Value(parsed(src), []byte(src), env)
				if e == nil {
					return nil, diags[0]
				}
				return e, nil
			}},
		} {
			e, err := lang.check(lang.src)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%s/check/%d", lang.name, n), func(b *testing.B) {
				for b.Loop() {
					if _, err := lang.check(lang.src); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("%s/first/%d", lang.name, n), func(b *testing.B) {
				for b.Loop() {
					if _, err := NewEvaluator(ir.NewestRules()).Eval(e, data); err != nil {
						b.Fatal(err)
					}
				}
			})
			ev := NewEvaluator(ir.NewestRules())
			b.Run(fmt.Sprintf("%s/again/%d", lang.name, n), func(b *testing.B) {
				for b.Loop() {
					data.asked = data.asked[:0]
					if _, err := ev.Eval(e, data); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
