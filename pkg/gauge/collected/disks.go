package collected

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// nano is the part of a second in which the times of single operations are kept.
const nano = 1e9

// packDisks returns what an interval has of disks, nil where that is nothing: its disks, and what its pods did there and waited for.
// It is kept of the latest intervals only, and none is merged with another.
func packDisks(v *usage.Interval) []byte {
	w := packer{}
	w.count(len(v.Disks))
	w.count(v.DisksLeftOut)
	for i := range v.Disks {
		w.disk(&v.Disks[i])
	}
	something := len(v.Disks) > 0 || v.DisksLeftOut > 0
	for i := range v.Pods {
		if p := &v.Pods[i]; p.DiskPressure != nil || p.MemoryPressureSeconds != nil || len(p.Disks) > 0 {
			w.count(i)
			w.pod(p, v.Disks)
			something = true
		}
	}
	if !something {
		return nil
	}
	return bytes.Clone(w.packed)
}

// unpackDisks sets what an interval has of disks, by the text of packDisks. Its pods are in the order that they had then.
func unpackDisks(packed []byte, v *usage.Interval) {
	if packed == nil {
		return
	}
	r := unpacker{packed}
	n := r.count()
	v.DisksLeftOut = r.count()
	for range n {
		v.Disks = append(v.Disks, r.disk())
	}
	for len(r.packed) > 0 {
		p := &v.Pods[r.count()]
		r.pod(p, v.Disks)
	}
}

// packer appends numbers and texts.
type packer struct{ packed []byte }

func (w *packer) count(n int) { w.packed = binary.AppendUvarint(w.packed, uint64(max(0, n))) }

// number appends a number in whole parts.
func (w *packer) number(x, parts float64) {
	w.packed = binary.AppendUvarint(w.packed, uint64(math.Round(min(x, most*micro/parts)*parts)))
}

func (w *packer) text(s string) {
	w.count(len(s))
	w.packed = append(w.packed, s...)
}

func (w *packer) flags(all ...bool) {
	bits := 0
	for i, is := range all {
		if is {
			bits |= 1 << i
		}
	}
	w.count(bits)
}

func (w *packer) transfers(t *usage.Transfers) {
	w.number(float64(t.Operations), 1)
	w.number(float64(t.Bytes), 1)
	w.number(t.Seconds, milli)
}

// directions are those of services, by their numbers.
var directions = []string{usage.Read, usage.Write, usage.Flush}

func (w *packer) disk(d *usage.Disk) {
	w.text(d.Name)
	w.text(d.Number)
	w.text(d.Scheduler)
	w.flags(d.Rotates, d.Flushes != nil)
	w.number(float64(d.QueueDepth), 1)
	w.count(len(d.Beneath))
	for _, name := range d.Beneath {
		w.text(name)
	}
	w.transfers(&d.Reads)
	w.transfers(&d.Writes)
	if d.Flushes != nil {
		w.transfers(d.Flushes)
	}
	w.number(d.BusySeconds, milli)
	w.number(d.QueuedSeconds, milli)
	w.count(len(d.Service))
	for i := range d.Service {
		s := &d.Service[i]
		w.count(slices.Index(directions, s.Direction))
		w.flags(s.InFlight > 0)
		w.number(float64(s.Bytes), 1)
		w.number(s.MeanBytes, 1)
		w.number(s.Seconds, nano)
		w.number(s.Spread, nano)
		w.count(s.Intervals)
		if s.InFlight > 0 {
			w.number(s.InFlight, milli)
		}
	}
}

func (w *packer) pod(p *usage.Pod, disks []usage.Disk) {
	w.flags(p.DiskPressure != nil, p.MemoryPressureSeconds != nil)
	if p.DiskPressure != nil {
		w.number(p.DiskPressure.SomeSeconds, milli)
		w.number(p.DiskPressure.FullSeconds, milli)
	}
	if p.MemoryPressureSeconds != nil {
		w.number(*p.MemoryPressureSeconds, milli)
	}
	w.count(len(p.Disks))
	for i := range p.Disks {
		d := &p.Disks[i]
		w.count(slices.IndexFunc(disks, func(of usage.Disk) bool { return of.Name == d.Name }))
		w.flags(d.Limit != nil)
		for _, n := range [...]int64{d.ReadOperations, d.ReadBytes, d.WriteOperations, d.WriteBytes} {
			w.number(float64(n), 1)
		}
		if l := d.Limit; l != nil {
			for _, n := range [...]int64{l.ReadBytes, l.WriteBytes, l.ReadOperations, l.WriteOperations} {
				w.number(float64(n), 1)
			}
		}
	}
}

// unpacker reads what a packer appended.
type unpacker struct{ packed []byte }

func (r *unpacker) value() uint64 {
	value, n := binary.Uvarint(r.packed)
	r.packed = r.packed[n:]
	return value
}

func (r *unpacker) count() int                   { return int(r.value()) }
func (r *unpacker) whole() int64                 { return int64(r.value()) }
func (r *unpacker) number(parts float64) float64 { return float64(r.value()) / parts }

func (r *unpacker) text() string {
	n := r.count()
	s := string(r.packed[:n])
	r.packed = r.packed[n:]
	return s
}

// flags returns the first and the second of flags.
func (r *unpacker) flags() (first, second bool) {
	bits := r.count()
	return bits&1 == 1, bits&2 == 2
}

func (r *unpacker) transfers() usage.Transfers {
	return usage.Transfers{Operations: r.whole(), Bytes: r.whole(), Seconds: r.number(milli)}
}

func (r *unpacker) disk() usage.Disk {
	d := usage.Disk{Name: r.text(), Number: r.text(), Scheduler: r.text()}
	rotates, flushes := r.flags()
	d.Rotates, d.QueueDepth = rotates, r.count()
	for range r.count() {
		d.Beneath = append(d.Beneath, r.text())
	}
	d.Reads, d.Writes = r.transfers(), r.transfers()
	if flushes {
		d.Flushes = new(r.transfers())
	}
	d.BusySeconds, d.QueuedSeconds = r.number(milli), r.number(milli)
	for range r.count() {
		s := usage.DiskService{Direction: directions[min(r.count(), len(directions)-1)]}
		busy, _ := r.flags()
		s.Bytes, s.MeanBytes, s.Seconds, s.Spread, s.Intervals = r.whole(), r.number(1), r.number(nano), r.number(nano), r.count()
		if busy {
			s.InFlight = r.number(milli)
		}
		d.Service = append(d.Service, s)
	}
	return d
}

func (r *unpacker) pod(p *usage.Pod, disks []usage.Disk) {
	disk, memory := r.flags()
	if disk {
		p.DiskPressure = &usage.DiskPressure{SomeSeconds: r.number(milli), FullSeconds: r.number(milli)}
	}
	if memory {
		p.MemoryPressureSeconds = new(r.number(milli))
	}
	for range r.count() {
		d := usage.PodDisk{Name: disks[r.count()].Name}
		limited, _ := r.flags()
		d.ReadOperations, d.ReadBytes, d.WriteOperations, d.WriteBytes = r.whole(), r.whole(), r.whole(), r.whole()
		if limited {
			d.Limit = &usage.DiskLimit{ReadBytes: r.whole(), WriteBytes: r.whole(), ReadOperations: r.whole(), WriteOperations: r.whole()}
		}
		p.Disks = append(p.Disks, d)
	}
}
