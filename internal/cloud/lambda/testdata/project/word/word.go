// Package word holds what greet says.
package word

import _ "embed"

// Greeting is code.
const Greeting = "hello"

// Name is an embedded file.
//
//go:embed names/first.txt
var Name string
