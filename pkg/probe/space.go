package probe

import "fmt"

// leastFree is how many bytes of a file system a job leaves free at least; it leaves a
// tenth free, too.
const leastFree = 1 << 30

// space is how full a file system is, in bytes.
type space struct{ total, free int64 }

// admits says why a file of a size would make the file system too full.
func (s space) admits(size int64) error {
	keep := max(leastFree, s.total/10)
	if left := s.free - size; left < keep {
		return fmt.Errorf("a file of %d MiB would leave %d MiB of the file system free; a tenth of it and 1 GiB, so %d MiB, stay free",
			size>>20, left>>20, keep>>20)
	}
	return nil
}
