package main

import (
	"fmt"
	"os"
	"strings"
)

// delays is the kernel's account of for how long each task is blocked at disks, which it keeps while a lab is open: by default it does not.
type delays struct{ before string }

// delaysFile is where it is turned on.
const delaysFile = "/proc/sys/kernel/task_delayacct"

// accountDelays turns the account on, or off. The caller ends it, which makes it what it was.
func accountDelays(on bool) (delays, error) {
	text, err := os.ReadFile(delaysFile)
	if err != nil {
		return delays{}, fmt.Errorf("the kernel has no account of the delays of tasks: %w", err)
	}
	d, want := delays{strings.TrimSpace(string(text))}, "0"
	if on {
		want = "1"
	}
	return d, os.WriteFile(delaysFile, []byte(want), 0)
}

func (d delays) end() error {
	if d.before == "" {
		return nil
	}
	return os.WriteFile(delaysFile, []byte(d.before), 0)
}
