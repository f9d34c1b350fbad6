package main

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/hack/scenario"
	"loadline.dev/loadline/pkg/model/loading"
)

func TestTheDayFollowsFromTheSeed(t *testing.T) {
	t.Parallel()
	vectors := func(seed uint64, at float64) []loading.Vector {
		c := small(t, seed)
		var all []loading.Vector
		for _, a := range c.scenario.Applications {
			all = append(all, c.day.vector(a, at))
		}
		return all
	}
	if diff := cmp.Diff(vectors(1, 7.25), vectors(1, 7.25)); diff != "" {
		t.Errorf("the same seed and time differ (-one +other)\n%s", diff)
	}
	if cmp.Equal(vectors(1, 7.25), vectors(2, 7.25)) || cmp.Equal(vectors(1, 7.25), vectors(1, 8.25)) {
		t.Error("another seed, or another hour, is the same")
	}
}

func TestUseSwingsAroundItsMeanAndTheDayRepeats(t *testing.T) {
	t.Parallel()
	c := small(t, 1)
	const fine = 10
	sum, most, least := 0.0, 0.0, math.Inf(1)
	for _, a := range c.scenario.Applications {
		of := c.day.courses[a]
		if of.swing < leastSwing || of.swing > mostSwing || of.peak < 0 || of.peak >= hours {
			t.Errorf("%s swings by %v with its peak at %v", a.Name, of.swing, of.peak)
		}
		for k := range hours * fine {
			f := of.factor(float64(k) / fine)
			sum, most, least = sum+f, max(most, f), min(least, f)
		}
		if end, begin := of.factor(math.Nextafter(hours, 0)), of.factor(0); math.Abs(end-begin) > 1e-9 {
			t.Errorf("%s: the day ends with %v and begins with %v", a.Name, end, begin)
		}
	}
	// The mean of the cosine is 0, and that of the wandering a factor of exp(0.1²/2) over many applications and hours.
	if mean := sum / float64(len(c.scenario.Applications)*hours*fine); math.Abs(mean-1) > 0.05 {
		t.Errorf("the mean use is %.3f times its mean", mean)
	}
	if most < 1+leastSwing || least > 1-leastSwing || least <= 0 {
		t.Errorf("use is from %.2f to %.2f of its mean", least, most)
	}
}

func TestPodsUseProcessorsOnlyAndNoMoreThanTheirThreadsCan(t *testing.T) {
	t.Parallel()
	c := small(t, 1)
	for _, a := range c.scenario.Applications {
		if a.Declared[scenario.Disk].Loading+a.Vector[scenario.Network].Loading > 0 {
			t.Errorf("%s uses disks or links: %v, declared %v", a.Name, a.Vector, a.Declared)
		}
		for hour := range hours {
			v := c.day.vector(a, float64(hour))
			if err := v.Validate(); err != nil || len(v) != 1 || v[0].Loading > fullest || v[0].Threads != a.Vector[scenario.CPU].Threads {
				t.Fatalf("%s at %d: %v, %v", a.Name, hour, v, err)
			}
		}
	}
}
