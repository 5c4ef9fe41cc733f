package app

import (
	"github.com/flowrun/flowrun/cmd/flowrun/internal/doctor"
	"github.com/flowrun/flowrun/cmd/flowrun/internal/ui"
)

func (a *app) newDoctor() *doctor.Doctor {
	return &doctor.Doctor{Release: thisVersion().String(), Getenv: a.getenv, StoreOf: a.storeDir, FlagsFor: a.flagsFor, Load: a.readProgram,
		Screen: a.out, Newest: doctor.NewestRuns, Tools: a.examineTools}
}

// printFindings prints findings and returns the verdict as an error.
func (a *app) printFindings(found []ui.Finding, asJSON bool) error {
	if err := ui.Findings(a.out, found, asJSON); err != nil {
		return err
	}
	for _, f := range found {
		if f.Level == ui.Wrong {
			return &ended{exitNo}
		}
	}
	return nil
}
