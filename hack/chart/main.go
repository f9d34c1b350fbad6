// Command chart keeps the Helm chart in step with the rest of the repository:
//
//	go run ./hack/chart
//
// It copies what the chart shares with config, and takes the words that
// values.yaml has about each value into values.schema.json and into the table of
// README.md. "make generate" runs it.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		os.Exit(1)
	}
}

// run does it in the repository at root.
func run(root string) error {
	chart := filepath.Join(root, "charts", "loadline")
	return errors.Join(copyShared(filepath.Join(root, "config"), filepath.Join(chart, "files")), document(chart))
}

// document takes the words of values.yaml to where they are read.
func document(chart string) error {
	text, err := os.ReadFile(filepath.Join(chart, "values.yaml"))
	if err != nil {
		return err
	}
	values, err := readValues(text)
	if err != nil {
		return fmt.Errorf("values.yaml: %w", err)
	}
	return errors.Join(
		rewrite(filepath.Join(chart, "values.schema.json"), func(schema []byte) ([]byte, error) { return describe(schema, values) }),
		rewrite(filepath.Join(chart, "README.md"), func(readme []byte) ([]byte, error) { return insertTable(readme, values) }),
	)
}

// rewrite replaces a file by what a function makes of it.
func rewrite(path string, edit func([]byte) ([]byte, error)) error {
	before, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	after, err := edit(before)
	if err != nil {
		return fmt.Errorf("%s: %w", filepath.Base(path), err)
	}
	return os.WriteFile(path, after, 0o644)
}
