package key_test

import (
	"fmt"

	"github.com/steadfast-agents/steadfast/core/key"
)

// What was built can be taken apart again: so the sweep knows what it has found.
func ExampleParse() {
	for _, k := range []key.Key{key.State("s-1"), key.Event("s-1", 12), key.Listing("user", "ada", 1767607200000, "s-1")} {
		row, ok := key.Parse(k)
		fmt.Println(k.PK, k.SK, "is", row.Kind, row.Parts, ok)
	}
	_, ok := key.Parse(key.Key{PK: "SESSION#s-1", SK: "SOMETHING"})
	fmt.Println(ok)
	// Output:
	// SESSION#s-1 STATE is state [s-1] true
	// SESSION#s-1 EVENT#000000000012 is event [s-1 12] true
	// PRINCIPAL#user#ada SESSION#1767607200000#s-1 is listing [user ada 1767607200000 s-1] true
	// false
}
