package args

// SyncList is what the command sync list takes.
type SyncList struct{ JSON bool }

// SyncCheckIn is what the command sync check-in takes.
type SyncCheckIn struct {
	Point, As string
	Blocked   string // the reason
	IsBlocked bool   // the flag was given
	JSON      bool
}

// Check refuses a check-in of nobody.
func (r *SyncCheckIn) Check() error {
	if r.As == "" {
		return Errorf("--as names the party that checks in")
	}
	return nil
}
