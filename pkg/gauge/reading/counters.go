package reading

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// parse reads a file that the kernel gives in one piece and has its text parsed.
func (r *Reader) parse(path string, text func([]byte) error) (err error) {
	if r.buffer, err = readRecord(path, r.buffer); err != nil {
		return err
	}
	return named(path, text(r.buffer))
}

// parseIDs reads a list of ids, and stores them. A pod can make it of any length, so it is read only up to the bound on the ids of
// a pod.
func (r *Reader) parseIDs(path string) (err error) {
	const limit = maxPodTasks * len("4194304\n") // the longest of a 64 bit kernel
	r.ids = r.ids[:0]
	if r.buffer, err = readWhole(path, r.buffer, limit); err != nil {
		return err
	}
	r.ids, err = ids(wholeLines(r.buffer, limit), r.ids)
	return named(path, err)
}

// wholeLines returns the lines of a text that are whole if it was cut at a limit.
func wholeLines(text []byte, limit int) []byte {
	if len(text) >= limit {
		return text[:bytes.LastIndexByte(text, '\n')+1]
	}
	return text
}

// named adds the name of a file to the line and reason of an error, if it is one.
func named(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s:%w", path, err)
}

// absent reports whether an error means that the kernel does not keep a counter, or that its group is no more: a file that is
// not there, or not supported, as those of pressure where it is off.
func absent(err error) bool { return gone(err) || errors.Is(err, errors.ErrUnsupported) }

// account returns the account of a control group for its tasks and its own limit.
func (r *Reader) account(path string) (account, error) {
	a := noAccount
	if r.trees.limits != "" {
		err := r.parse(filepath.Join(r.trees.limits, path, "cpu.stat"), func(text []byte) (err error) {
			a, err = cpuStat(text)
			return err
		})
		if err != nil && !absent(err) {
			return noAccount, err
		}
	}
	if r.trees.version1 {
		var err error
		a.used, err = r.usage(path)
		return a, err
	}
	return a, nil
}

// usage returns how long the tasks of a control group of version 1 ran.
func (r *Reader) usage(path string) (used time.Duration, err error) {
	used = Unknown
	if r.trees.usage == "" {
		return used, nil
	}
	err = r.parse(filepath.Join(r.trees.usage, path, "cpuacct.usage"), func(text []byte) (err error) {
		used, err = cpuacctUsage(text)
		return err
	})
	if absent(err) {
		return Unknown, nil
	}
	return used, err
}

// held returns how long the tasks of a control group were throttled by a limit of it or around it.
func (r *Reader) held(path string) (held time.Duration, err error) {
	if r.trees.limits == "" {
		return Unknown, nil
	}
	a := noAccount
	err = r.parse(filepath.Join(r.trees.limits, path, "cpu.stat.local"), func(text []byte) (err error) {
		a, err = cpuStat(text)
		return err
	})
	if absent(err) {
		return Unknown, nil
	}
	return a.throttled, err
}

// quotaBurst returns how much of what earlier periods left over a control group may use besides its quota.
func (r *Reader) quotaBurst(path string) (burst time.Duration, err error) {
	file := "cpu.max.burst"
	if r.trees.version1 {
		file = "cpu.cfs_burst_us"
	}
	err = r.parse(filepath.Join(r.trees.limits, path, file), func(text []byte) (err error) {
		burst, err = micros(text)
		return err
	})
	if absent(err) {
		return 0, nil
	}
	return burst, err
}

// stall returns for how long a control group was stalled, if it is polled.
func (r *Reader) stall(path string) (*Stall, error) {
	if r.trees.pressure == "" {
		return nil, nil
	}
	return r.Stalls.take(r.pressureFile(path))
}

// pressure returns how long some task of a control group waited for a processor.
func (r *Reader) pressure(path string) (waited time.Duration, err error) {
	p, err := r.pressureOf(path, "cpu.pressure")
	if p == nil {
		return Unknown, err
	}
	return p.Some, err
}

// pressureOf returns what a file of pressure stall information of a control group has, nil where there is none.
func (r *Reader) pressureOf(path, file string) (*Pressure, error) {
	if r.trees.pressure == "" {
		return nil, nil
	}
	p := &Pressure{}
	err := r.parse(filepath.Join(r.trees.pressure, path, file), func(text []byte) (err error) {
		p.Some, p.Full, err = pressure(text)
		return err
	})
	if err == nil {
		return p, nil
	}
	if absent(err) {
		err = nil
	}
	return nil, err
}
