package probe

import (
	"errors"
	"os"

	"loadline.dev/loadline/pkg/probe/result"
)

// diskUnit is how many bytes a unit of the disk jobs reads or writes.
const diskUnit = 1 << 20

// diskWorkers returns workers that read or write blocks of one file, at random.
func diskWorkers(j Job) (*workers, error) {
	dir, size := j.Dir, j.Size
	if dir == "" {
		dir = "."
	}
	if size == 0 {
		size = 256 << 20
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, errors.New(dir + ": is not a directory")
	}
	blocks := size / diskUnit
	file, err := openScratch(dir, blocks*diskUnit)
	if err != nil {
		return nil, err
	}
	c := &workers{closers: []func() error{file.close}}
	seed := uint64(0)
	c.newUnit = func() (unit, error) {
		buffer, err := newBuffer(diskUnit)
		if err != nil {
			return nil, err
		}
		c.closers = append(c.closers, func() error { return freeBuffer(buffer) })
		seed++
		random := scramble(scramble(seed))
		somewhere := func() int64 {
			random = scramble(random)
			return int64(random%uint64(blocks)) * diskUnit
		}
		if j.Name == result.DiskRead {
			return func() error { return file.read(buffer, somewhere()) }, nil
		}
		return func() error {
			if err := file.write(buffer, somewhere()); err != nil {
				return err
			}
			return file.store()
		}, nil
	}
	return c, nil
}
