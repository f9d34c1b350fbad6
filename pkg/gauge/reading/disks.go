package reading

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// The bounds of the reading of disks.
const (
	// maxDiskStats is how much is read of /proc/diskstats, in bytes, and maxDevices how many devices are kept of a reading: those that
	// ever did anything.
	maxDiskStats = 1 << 20
	maxDevices   = 4096
	// maxDescribed is how many devices sysfs is asked about in a reading: others that did something are reported from a later one on.
	maxDescribed = 256
)

// device is what the reader has of a block device.
type device struct {
	name   string
	number Number
	// operations is how many it had at the last reading that has it, and turn the number of that reading.
	operations int64
	turn       int
	// described is the reading at which sysfs was asked about the device, 0 if it was not yet.
	described int
	kind      DiskKind
	whole     bool
}

// disks reads what block devices did. Sysfs is asked only about those that did something since the last reading.
func (r *Reader) disks(reading *Reading) (err error) {
	path := filepath.Join(r.Proc, "diskstats")
	if r.buffer, err = readWhole(path, r.buffer, maxDiskStats); err != nil {
		if absent(err) {
			return nil
		}
		return err
	}
	if reading.Disks, err = diskStats(r.buffer, r.deviceName); err != nil {
		return named(path, err)
	}
	left := maxDescribed
	for i := range reading.Disks {
		left -= r.describe(&reading.Disks[i], left)
	}
	maps.DeleteFunc(r.devices, func(_ string, d *device) bool { return d.turn != r.turn })
	return nil
}

// deviceName returns the name of a device as it is kept, so that a reading makes no new ones.
func (r *Reader) deviceName(name []byte) string {
	if d := r.devices[string(name)]; d != nil {
		return d.name
	}
	return string(name)
}

// describe sets what is known of a disk if it did something since the last reading, and returns how many it looked up in sysfs: one
// or none, and none where none is left.
func (r *Reader) describe(disk *Disk, left int) (looked int) {
	d := r.devices[disk.Name]
	if d == nil || d.number != disk.Number {
		d = &device{name: disk.Name, number: disk.Number}
		r.devices[disk.Name] = d
	}
	active := disk.operations() != d.operations && r.turn > 1
	d.operations, d.turn = disk.operations(), r.turn
	if active && left > 0 && (d.described == 0 || r.turn-d.described >= untilSearch) {
		d.described, looked = r.turn, 1
		if d.whole = r.whole(d.name); d.whole {
			d.kind = r.kind(d.name)
		}
	}
	disk.Whole, disk.Kind = d.whole && d.described > 0, d.kind
	return looked
}

// inSysfs returns the name of a device in sysfs, which has no slashes.
func inSysfs(name string) string { return strings.ReplaceAll(name, "/", "!") }

// whole reports whether a device is no partition: it is in /sys/block. Where there is no such directory, a partition has the name of
// another device, a p if that ends in a digit, and a number.
func (r *Reader) whole(name string) bool {
	if blocks := filepath.Join(r.Sys, "block"); exists(blocks) {
		return exists(filepath.Join(blocks, inSysfs(name)))
	}
	disk := strings.TrimRight(name, "0123456789")
	if disk == name {
		return true
	}
	if before, found := strings.CutSuffix(disk, "p"); found && r.devices[before] != nil {
		return false
	}
	return r.devices[disk] == nil
}

// kind returns what sysfs says of a whole device, as far as it does.
func (r *Reader) kind(name string) (kind DiskKind) {
	directory := filepath.Join(r.Sys, "block", inSysfs(name))
	line := func(file string) string {
		text, err := readRecord(filepath.Join(directory, file), r.buffer)
		r.buffer = text
		if err != nil {
			return ""
		}
		first, _ := nextLine(text)
		return string(first)
	}
	kind.Rotates = line("queue/rotational") == "1"
	kind.Scheduler = scheduler(line("queue/scheduler"))
	if n, err := strconv.ParseUint(line("queue/nr_requests"), 10, 31); err == nil {
		kind.QueueDepth = int(n)
	}
	kind.Beneath = beneath(filepath.Join(directory, "slaves"))
	if file := line("loop/backing_file"); file != "" {
		kind.Beneath = r.deviceOf(file)
	}
	return kind
}

// scheduler returns the scheduler in use, which is the one in brackets, of those that a device may have.
func scheduler(all string) string {
	_, after, _ := strings.Cut(all, "[")
	name, _, _ := strings.Cut(after, "]")
	if !usage.IsScheduler(name) {
		return ""
	}
	return name
}

// beneath returns the whole devices that a directory of links to devices has, in order, as many as may be reported.
func beneath(directory string) (names []string) {
	links, err := os.ReadDir(directory)
	if err != nil {
		return nil
	}
	for _, link := range links {
		if to, err := os.Readlink(filepath.Join(directory, link.Name())); err == nil {
			names = append(names, wholeOf(to)...)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	return names[:min(len(names), usage.MaxBeneath)]
}

// wholeOf returns the name of the whole device to which a link of sysfs leads, or to a partition of which: the directory of a disk is in
// one that is named block, and that of a partition in that of its disk.
func wholeOf(link string) []string {
	name := filepath.Base(link)
	if around := filepath.Base(filepath.Dir(link)); around != "block" {
		name = around
	}
	if name = strings.ReplaceAll(name, "!", "/"); !usage.IsDiskName(name) {
		return nil
	}
	return []string{name}
}

// deviceOf returns the whole device that a file of the host is on, nothing where that cannot be found out: it takes the right to
// see the files of the first process, and a file system on one device.
func (r *Reader) deviceOf(file string) []string {
	number, ok := deviceNumber(filepath.Join(r.Proc, "1", "root", file))
	if !ok {
		return nil
	}
	link, err := os.Readlink(filepath.Join(r.Sys, "dev", "block", number.String()))
	if err != nil {
		return nil
	}
	return wholeOf(link)
}
