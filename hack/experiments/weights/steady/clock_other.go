//go:build !linux

package main

import (
	"errors"
	"time"
)

var errNotLinux = errors.New("real nodes need Linux")

func cpuTime() (time.Duration, error) { return 0, errNotLinux }

func sleepPrecisely() error { return errNotLinux }

func sleep(time.Duration) {}
