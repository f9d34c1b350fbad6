// Imports the package that the database of the test reports, but does not call what is reported of it.
package main

import "path"

func main() {
	if path.Base("a/b") != "b" {
		panic("the base of a/b is not b")
	}
}
