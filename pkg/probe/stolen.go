package probe

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// stolen returns for how long a hypervisor has run others while there was something to
// run here, in nanoseconds: the mean over the processors that may be used.
func (p proc) stolen(usable func(processor int) bool) (nanos int64, err error) {
	path := filepath.Join(string(p), "stat")
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	var sum, processors int64
	lines := bufio.NewScanner(file)
	for lines.Scan() && strings.HasPrefix(lines.Text(), "cpu") {
		const column = 8
		fields := strings.Fields(lines.Text())
		id, err := strconv.Atoi(strings.TrimPrefix(fields[0], "cpu"))
		if err != nil || !usable(id) { // the first line is of all processors
			continue
		}
		if len(fields) <= column {
			return 0, fmt.Errorf("%s: %q has no column of stolen time", path, lines.Text())
		}
		ticks, err := strconv.ParseInt(fields[column], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", path, err)
		}
		sum += ticks * tick
		processors++
	}
	if err := lines.Err(); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	if processors == 0 {
		return 0, fmt.Errorf("%s: has none of the processors that may be used", path)
	}
	return sum / processors, nil
}

// recordStolen samples how much is stolen, in milliseconds, from a time of [Now] until
// all is done.
func recordStolen(s *samples, begin int64, done <-chan struct{}) error {
	const interval = 200 * time.Millisecond
	usable, err := usableProcessors()
	if err != nil {
		return err
	}
	first, err := proc("/proc").stolen(usable.IsSet)
	if err != nil {
		return err
	}
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	before, was := begin, int64(0)
	for ended := false; !ended; {
		select {
		case <-ticks.C:
		case <-done:
			ended = true
		}
		now, err := Now()
		nanos, stolenErr := proc("/proc").stolen(usable.IsSet)
		if err := errors.Join(err, stolenErr); err != nil {
			return err
		}
		is := max(was, (nanos-first)/1000)
		s.note(before, now, was, is-was)
		before, was = now, is
	}
	return nil
}
