package station

// Service is what an operation takes on a quiet device, by its size: known sizes in increasing order. Without any it is not known.
type Service []Size

// Size is what operations of a size take.
type Size struct {
	// Bytes is the size, at least 0, and Seconds the mean that an operation takes, at least 0.
	Bytes, Seconds float64
	// Spread is half the distance between the quartiles of that mean, in seconds.
	Spread float64
}

// At returns what an operation of a size in bytes takes, and its spread, in seconds: 0 where nothing is known. Between known sizes it is
// interpolated. A smaller operation than all takes as long as the smallest, and a larger one longer than the largest by what its further bytes
// take, given the seconds for each.
func (s Service) At(bytes, perByte float64) (seconds, spread float64) {
	if len(s) == 0 {
		return 0, 0
	}
	if bytes <= s[0].Bytes {
		return s[0].Seconds, s[0].Spread
	}
	for i, high := range s[1:] {
		if low := s[i]; bytes <= high.Bytes {
			part := (bytes - low.Bytes) / (high.Bytes - low.Bytes)
			return low.Seconds + part*(high.Seconds-low.Seconds), low.Spread + part*(high.Spread-low.Spread)
		}
	}
	last := s[len(s)-1]
	return last.Seconds + (bytes-last.Bytes)*perByte, last.Spread
}
