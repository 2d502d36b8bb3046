package boot

import (
	"os"
	"runtime/debug"
	"strconv"
)

// UseMemory lets the garbage collector rest while much of the function's memory is free: it is paid for whether it is used or
// not, and a turn makes garbage faster than it keeps anything. Near three quarters of it the collector works as hard as it must.
// Outside of Lambda, and where GOGC or GOMEMLIMIT is set, nothing changes. MustOpen calls it.
func UseMemory() {
	mb, err := strconv.Atoi(os.Getenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE"))
	if err != nil || mb <= 0 || os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetMemoryLimit(int64(mb) << 20 / 4 * 3)
	debug.SetGCPercent(400)
}
