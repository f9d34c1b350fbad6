package reading

import "path/filepath"

// The bounds of the reading of the disks of a pod.
const (
	// maxPodStats is how much is read of a file, in bytes, and maxPodDevices how many devices are kept.
	maxPodStats   = 64 << 10
	maxPodDevices = 256
	// maxSummed is how many groups of a pod are summed up where the kernel does not.
	maxSummed = 64
	// untilLimits is for how many readings the limits of a pod that uses disks are taken to be as they were.
	untilLimits = 6
)

// podDisks is what the reader has of the disks of a pod.
type podDisks struct {
	// operations is how many it had at the last reading, the one numbered turn.
	operations int64
	turn       int
	limits     []DiskLimit
	limitsRead int // the number of the reading
}

// podDisks reads what a pod did at disks, and its limits if it did something since the last reading. Its containers are known.
func (r *Reader) podDisks(path string, pod *Pod) (err error) {
	if r.trees.disks == "" {
		return nil
	}
	if pod.Disks, err = r.diskUse(path); err != nil {
		return err
	}
	operations := int64(0)
	for i := range pod.Disks {
		operations += pod.Disks[i].ReadOperations/2 + pod.Disks[i].WriteOperations/2
	}
	was := r.podsDisks[path]
	if was == nil {
		was = &podDisks{operations: operations}
		r.podsDisks[path] = was
	}
	active := operations != was.operations
	was.operations, was.turn = operations, r.turn
	if active && (was.limitsRead == 0 || r.turn-was.limitsRead >= untilLimits) {
		was.limitsRead = r.turn
		if was.limits, err = r.diskLimits(path, pod); err != nil {
			return err
		}
	}
	pod.DiskLimits = was.limits
	return nil
}

// diskUse returns what a pod did at disks.
func (r *Reader) diskUse(path string) (disks []PodDisk, err error) {
	if r.trees.disksVersion2 {
		_, err = r.each(path, "io.stat", func(text []byte) error { return ioStat(text, &disks) })
		return disks, err
	}
	found, err := r.blkio(path, "_recursive", &disks)
	if err != nil || found {
		return disks, err
	}
	left := maxSummed
	return disks, r.blkioSum(path, &left, &disks)
}

// blkio adds what a group of version 1 did, by the files whose names have an ending, and reports whether there are such files.
func (r *Reader) blkio(path, ending string, disks *[]PodDisk) (found bool, err error) {
	found, err = r.each(path, "blkio.throttle.io_serviced"+ending, func(text []byte) error { return blkioStat(text, false, disks) })
	if err != nil || !found {
		return found, err
	}
	return r.each(path, "blkio.throttle.io_service_bytes"+ending, func(text []byte) error { return blkioStat(text, true, disks) })
}

// blkioSum adds what a group of version 1 and those within did, as many as are left.
func (r *Reader) blkioSum(path string, left *int, disks *[]PodDisk) error {
	if *left--; *left < 0 {
		return nil
	}
	if found, err := r.blkio(path, "", disks); err != nil || !found {
		return err
	}
	names, err := r.directories(path)
	for _, name := range names {
		if err := r.blkioSum(filepath.Join(path, name), left, disks); err != nil {
			return err
		}
	}
	return err
}

// diskLimits returns the tightest limits of a pod and its containers.
func (r *Reader) diskLimits(path string, pod *Pod) (limits []DiskLimit, err error) {
	if err := r.limitsOf(path, &limits); err != nil {
		return nil, err
	}
	for i := range pod.Groups {
		if group := &pod.Groups[i]; group.ID != "" {
			if err := r.limitsOf(group.Path, &limits); err != nil {
				return nil, err
			}
		}
	}
	return limits, nil
}

// limitsOf tightens limits by those of a group.
func (r *Reader) limitsOf(path string, limits *[]DiskLimit) error {
	if r.trees.disksVersion2 {
		_, err := r.each(path, "io.max", func(text []byte) error { return ioMax(text, limits) })
		return err
	}
	for _, l := range [...]struct{ key, file string }{
		{"rbps", "blkio.throttle.read_bps_device"},
		{"wbps", "blkio.throttle.write_bps_device"},
		{"riops", "blkio.throttle.read_iops_device"},
		{"wiops", "blkio.throttle.write_iops_device"},
	} {
		if _, err := r.each(path, l.file, func(text []byte) error { return blkioLimit(text, l.key, limits) }); err != nil {
			return err
		}
	}
	return nil
}

// each has a file of a group parsed that has lines of devices, and reports whether there is one. Of a file that is too long the
// lines are parsed that are whole.
func (r *Reader) each(path, file string, parse func(text []byte) error) (found bool, err error) {
	path = filepath.Join(r.trees.disks, path, file)
	if r.buffer, err = readWhole(path, r.buffer, maxPodStats); err != nil {
		if absent(err) {
			return false, nil
		}
		return false, err
	}
	return true, named(path, parse(wholeLines(r.buffer, maxPodStats)))
}

// mergeDisks adds what the same pod did in a group at another place.
func (p *Pod) mergeDisks(other *Pod) {
	p.DiskPressure, p.MemoryPressure = p.DiskPressure.with(other.DiskPressure), p.MemoryPressure.with(other.MemoryPressure)
	for i := range other.Disks {
		more := &other.Disks[i]
		to := of(&p.Disks, more.Number)
		to.ReadOperations, to.WriteOperations = to.ReadOperations+more.ReadOperations, to.WriteOperations+more.WriteOperations
		to.ReadBytes, to.WriteBytes = to.ReadBytes+more.ReadBytes, to.WriteBytes+more.WriteBytes
	}
	p.DiskLimits = append(p.DiskLimits, other.DiskLimits...)
}

// with returns the sum of two pressures, the known one if one is not.
func (p *Pressure) with(other *Pressure) *Pressure {
	switch {
	case p == nil:
		return other
	case other == nil:
		return p
	}
	return &Pressure{Some: sum(p.Some, other.Some), Full: sum(p.Full, other.Full)}
}
