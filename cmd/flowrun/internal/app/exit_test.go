package app

import (
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dsl/reference"
)

// explain exit-codes has a line for each code that flowrun exits with.
func TestExitCodesAreExplained(t *testing.T) {
	text, _, _ := reference.About("exit-codes")
	codes := []int{exitDone, exitNo, exitUsage, exitCouldNot, exitWaits, exitLimit, exitChange, exitInterrupted, exitTerminated}
	for _, code := range codes {
		if !strings.Contains(text, fmt.Sprintf("\n| %d | ", code)) {
			t.Errorf("exit code %d is not explained", code)
		}
	}
	if rows := strings.Count(text, "\n| ") - 1; rows != len(codes) {
		t.Errorf("%d exit codes are explained, flowrun has %d", rows, len(codes))
	}
}
