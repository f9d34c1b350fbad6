package ui

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// chrome is the browser of all tests.
var chrome *browser

func TestMain(m *testing.M) {
	flag.Parse()
	started, stop, err := start()
	if errors.Is(err, errNoBrowser) && os.Getenv("CI") == "" {
		fmt.Println("left out:", err)
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	chrome = started
	code := m.Run()
	stop()
	os.Exit(code)
}

// example are the files of a cluster that the documentation shows.
func example() []string {
	folder := filepath.Join("..", "..", "docs", "examples", "who")
	return []string{"-f", filepath.Join(folder, "cluster.yaml"), "--usage", filepath.Join(folder, "usage.json")}
}
