package shared

import (
	"encoding/json"

	"github.com/flowrun/flowrun/dsl/value"
	"github.com/flowrun/flowrun/runner/event"
)

// MaxAudits is how many changes over the API of a daemon a store remembers. The oldest makes room for the next.
const MaxAudits = 10_000

// Spaces of what a daemon is told and records: runs that were handed to it, the changes over its API by number, and the last number.
const (
	handedSpace    = "handed"
	auditSpace     = "audit"
	auditLastSpace = "audit-last"
)

// audit is a recorded change.
type audit struct {
	event.AuditRequest
	Seq uint64     `json:"seq"`
	At  event.Time `json:"at"`
}

// recordAudit records a change.
func recordAudit(rows Rows, r *event.AuditRequest, now event.Time) error {
	var last uint64
	if err := loadRow(rows, auditLastSpace, "", &last); err != nil {
		return err
	}
	a := audit{*r, last + 1, now}
	if err := saveRow(rows, auditLastSpace, "", a.Seq); err != nil {
		return err
	}
	if a.Seq > MaxAudits {
		if err := rows.Delete(auditSpace, seqKey(a.Seq-MaxAudits)); err != nil {
			return err
		}
	}
	return saveRow(rows, auditSpace, seqKey(a.Seq), &a)
}

// listAudits lists the newest changes, at most MaxListed: objects of seq, at, by, from, what, target and data.
func listAudits(rows Rows) (value.Value, error) {
	var last uint64
	if err := loadRow(rows, auditLastSpace, "", &last); err != nil {
		return nil, err
	}
	list := []any{}
	from := uint64(1)
	if last > MaxListed {
		from = last - MaxListed + 1
	}
	err := scanRows(rows, auditSpace, seqKey(from), func(a *audit) bool {
		var data any
		if json.Unmarshal([]byte(a.Data), &data) != nil {
			data = a.Data
		}
		list = append([]any{map[string]any{"seq": float64(a.Seq), "at": a.At.String(), "by": a.By, "from": a.From, "what": a.What, "target": a.Target, "data": data}}, list...)
		return true
	})
	return list, err
}

// takeHanded gives the runs that were handed to the daemon, once.
func takeHanded(rows Rows) (value.Value, error) {
	list := []any{}
	err := rows.Scan(handedSpace, "", func(run string, _ []byte) bool {
		list = append(list, run)
		return true
	})
	if err == nil && len(list) > 0 {
		err = rows.Clear(handedSpace)
	}
	return list, err
}

// hasHanded reports whether a run was handed to the daemon.
func hasHanded(rows Rows) (has bool, err error) {
	err = rows.Scan(handedSpace, "", func(string, []byte) bool {
		has = true
		return false
	})
	return has, err
}
