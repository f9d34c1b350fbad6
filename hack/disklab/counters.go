package main

import (
	"fmt"
	"strconv"
	"strings"
)

// device is what /proc/diskstats has of a device: operations that ended, bytes, and times in seconds.
type device struct {
	Reads        int64   `json:"reads"`
	ReadBytes    int64   `json:"readBytes"`
	ReadSeconds  float64 `json:"readSeconds"`
	Writes       int64   `json:"writes"`
	WriteBytes   int64   `json:"writeBytes"`
	WriteSeconds float64 `json:"writeSeconds"`
	Flushes      int64   `json:"flushes"`
	FlushSeconds float64 `json:"flushSeconds"`
	Busy         float64 `json:"busy"`
	Queued       float64 `json:"queued"`
}

// sector is the unit of /proc/diskstats, whatever the device's is.
const sector = 512

// parseDevice returns what a text of the form of /proc/diskstats has of the device of a number such as 254:0. Linux before 5.5 does not
// count flushes.
func parseDevice(text, number string) (device, error) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 14 || fields[0]+":"+fields[1] != number {
			continue
		}
		n := make([]int64, 17)
		for i := range min(len(n), len(fields)-3) {
			var err error
			if n[i], err = strconv.ParseInt(fields[i+3], 10, 64); err != nil {
				return device{}, fmt.Errorf("device %s, field %d: %q is not a number", number, i+4, fields[i+3])
			}
		}
		ms := func(i int) float64 { return float64(n[i]) / 1e3 }
		return device{
			Reads: n[0], ReadBytes: n[2] * sector, ReadSeconds: ms(3),
			Writes: n[4], WriteBytes: n[6] * sector, WriteSeconds: ms(7),
			Busy: ms(9), Queued: ms(10), Flushes: n[15], FlushSeconds: ms(16),
		}, nil
	}
	return device{}, fmt.Errorf("device %s: is not in /proc/diskstats", number)
}

// since returns what came since earlier counts.
func (d device) since(b device) device {
	return device{
		Reads: d.Reads - b.Reads, ReadBytes: d.ReadBytes - b.ReadBytes, ReadSeconds: d.ReadSeconds - b.ReadSeconds,
		Writes: d.Writes - b.Writes, WriteBytes: d.WriteBytes - b.WriteBytes, WriteSeconds: d.WriteSeconds - b.WriteSeconds,
		Flushes: d.Flushes - b.Flushes, FlushSeconds: d.FlushSeconds - b.FlushSeconds, Busy: d.Busy - b.Busy, Queued: d.Queued - b.Queued,
	}
}

// await is the mean time of an operation of a class, 0 without any.
func (d device) await(c class) float64 {
	if c == reads {
		return d.ReadSeconds / float64(max(1, d.Reads))
	}
	return d.WriteSeconds / float64(max(1, d.Writes))
}

// served are operations and bytes that the kernel counts of a control group.
type served struct {
	Reads      int64 `json:"reads,omitempty"`
	ReadBytes  int64 `json:"readBytes,omitempty"`
	Writes     int64 `json:"writes,omitempty"`
	WriteBytes int64 `json:"writeBytes,omitempty"`
}

func (s served) since(b served) served {
	return served{s.Reads - b.Reads, s.ReadBytes - b.ReadBytes, s.Writes - b.Writes, s.WriteBytes - b.WriteBytes}
}

func (s served) operations() int64 { return s.Reads + s.Writes }

// parseServed1 returns what the files blkio.throttle.io_serviced_recursive and blkio.throttle.io_service_bytes_recursive have of a device.
func parseServed1(operations, bytes, number string) served {
	return served{
		Reads: valueAfter(operations, number+" Read "), Writes: valueAfter(operations, number+" Write "),
		ReadBytes: valueAfter(bytes, number+" Read "), WriteBytes: valueAfter(bytes, number+" Write "),
	}
}

// parseServed2 returns what the file io.stat of control groups of version 2 has of a device.
func parseServed2(text, number string) served {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, number+" "); ok {
			rest = " " + rest
			return served{
				Reads: valueAfter(rest, " rios="), ReadBytes: valueAfter(rest, " rbytes="),
				Writes: valueAfter(rest, " wios="), WriteBytes: valueAfter(rest, " wbytes="),
			}
		}
	}
	return served{}
}

// valueAfter returns the number after a prefix, 0 without one.
func valueAfter(text, prefix string) int64 {
	_, after, found := strings.Cut(text, prefix)
	if !found {
		return 0
	}
	end := strings.IndexFunc(after, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(after)
	}
	n, err := strconv.ParseInt(after[:end], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// stall is for how long some tasks of a group waited, and all of them, in seconds.
type stall struct {
	Some float64 `json:"some"`
	Full float64 `json:"full"`
}

// parseStall returns the totals of a file of pressure stall information.
func parseStall(text string) stall {
	s := stall{}
	for line := range strings.Lines(text) {
		total := float64(valueAfter(line, "total=")) / 1e6
		switch {
		case strings.HasPrefix(line, "some "):
			s.Some = total
		case strings.HasPrefix(line, "full "):
			s.Full = total
		}
	}
	return s
}

func (s stall) since(b stall) stall { return stall{s.Some - b.Some, s.Full - b.Full} }

// ticks is the unit of /proc/stat: USER_HZ, which is 100 on every platform that Go has.
const ticks = 100

// parseBusy returns for how many CPU-seconds the processors ran something but interrupts, and how many processors there are, by a text of
// the form of /proc/stat.
func parseBusy(text string) (seconds float64, processors int) {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 5 || !strings.HasPrefix(fields[0], "cpu") {
			continue
		}
		if fields[0] != "cpu" {
			processors++
			continue
		}
		for _, field := range fields[1:4] { // user, nice and system
			n, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				return 0, 0
			}
			seconds += float64(n) / ticks
		}
	}
	return seconds, processors
}

// rounded returns it to the microseconds that the kernel counts.
func (s stall) rounded() stall { return stall{rounded(s.Some, 1e6), rounded(s.Full, 1e6)} }
