package agency

import "time"

// Cooldown x
type Cooldown struct {
	Slot   string
	Window time.Duration
}
