package app

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/cmd/flowrun/internal/process"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
)

func (a *app) newVersionCommand() *cobra.Command {
	asJSON, check := false, false
	c := &cobra.Command{
		Use: "version", Short: "Print the version", Args: between(0, 0, ""),
		Long: `version prints the number of the release, the commit, and the behaviour number of this release.

flowrun never calls home: --check asks no server for a newer release. It prints the SHA-256 of this binary, for comparison with the list of files of the release (flowrun_OS_ARCH.cdx.json).`,
		RunE: func(*cobra.Command, []string) error {
			v := thisVersion()
			if check {
				sum, err := versionSum()
				if err != nil {
					return err
				}
				v.SHA256 = sum
			}
			if asJSON {
				return ui.WriteJSON(a.out, v)
			}
			a.out.Printf("flowrun %s\n", v)
			if check {
				a.out.Printf("SHA-256 of this program: %s\n", v.SHA256)
				a.out.Printf("flowrun never calls home, so it does not know of newer releases. https://github.com/flowrun/flowrun/releases lists them, and\n"+
					"flowrun_%s_%s.cdx.json there has the SHA-256 of a released program.\n", runtime.GOOS, runtime.GOARCH)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	c.Flags().BoolVar(&check, "check", false, "also print the SHA-256 of this program, and where releases are; no server is asked")
	return c
}

// versionSum is the SHA-256 of the file of this program.
func versionSum() (string, error) {
	self := process.Self()
	if self == nil {
		return "", errors.New("this program does not know its own file")
	}
	f, err := os.Open(self[0])
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}
