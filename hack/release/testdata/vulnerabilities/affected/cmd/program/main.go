// Calls what the database of the test reports.
package main

import "path"

func main() {
	if matched, err := path.Match("*", "a"); err != nil || !matched {
		panic("* does not match a")
	}
}
