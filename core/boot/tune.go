package boot

import (
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
)

// wholeProcessor is the memory, in MB, from which on a function has the time of a whole processor.
const wholeProcessor = 1769

// Tune fits Go's runtime to the size of the function, AWS_LAMBDA_FUNCTION_MEMORY_SIZE. Outside of Lambda nothing changes, and what the
// environment says of GOGC, GOMEMLIMIT and GOMAXPROCS wins. MustOpen calls it.
func Tune() {
	mb, err := strconv.Atoi(os.Getenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE"))
	if err != nil || mb <= 0 {
		return
	}
	useMemory(mb)
	useShare(mb)
}

// useMemory lets the garbage collector rest while much of the function's memory is free: it is paid for whether it is used or
// not, and a turn makes garbage faster than it keeps anything. Near three quarters of it the collector works as hard as it must.
func useMemory(mb int) {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(mb) << 20 / 4 * 3)
		debug.SetGCPercent(400)
	}
}

// useShare runs Go on one thread where the function has less than a processor's time, though it sees two: two threads use the same share up
// by handing work to each other.
func useShare(mb int) {
	if mb < wholeProcessor && os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(1)
	}
}
