package usage

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
)

// What a report may have at most of disks.
const (
	// MaxDisks is how many disks an interval may have, and MaxPodDisks how many of them a pod.
	MaxDisks    = 64
	MaxPodDisks = 32
	// MaxBeneath is how many devices may be named on which a disk lies.
	MaxBeneath = 32
	// MinServiceBytes and MaxServiceBytes are the first and the last class of sizes of a [DiskService].
	MinServiceBytes = 4 << 10
	MaxServiceBytes = 16 << 20
)

// maxServices is how many classes of operations there are.
const maxServices = 3 * (24 - 12 + 1)

// The lengths of names in bytes. The kernel's own are shorter.
const (
	maxDiskName   = 64
	maxDiskNumber = 24
	maxScheduler  = 32
)

// IsDiskName reports whether a text may be the name of a block device: from 1 to 64 letters, digits, and some signs that
// drivers use.
func IsDiskName(text string) bool { return consistsOf(text, maxDiskName, "-_.!/:") }

// IsScheduler reports whether a text may be the name of a scheduler of requests.
func IsScheduler(text string) bool { return consistsOf(text, maxScheduler, "-_") }

// validateDisks checks the disks of an interval, and that pods have only these.
func (v *Interval) validateDisks() error {
	if v.DisksLeftOut < 0 {
		return fmt.Errorf("disksLeftOut: %d is less than 0", v.DisksLeftOut)
	}
	if len(v.Disks) > MaxDisks {
		return fmt.Errorf("disks: %d are more than %d", len(v.Disks), MaxDisks)
	}
	seen := make(map[string]bool, len(v.Disks))
	for i := range v.Disks {
		d := &v.Disks[i]
		if err := d.validate(v.Seconds); err != nil {
			return fmt.Errorf("disks[%d].%w", i, err)
		}
		if seen[d.Name] {
			return fmt.Errorf("disks[%d].name: %q is there twice", i, d.Name)
		}
		seen[d.Name] = true
	}
	for i := range v.Pods {
		for k := range v.Pods[i].Disks {
			if name := v.Pods[i].Disks[k].Name; !seen[name] {
				return fmt.Errorf("pods[%d].disks[%d].name: %.64q is no disk of the interval", i, k, name)
			}
		}
	}
	return nil
}

// validate checks a disk of an interval of some seconds.
func (d *Disk) validate(seconds float64) error {
	if err := d.validateNames(); err != nil {
		return err
	}
	if d.QueueDepth < 0 {
		return fmt.Errorf("queueDepth: %d is less than 0", d.QueueDepth)
	}
	if err := amounts(amount{"busySeconds", d.BusySeconds}, amount{"queuedSeconds", d.QueuedSeconds}); err != nil {
		return err
	}
	const rounding = 0.01
	if d.BusySeconds > seconds+rounding {
		return fmt.Errorf("busySeconds: %v is more than the interval has, %v", d.BusySeconds, seconds)
	}
	for _, direction := range []struct {
		field string
		t     *Transfers
	}{{"reads", &d.Reads}, {"writes", &d.Writes}, {"flushes", d.Flushes}} {
		if direction.t == nil {
			continue
		}
		if err := direction.t.validate(); err != nil {
			return fmt.Errorf("%s.%w", direction.field, err)
		}
	}
	return d.validateService()
}

func (d *Disk) validateNames() error {
	if !IsDiskName(d.Name) {
		return errDiskName("name", d.Name)
	}
	if !consistsOf(d.Number, maxDiskNumber, ":") {
		return fmt.Errorf("number: %.64q is not the number of a device, such as 254:0", d.Number)
	}
	if d.Scheduler != "" && !IsScheduler(d.Scheduler) {
		return fmt.Errorf("scheduler: %.64q is not from 1 to %d letters, digits, dashes and underscores", d.Scheduler, maxScheduler)
	}
	if len(d.Beneath) > MaxBeneath {
		return fmt.Errorf("beneath: %d are more than %d", len(d.Beneath), MaxBeneath)
	}
	for i, name := range d.Beneath {
		if !IsDiskName(name) {
			return errDiskName(fmt.Sprintf("beneath[%d]", i), name)
		}
	}
	return nil
}

func errDiskName(field, name string) error {
	return fmt.Errorf("%s: %.64q is not the name of a device: from 1 to %d letters, digits and signs", field, name, maxDiskName)
}

