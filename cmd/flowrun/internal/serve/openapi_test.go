package serve

import (
	"flag"
	"os"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write openapi.json anew")

// TestOpenAPIIsCommitted fails when the routes or their types have changed and openapi.json has not:  go test . -rewrite.
func TestOpenAPIIsCommitted(t *testing.T) {
	if *rewrite {
		if err := os.WriteFile("openapi.json", OpenAPI(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(description) != string(OpenAPI()) {
		t.Error("openapi.json is not what the routes say; go test ./cmd/flowrun/internal/serve -rewrite writes it anew")
	}
}
