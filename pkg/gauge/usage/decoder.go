package usage

import (
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// What a report of a gauge may have at most: as much as the largest that a gauge makes in half a minute.
const (
	// MaxBytes is how long an answer of a gauge may be, unpacked.
	MaxBytes = 8 << 20
	// MaxObjects is how many objects its intervals may have together: pods with their containers and disks, and disks with all that they list.
	MaxObjects = 1 << 16
)

// maxValue bounds the text of a pod with its containers, and of any other value. A pod of [MaxContainers] containers has 35 kB. And
// maxFields bounds the number of fields of a report or an interval; later versions may have more fields.
const (
	maxValue  = 64 << 10
	maxFields = 100
)

// ErrTooLarge is a decoder's error for an input that goes beyond the limits of the decoder. Less of it may be within them.
var ErrTooLarge = errors.New("is too large")

// Limits bound the input of a decoder.
type Limits struct {
	// Bytes is how long the input may be, all reports together.
	Bytes int64
	// Intervals is how many intervals each report may have, and Objects how many objects these may have together, counted as in [MaxObjects].
	Intervals, Objects int
	// Known refuses fields that reports do not have, which are skipped otherwise.
	Known bool
}

// RefusedError is the error of an input that was read, and is refused: it is no report, breaks a rule of reports, or goes beyond
// the limits. It names the field, the value, shortened, and the rule. Any other error is one of the input itself.
type RefusedError struct{ Err error }

func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *RefusedError) Unwrap() error { return e.Err }

// Decoder reads reports from an input that may be anything. It reads as a stream: whatever the input, it takes no more memory than
// the objects of one report that its limits allow, at some hundred bytes each, and two megabytes, most of it garbage. What it returns is valid. After
// an error it can read no more until it is reset.
type Decoder struct {
	json    jsontext.Decoder
	in      *meter
	limits  Limits
	objects int // which the report may have yet
	// pods are those of the interval that is being read, copied so that they take no more memory than they need, and before those
	// of the interval before it.
	pods, before []Pod
	// lent are lists of pods of the reports since the last reset, at most maxSpare, and spare those of before.
	lent, spare [][]Pod
}

// maxSpare is how many lists of pods are kept to be used again, and maxSparePods how many pods one of them has room for at most.
const maxSpare, maxSparePods = 16, 128

// NewDecoder returns a decoder of an input.
func NewDecoder(in io.Reader, limits Limits) *Decoder {
	d := &Decoder{}
	d.Reset(in, limits)
	return d
}

// Reset has a decoder, also a zero one, read another input, with the memory that it has. The reports that it has returned must not be used
// any more.
func (d *Decoder) Reset(in io.Reader, limits Limits) {
	for _, list := range d.lent {
		if len(d.spare) < maxSpare && cap(list) <= maxSparePods {
			clear(list) // it would keep what the pods list
			d.spare = append(d.spare, list)
		}
	}
	d.lent = d.lent[:0]
	d.in, d.limits = &meter{in: in, all: limits.Bytes}, limits
	d.json.Reset(d.in, json.WithUnmarshalers(boundedLists()), json.RejectUnknownMembers(limits.Known))
}

// Collection returns the collection that the input goes on with.
func (d *Decoder) Collection() (*Collection, error) {
	c := &Collection{}
	err := d.value(c)
	if err == nil {
		err = rule(c.Validate())
	}
	if err != nil {
		return nil, d.refusal(err)
	}
	return c, nil
}

// Report returns the report that the input goes on with, and [io.EOF] at its end.
func (d *Decoder) Report() (*Report, error) {
	r, err := d.report()
	if err != nil {
		return nil, d.refusal(err)
	}
	return r, nil
}

// refusal returns the error of an input that is refused for a reason, or cannot be read.
func (d *Decoder) refusal(why error) error {
	switch {
	case d.in.failed != nil:
		return d.in.failed
	case why == io.EOF: //nolint:errorlint // it is the end of the input only as it is
		return why
	}
	return &RefusedError{why}
}

func (d *Decoder) report() (*Report, error) {
	d.objects, d.before = d.limits.Objects, nil
	r := &Report{}
	err := d.object(func(field string) error {
		switch field {
		case "ageSeconds":
			return d.value(&r.AgeSeconds)
		case "intervals":
			return d.intervals(r)
		}
		return d.skip()
	})
	if err != nil {
		return nil, err
	}
	return r, rule(r.validateAge())
}

