// Command stillborn is a function that ends before it asks for work.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "TABLE_NAME is missing")
	os.Exit(3)
}
