package result

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
)

// MaxSamples is how many samples a series has at most.
const MaxSamples = 256

// fraction is the part of a unit that a packed series is exact to.
const fraction = 1000

// Series is how many units were done by when: samples at a fixed interval. The zero
// value is a series of nothing.
type Series struct {
	// Begin is when the first sample was taken; Interval is the time between two, in
	// nanoseconds, above 0 if there are samples.
	Begin, Interval int64
	// Thousandths is the work done by each sample, in thousandths of a unit. It never
	// decreases. At most [MaxSamples].
	Thousandths []int64
}

// Span returns when the first and the last sample were taken.
func (s Series) Span() (from, to int64) {
	return s.Begin, s.Begin + int64(max(len(s.Thousandths)-1, 0))*s.Interval
}

// Rate returns how many units per second were done between two times. Between samples
// the work is taken to be even. ok is false if the window is not inside the span of the
// series, or is shorter than two intervals: too short to tell a rate.
func (s Series) Rate(from, to int64) (unitsPerSecond float64, ok bool) {
	first, last := s.Span()
	if len(s.Thousandths) == 0 || from < first || to > last || to-from < 2*s.Interval {
		return 0, false
	}
	seconds := float64(to-from) / 1e9
	return (s.done(to) - s.done(from)) / seconds, true
}

// done returns how many units were done by a time in the span.
func (s Series) done(t int64) float64 {
	k, past := (t-s.Begin)/s.Interval, (t-s.Begin)%s.Interval
	done := float64(s.Thousandths[k])
	if past > 0 {
		done += float64(s.Thousandths[k+1]-s.Thousandths[k]) * float64(past) / float64(s.Interval)
	}
	return done / fraction
}

// packed is a series in JSON: its differences as variable-length integers, in base64.
type packed struct {
	Begin    int64  `json:"begin"`
	Interval int64  `json:"interval"`
	Samples  string `json:"samples"`
}

// MarshalJSON packs the series.
func (s Series) MarshalJSON() ([]byte, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	var deltas []byte
	before := int64(0)
	for _, now := range s.Thousandths {
		deltas = binary.AppendUvarint(deltas, uint64(now-before))
		before = now
	}
	return json.Marshal(packed{s.Begin, s.Interval, base64.RawStdEncoding.EncodeToString(deltas)})
}

// UnmarshalJSON unpacks a series.
func (s *Series) UnmarshalJSON(data []byte) error {
	var p packed
	if err := json.Unmarshal(data, &p); err != nil {
		return err
	}
	deltas, err := base64.RawStdEncoding.DecodeString(p.Samples)
	if err != nil {
		return fmt.Errorf("series.samples: %w", err)
	}
	*s = Series{Begin: p.Begin, Interval: p.Interval}
	now := uint64(0)
	for len(deltas) > 0 {
		delta, n := binary.Uvarint(deltas)
		if n <= 0 || delta > math.MaxInt64-now {
			return fmt.Errorf("series.samples[%d]: is no number of thousandths of a unit", len(s.Thousandths))
		}
		now += delta
		deltas = deltas[n:]
		s.Thousandths = append(s.Thousandths, int64(now))
	}
	return nil
}

func (s Series) validate() error {
	if s.Begin < 0 {
		return fmt.Errorf("begin: %d is negative", s.Begin)
	}
	if len(s.Thousandths) == 0 {
		return nil
	}
	if len(s.Thousandths) > MaxSamples {
		return fmt.Errorf("samples: there are %d; %d is the most", len(s.Thousandths), MaxSamples)
	}
	if s.Interval <= 0 {
		return fmt.Errorf("interval: %d is not above 0", s.Interval)
	}
	if (math.MaxInt64-s.Begin)/s.Interval < int64(len(s.Thousandths)) {
		return errors.New("interval: the series ends beyond all times")
	}
	before := int64(0)
	for k, now := range s.Thousandths {
		if now < before {
			return fmt.Errorf("samples[%d]: %d thousandths of a unit are fewer than the %d before", k, now, before)
		}
		before = now
	}
	return nil
}