// List returns the reports of the list that the input is.
func (d *Decoder) List() ([]Report, error) {
	var all []Report
	err := d.list(func(int) error {
		r, err := d.report()
		if err == nil {
			all = append(all, *r)
		}
		return err
	})
	if err != nil {
		return nil, d.refusal(unfinished(err))
	}
	if _, err := d.token(); !errors.Is(err, io.EOF) {
		return nil, d.refusal(errors.New("goes on after the list"))
	}
	return all, nil
}

// intervals reads the intervals of a report.
func (d *Decoder) intervals(r *Report) error {
	r.Intervals = []Interval{}
	return d.list(func(i int) error {
		if limit := min(d.limits.Intervals, MaxIntervals); i >= limit {
			return fmt.Errorf("%w: there are more than %d", ErrTooLarge, limit)
		}
		r.Intervals = append(r.Intervals, Interval{})
		if err := d.interval(&r.Intervals[i]); err != nil {
			return err
		}
		return rule(r.sameNode(i))
	})
}

// interval reads an interval.
func (d *Decoder) interval(v *Interval) error {
	err := d.object(func(field string) error {
		switch field {
		case "pods":
			return d.podsOf(v)
		case "disks":
			return d.disksOf(v)
		}
		if to := v.scalar(field); to != nil {
			return d.value(to)
		}
		return d.skip()
	})
	if err != nil {
		return err
	}
	return rule(v.validateWhole())
}

// podsOf reads the pods of an interval.
func (d *Decoder) podsOf(v *Interval) error {
	d.pods = d.pods[:0]
	err := d.list(func(i int) error {
		if i >= MaxPods {
			return fmt.Errorf("%w: there are more than %d", ErrTooLarge, MaxPods)
		}
		d.pods = append(d.pods, Pod{})
		p := &d.pods[i]
		if err := d.value(p); err != nil {
			return err
		}
		if err := d.count(1 + len(p.Containers) + len(p.Disks)); err != nil {
			return err
		}
		if i < len(d.before) && p.share(&d.before[i]) {
			return rule(p.validateDoings())
		}
		return rule(p.validate())
	})
	v.Pods = d.lend(d.pods)
	d.before = v.Pods
	return err
}

// lend returns a copy of a list of pods, which is never nil.
func (d *Decoder) lend(pods []Pod) []Pod {
	list := []Pod{}
	if last := len(d.spare) - 1; last >= 0 {
		list, d.spare = d.spare[last][:0], d.spare[:last]
	}
	list = append(list, pods...)
	if len(d.lent) < maxSpare {
		d.lent = append(d.lent, list)
	}
	return list
}

// disksOf reads the disks of an interval.
func (d *Decoder) disksOf(v *Interval) error {
	v.Disks = []Disk{}
	return d.list(func(i int) error {
		if i >= MaxDisks {
			return fmt.Errorf("%w: there are more than %d", ErrTooLarge, MaxDisks)
		}
		v.Disks = append(v.Disks, Disk{})
		disk := &v.Disks[i]
		if err := d.value(disk); err != nil {
			return err
		}
		return d.count(1 + len(disk.Beneath) + len(disk.Service))
	})
}

// count counts objects of the report.
func (d *Decoder) count(objects int) error {
	if d.objects -= objects; d.objects < 0 {
		return fmt.Errorf("%w: with those before there are more than %d pods, containers and disks", ErrTooLarge, d.limits.Objects)
	}
	return nil
}

// share has a pod share the identity of a valid one, and reports whether it is the same. Most pods are in all intervals of a report.
func (p *Pod) share(valid *Pod) bool {
	if p.UID != valid.UID || p.Namespace != valid.Namespace || p.Name != valid.Name {
		return false
	}
	p.UID, p.Namespace, p.Name = valid.UID, valid.Namespace, valid.Name
	return true
}

// scalar returns where a field of an interval is that is no list, nil if there is none of that name.
func (v *Interval) scalar(field string) any {
	switch field {
	case "node":
		return &v.Node
	case "start":
		return &v.Start
	case "end":
		return &v.End
	case "seconds":
		return &v.Seconds
	case "cpus":
		return &v.CPUs
	case "busySeconds":
		return &v.BusySeconds
	case "stolenSeconds":
		return &v.StolenSeconds
	case "cgroupVersion":
		return &v.CgroupVersion
	case "exclusiveCPUs":
		return &v.ExclusiveCPUs
	case "blockedUnknown":
		return &v.BlockedUnknown
	case "leftOut":
		return &v.LeftOut
	case "disksLeftOut":
		return &v.DisksLeftOut
	}
	return nil
}
