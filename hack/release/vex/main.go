// Command vex writes what known vulnerabilities mean for a release: an OpenVEX document of the statements in security/vex.yaml. Scanners
// read it beside the release's bills of materials, whose programs it names as they do.
//
//	vex LIST VERSION TIME FILE
//
// LIST is security/vex.yaml, VERSION the release's (v1.2.3), TIME when it was made (RFC 3339), FILE what to write. The same arguments
// give the same document.
package main

import (
	"bytes"
	"fmt"
	"os"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 4 {
		return fmt.Errorf("want LIST VERSION TIME FILE, got %q", args)
	}
	list, version, file := args[0], args[1], args[3]
	made, err := time.Parse(time.RFC3339, args[2])
	if err != nil {
		return fmt.Errorf("TIME: %w", err)
	}
	content, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	statements, err := parse(content)
	if err != nil {
		return fmt.Errorf("%s: %w", list, err)
	}
	document, err := about(version, made, statements)
	if err != nil {
		return err
	}
	var encoded bytes.Buffer
	if err := document.ToJSON(&encoded); err != nil {
		return err
	}
	return os.WriteFile(file, encoded.Bytes(), 0o644)
}
