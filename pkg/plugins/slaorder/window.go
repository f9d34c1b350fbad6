package slaorder

import "time"

// windowParts is how many parts a window has, one of which goes at a time.
const windowParts = 60

// window counts the pods of a class that ended in the latest past, in time or not. Pods
// may be counted in any order. The zero value has counted none.
type window struct{ parts []part }

// part counts the pods that ended in one part of time.
type part struct {
	number     int64 // since 1970
	met, total uint32
}

// partOf returns the number of the part of time that a moment is in.
func partOf(t time.Time, width time.Duration) int64 { return t.UnixNano() / int64(width) }

// count counts a pod that ended in a part of time. Pods that ended before the window, which
// ends with the part now, are left out.
func (w *window) count(number, now int64, met bool) {
	if number <= now-windowParts {
		return
	}
	if w.parts == nil {
		w.parts = make([]part, windowParts)
	}
	p := &w.parts[number%windowParts]
	if p.number != number {
		*p = part{number: number}
	}
	p.total++
	if met {
		p.met++
	}
}

// sum returns how many pods ended in the window that ends with the part now, and how many
// of these in time.
func (w *window) sum(now int64) (met, total int) {
	for _, p := range w.parts {
		if p.number > now-windowParts && p.number <= now {
			met += int(p.met)
			total += int(p.total)
		}
	}
	return met, total
}
