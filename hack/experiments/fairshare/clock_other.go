//go:build !linux

package main

import (
	"errors"
	"time"
)

var errNotLinux = errors.New("this is not Linux: there are no cgroups to measure")

func now() (time.Duration, error)        { return 0, errNotLinux }
func cpuTime() (time.Duration, error)    { return 0, errNotLinux }
func waitUntil(time.Duration) error      { return errNotLinux }
func onCore(_ int, _ func() error) error { return errNotLinux }
