package guard_test

import (
	"fmt"

	"github.com/steadfast-agents/steadfast/core/guard"
)

// What others chose is asked through the guard; a redirect to the inside ends there too.
func ExampleGuard_Client() {
	client := guard.Guard{}.Client()
	_, err := client.Get("https://169.254.169.254/latest/meta-data/")
	fmt.Println(err)
	// Output: Get "https://169.254.169.254/latest/meta-data/": 169.254.169.254 is not a public host
}
