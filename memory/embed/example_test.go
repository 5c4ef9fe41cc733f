package embed_test

import (
	"context"
	"fmt"
	"log"

	"github.com/flowrun/flowrun/memory/embed"
)

func Example() {
	e := embed.Default()
	v, err := e.Embed(context.Background(), []string{
		"Why did the deploy fail?",
		"The release could not be rolled out because of an error.",
		"She painted the lake at sunset.",
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(e.Model(), e.Dim())
	fmt.Printf("the same in other words: %.1f\n", cosine(v[0], v[1]))
	fmt.Printf("something else: %.1f\n", cosine(v[0], v[2]))
	// Output:
	// use-lite-en-1 512
	// the same in other words: 0.4
	// something else: 0.0
}

func cosine(a, b []float32) (sum float32) {
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}
