package main

import (
	"fmt"
	"time"
)

// How a job accesses its file.
const (
	random     = "random"
	sequential = "sequential"
)

// What an operation of a job does.
const (
	read  = "read"
	write = "write"
)

// How a job uses the page cache.
const (
	direct   = "direct"   // O_DIRECT
	buffered = "buffered" // through the page cache; what was read is dropped from it
	cached   = "cached"   // reads what the page cache has: no operation of the device
)

// How a job makes its writes durable.
const (
	dsync     = "dsync"     // O_DSYNC
	fdatasync = "fdatasync" // after each write
)

// spec says what a job does: a program again and again, or Depth threads, each in a loop of thinking, computing, and one operation.
type spec struct {
	Program   string `json:"program,omitempty"`
	Operation string `json:"operation"`
	Access    string `json:"access"`
	Cache     string `json:"cache"`
	Sync      string `json:"sync,omitempty"`
	// Bytes is the size of an operation, and FileBytes that of the part of the file that it is drawn from.
	Bytes     int64 `json:"bytes"`
	FileBytes int64 `json:"fileBytes"`
	Depth     int   `json:"depth"`
	// Think is the mean of the exponential time, in seconds, that a thread sleeps before an operation, and Work the CPU time that it uses.
	Think float64 `json:"think,omitempty"`
	Work  float64 `json:"work,omitempty"`
	Seed  uint64  `json:"seed"`
	// Pinned keeps its threads on the first processor.
	Pinned bool `json:"pinned,omitempty"`
}

// unit is what offsets and sizes are multiples of: what O_DIRECT needs of all devices that there are.
const unit = 4096

// limits of a spec.
const (
	maxBytes = 1 << 20
	maxDepth = 32
)

func (s spec) validate() error {
	if s.Program != "" {
		_, err := programOf(s.Program)
		return err
	}
	switch {
	case s.Operation != read && s.Operation != write:
		return fmt.Errorf("operation: %q is neither %s nor %s", s.Operation, read, write)
	case s.Access != random && s.Access != sequential:
		return fmt.Errorf("access: %q is neither %s nor %s", s.Access, random, sequential)
	case s.Cache != direct && s.Cache != buffered && s.Cache != cached:
		return fmt.Errorf("cache: %q is none of %s, %s and %s", s.Cache, direct, buffered, cached)
	case s.Sync != "" && s.Sync != dsync && s.Sync != fdatasync:
		return fmt.Errorf("sync: %q is neither empty nor %s nor %s", s.Sync, dsync, fdatasync)
	case s.Operation == read && s.Sync != "":
		return fmt.Errorf("sync: %q is for writes, and operation is %s", s.Sync, read)
	case s.Operation == write && s.Cache == cached:
		return fmt.Errorf("cache: %s is for reads, and operation is %s", cached, write)
	case s.Bytes < unit || s.Bytes > maxBytes || s.Bytes%unit != 0:
		return fmt.Errorf("bytes: %d is not a multiple of %d up to %d", s.Bytes, unit, maxBytes)
	case s.FileBytes < s.Bytes:
		return fmt.Errorf("fileBytes: %d is less than the %d of an operation", s.FileBytes, s.Bytes)
	case s.Depth < 1 || s.Depth > maxDepth:
		return fmt.Errorf("depth: %d is not from 1 to %d", s.Depth, maxDepth)
	case !(s.Think >= 0 && s.Think <= 1):
		return fmt.Errorf("think: %v is not from 0 to 1 second", s.Think)
	case !(s.Work >= 0 && s.Work <= 1):
		return fmt.Errorf("work: %v is not from 0 to 1 second", s.Work)
	}
	return nil
}

// usesDisk reports whether its operations reach the device.
func (s spec) usesDisk() bool { return s.Program != "" || s.Cache != cached }

// waits reports whether each of its operations waits for the device: readers at random places do, which the kernel does not read ahead of, and
// those who write so that it lasts.
func (s spec) waits() bool {
	if s.Cache == direct {
		return true
	}
	return s.Cache == buffered && (s.Operation == read && s.Access == random || s.Sync != "")
}

// String returns the kind, such as "random direct read 4k x8, think 2ms".
func (s spec) String() string {
	if s.Program != "" {
		return s.Program
	}
	text := fmt.Sprintf("%s %s %s %s", s.Access, s.Cache, s.Operation, size(s.Bytes))
	if s.Sync != "" {
		text += " " + s.Sync
	}
	if s.Depth > 1 {
		text += fmt.Sprintf(" x%d", s.Depth)
	}
	if s.Think > 0 {
		text += ", think " + duration(s.Think)
	}
	if s.Work > 0 {
		text += ", work " + duration(s.Work)
	}
	if s.Pinned {
		text += ", pinned"
	}
	return text
}

func size(bytes int64) string {
	if bytes >= 1<<20 {
		return fmt.Sprintf("%dM", bytes>>20)
	}
	return fmt.Sprintf("%dk", bytes>>10)
}

func duration(seconds float64) string {
	return time.Duration(seconds * 1e9).Round(10 * time.Microsecond).String()
}