func (t *Transfers) validate() error {
	if err := counts(count{"operations", t.Operations}, count{"bytes", t.Bytes}); err != nil {
		return err
	}
	return amounts(amount{"seconds", t.Seconds})
}

func (d *Disk) validateService() error {
	if len(d.Service) > maxServices {
		return fmt.Errorf("service: %d are more than %d", len(d.Service), maxServices)
	}
	for i := range d.Service {
		if err := d.Service[i].validate(); err != nil {
			return fmt.Errorf("service[%d].%w", i, err)
		}
	}
	return nil
}

func (s *DiskService) validate() error {
	switch {
	case s.Direction != Read && s.Direction != Write && s.Direction != Flush:
		return fmt.Errorf("direction: %.64q is not %s, %s or %s", s.Direction, Read, Write, Flush)
	case s.Bytes < MinServiceBytes || s.Bytes > MaxServiceBytes || bits.OnesCount64(uint64(s.Bytes)) != 1:
		return fmt.Errorf("bytes: %d is not a power of two from %d to %d", s.Bytes, MinServiceBytes, MaxServiceBytes)
	case s.Intervals < 1:
		return fmt.Errorf("intervals: %d is less than 1", s.Intervals)
	case s.InFlight != 0 && !(s.InFlight > 1):
		return fmt.Errorf("inFlight: %v is neither 0 nor above 1", s.InFlight)
	}
	return amounts(amount{"seconds", s.Seconds}, amount{"spread", s.Spread}, amount{"inFlight", s.InFlight}, amount{"meanBytes", s.MeanBytes})
}

// validateDisks checks what a pod did at disks.
func (p *Pod) validateDisks() error {
	if !slices.Contains([]string{ByTasks, ByPressure, ByNothing}, p.BlockedBy) {
		return fmt.Errorf("blockedBy: %.64q is not %q, %q or %q", p.BlockedBy, ByTasks, ByPressure, ByNothing)
	}
	if p.BlockedBy == ByNothing && (p.Blocked != 0 || p.DiskLoading != 0) {
		return errors.New("blockedBy: by nothing, blockedSeconds and diskLoading are not 0")
	}
	if p.MemoryPressureSeconds != nil {
		if err := amounts(amount{"memoryPressureSeconds", *p.MemoryPressureSeconds}); err != nil {
			return err
		}
	}
	if p.DiskPressure != nil {
		if err := p.DiskPressure.validate(); err != nil {
			return fmt.Errorf("diskPressure.%w", err)
		}
	}
	if len(p.Disks) > MaxPodDisks {
		return fmt.Errorf("disks: %d are more than %d", len(p.Disks), MaxPodDisks)
	}
	for i := range p.Disks {
		if err := p.Disks[i].validate(); err != nil {
			return fmt.Errorf("disks[%d].%w", i, err)
		}
		if i > 0 && slices.ContainsFunc(p.Disks[:i], func(d PodDisk) bool { return d.Name == p.Disks[i].Name }) {
			return fmt.Errorf("disks[%d].name: %q is there twice", i, p.Disks[i].Name)
		}
	}
	return nil
}

func (p *DiskPressure) validate() error {
	if err := amounts(amount{"someSeconds", p.SomeSeconds}, amount{"fullSeconds", p.FullSeconds}); err != nil {
		return err
	}
	if p.FullSeconds > p.SomeSeconds {
		return fmt.Errorf("fullSeconds: %v is more than someSeconds, %v", p.FullSeconds, p.SomeSeconds)
	}
	return nil
}

func (d *PodDisk) validate() error {
	if !IsDiskName(d.Name) {
		return errDiskName("name", d.Name)
	}
	err := counts(count{"readOperations", d.ReadOperations}, count{"readBytes", d.ReadBytes},
		count{"writeOperations", d.WriteOperations}, count{"writeBytes", d.WriteBytes})
	if err != nil || d.Limit == nil {
		return err
	}
	l := d.Limit
	err = counts(count{"readBytes", l.ReadBytes}, count{"writeBytes", l.WriteBytes},
		count{"readOperations", l.ReadOperations}, count{"writeOperations", l.WriteOperations})
	if err != nil {
		return fmt.Errorf("limit.%w", err)
	}
	return nil
}

type count struct {
	field string
	value int64
}

// counts returns an error that names the first value that is less than 0, or more than any is.
func counts(all ...count) error {
	for _, c := range all {
		if c.value < 0 || c.value > maxAmount {
			return fmt.Errorf("%s: %d is not from 0 to %v", c.field, c.value, maxAmount)
		}
	}
	return nil
}
