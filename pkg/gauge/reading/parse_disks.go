package reading

import (
	"bytes"
	"math"
	"time"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// sector is the unit of sizes in /proc/diskstats, whatever the device has.
const sector = 512

// diskStats returns the devices of /proc/diskstats that did anything since they came, but for those without a queue. The last line of a
// text of maxDiskStats is not whole. Name returns the text of a name.
func diskStats(text []byte, name func([]byte) string) (disks []Disk, err error) {
	text = wholeLines(text, maxDiskStats)
	var values [18]int64
	for line := 1; len(text) > 0 && len(disks) < maxDevices; line++ {
		var first []byte
		first, text = nextLine(text)
		number, called, rest, ok := deviceOfLine(first)
		if !ok {
			return nil, wrong(line, "%.80q does not begin with the number and the name of a device", first)
		}
		n, ok := numbers(rest, values[:])
		switch {
		case !ok:
			return nil, wrong(line, "%.200q has what is no number", first)
		case n < 11: // a partition of a kernel before 2.6.25
			continue
		}
		disk := diskOf(&values)
		if disk.operations() == 0 || !queues(called) {
			continue
		}
		disk.Name, disk.Number = name(called), number
		disks = append(disks, disk)
	}
	return disks, nil
}

// queues reports whether operations on a device wait for others. Those on memory, ram and zram, do not: what asks does them itself, on
// its processor.
func queues(name []byte) bool {
	return usage.IsDiskName(string(name)) && !bytes.HasPrefix(name, []byte("ram")) && !bytes.HasPrefix(name, []byte("zram"))
}

// deviceOfLine returns the number and the name that a line of /proc/diskstats begins with, and the rest.
func deviceOfLine(line []byte) (number Number, name, rest []byte, ok bool) {
	major, rest := field(bytes.TrimLeft(line, " "))
	minor, rest := field(rest)
	name, rest = field(rest)
	a, okMajor := number32(major)
	b, okMinor := number32(minor)
	return Number{a, b}, name, rest, okMajor && okMinor && len(name) > 0
}

func number32(text []byte) (uint32, bool) {
	n, ok := number(text, math.MaxUint32)
	return uint32(n), ok
}

// numbers stores the numbers of a text, as many as there is room for, sets the others to 0, and returns how many it stored. A later
// kernel may append more.
func numbers(text []byte, values []int64) (n int, ok bool) {
	clear(values)
	for len(text) > 0 && n < len(values) {
		var value []byte
		value, text = field(text)
		if len(value) == 0 {
			break
		}
		if values[n], ok = number(value, math.MaxInt64/sector); !ok {
			return n, false
		}
		n++
	}
	return n, true
}

// diskOf returns the counters that the numbers of a line of /proc/diskstats are, by Documentation/admin-guide/iostats.rst. The last are
// 0 of kernels that do not have them: discards came with 4.18, flushes with 5.5.
func diskOf(v *[18]int64) Disk {
	millis := func(n int64) time.Duration {
		return time.Duration(min(n, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
	}
	return Disk{
		Reads:    Transfers{Operations: v[0], Bytes: v[2] * sector, Time: millis(v[3])},
		Writes:   Transfers{Operations: v[4], Bytes: v[6] * sector, Time: millis(v[7])},
		Busy:     millis(v[9]),
		Queued:   millis(v[10]),
		Discards: v[11],
		Flushes:  Transfers{Operations: v[15], Time: millis(v[16])},
	}
}

// deviceNumberOf returns the number of a device that a text is, such as 254:0.
func deviceNumberOf(text []byte) (Number, bool) {
	major, minor, ok := bytes.Cut(text, []byte(":"))
	a, okMajor := number32(major)
	b, okMinor := number32(minor)
	return Number{a, b}, ok && okMajor && okMinor
}

// of returns the entry of a device in a list, which gets one if it may have another.
func of(disks *[]PodDisk, number Number) *PodDisk {
	for i := range *disks {
		if (*disks)[i].Number == number {
			return &(*disks)[i]
		}
	}
	if len(*disks) >= maxPodDevices {
		return &PodDisk{}
	}
	*disks = append(*disks, PodDisk{Number: number})
	return &(*disks)[len(*disks)-1]
}

// ioStat adds the text of io.stat: a line has the number of a device and counters. Kernels 5.10 to 6.1 leave out the end of a line that
// has no counters, so that the next device follows on the same one. Keys of controllers that keep more are ignored.
func ioStat(text []byte, disks *[]PodDisk) error {
	for line := 1; len(text) > 0; line++ {
		var first []byte
		first, text = nextLine(text)
		var disk *PodDisk
		for rest := first; len(rest) > 0; {
			var word []byte
			word, rest = field(rest)
			key, value, pair := bytes.Cut(word, []byte("="))
			if !pair {
				if number, ok := deviceNumberOf(word); ok {
					disk = of(disks, number)
				}
				continue
			}
			if disk == nil {
				return wrong(line, "%.80q does not begin with the number of a device", first)
			}
			if to := disk.counter(string(key)); to != nil {
				n, ok := number(value, math.MaxInt64)
				if !ok {
					return wrong(line, "%.80q is no count", word)
				}
				*to += min(n, math.MaxInt64-*to)
			}
		}
	}
	return nil
}

// counter returns where a counter of io.stat is kept, nil of others.
func (d *PodDisk) counter(key string) *int64 {
	switch key {
	case "rios":
		return &d.ReadOperations
	case "rbytes":
		return &d.ReadBytes
	case "wios":
		return &d.WriteOperations
	case "wbytes":
		return &d.WriteBytes
	}
	return nil
}

// blkioStat adds the text of blkio.throttle.io_serviced, or of io_service_bytes: a line has the number of a device, a kind of
// operations, and a count. The last one has the sum of all.
func blkioStat(text []byte, ofBytes bool, disks *[]PodDisk) error {
	keys := map[string]string{"Read": "rios", "Write": "wios"}
	if ofBytes {
		keys = map[string]string{"Read": "rbytes", "Write": "wbytes"}
	}
	for line := 1; len(text) > 0; line++ {
		var first []byte
		first, text = nextLine(text)
		device, rest := field(first)
		kind, value := field(rest)
		key := keys[string(kind)]
		if key == "" {
			continue
		}
		numbered, okDevice := deviceNumberOf(device)
		n, okCount := number(value, math.MaxInt64)
		if !okDevice || !okCount {
			return wrong(line, "%.80q is not a device, an operation and a count", first)
		}
		to := of(disks, numbered).counter(key)
		*to += min(n, math.MaxInt64-*to)
	}
	return nil
}

// ioMax tightens limits by the text of io.max: a line has the number of a device, and its limits by name, or max.
func ioMax(text []byte, limits *[]DiskLimit) error {
	for line := 1; len(text) > 0; line++ {
		var first []byte
		first, text = nextLine(text)
		device, rest := field(first)
		numbered, ok := deviceNumberOf(device)
		if !ok {
			return wrong(line, "%.80q does not begin with the number of a device", first)
		}
		for len(rest) > 0 {
			var word []byte
			word, rest = field(rest)
			key, value, _ := bytes.Cut(word, []byte("="))
			if string(value) == "max" {
				continue
			}
			n, ok := number(value, math.MaxInt64)
			if !ok {
				return wrong(line, "%.80q is not a limit", word)
			}
			tighten(limits, numbered, string(key), n)
		}
	}
	return nil
}

// blkioLimit tightens limits by the text of a file such as blkio.throttle.read_bps_device: a line has the number of a device and a
// limit. Key is the name of the same limit in io.max.
func blkioLimit(text []byte, key string, limits *[]DiskLimit) error {
	for line := 1; len(text) > 0; line++ {
		var first []byte
		first, text = nextLine(text)
		device, value := field(first)
		numbered, okDevice := deviceNumberOf(device)
		n, okLimit := number(value, math.MaxInt64)
		if !okDevice || !okLimit {
			return wrong(line, "%.80q is not a device and a limit", first)
		}
		tighten(limits, numbered, key, n)
	}
	return nil
}

// tighten takes a limit of a device if it is below the one that is kept.
func tighten(limits *[]DiskLimit, number Number, key string, n int64) {
	at := -1
	for i := range *limits {
		if (*limits)[i].Number == number {
			at = i
		}
	}
	if at < 0 {
		if len(*limits) >= maxPodDevices {
			return
		}
		*limits, at = append(*limits, DiskLimit{Number: number}), len(*limits)
	}
	to := (*limits)[at].limit(key)
	if to != nil && n > 0 && (*to == 0 || n < *to) {
		*to = n
	}
}

// limit returns where a limit of io.max is kept, nil of others.
func (l *DiskLimit) limit(key string) *int64 {
	switch key {
	case "rbps":
		return &l.ReadBytes
	case "wbps":
		return &l.WriteBytes
	case "riops":
		return &l.ReadOperations
	case "wiops":
		return &l.WriteOperations
	}
	return nil
}
