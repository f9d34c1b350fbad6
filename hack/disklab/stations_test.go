package main

import (
	"math"
	"testing"
)

// Alone, a customer is as fast as it can be; many share what a server does, and are never faster than the asymptotes of a closed network.
func TestRatesKeepTheBoundsOfClosedNetworks(t *testing.T) {
	t.Parallel()
	one := []station{{servers: 1}}
	for name, c := range map[string]struct {
		customers []customer
		stations  []station
		want      []float64
		within    float64
	}{
		"one thread alone":            {[]customer{{1, 0.5, []float64{0.5}}}, one, []float64{1}, 1e-6},
		"many threads fill a server":  {[]customer{{64, 0, []float64{0.1}}}, one, []float64{10}, 1e-6},
		"several servers":             {[]customer{{1, 0, []float64{0.4}}}, []station{{servers: 4}}, []float64{2.5}, 1e-6},
		"who has no demand is unhurt": {[]customer{{1, 0.5, []float64{0}}, {64, 0, []float64{0.1}}}, one, []float64{2, 10}, 1e-6},
		// In order of arrival, each of two without thinking is served once in turn, whatever it takes; Bard and Schweitzer are near.
		"in order, small beside large": {[]customer{{1, 0, []float64{0.1}}, {1, 0, []float64{0.9}}}, one, []float64{1, 1}, 0.12},
		"shared, small beside large":   {[]customer{{1, 0, []float64{0.1}}, {1, 0, []float64{0.9}}}, []station{{1, true}}, []float64{5, 0.555}, 0.12},
	} {
		got := rates(c.customers, c.stations)
		for i, want := range c.want {
			if math.Abs(got[i]/want-1) > c.within {
				t.Errorf("%s: customer %d has a rate of %v, want %v", name, i, got[i], want)
			}
		}
	}
}

func TestServiceIsLearnedOfASweep(t *testing.T) {
	t.Parallel()
	var sweep []run
	for _, bytes := range []int64{4096, 65536, 1 << 20} {
		for _, depth := range []int{1, 8} {
			// A device of 60 µs on the way, and 1 GB/s with 20 µs for each operation, one at a time.
			serial := 20e-6 + float64(bytes)/1e9
			latency := max(60e-6+serial, float64(depth)*serial)
			s := spec{Operation: read, Access: random, Cache: direct, Bytes: bytes, Depth: depth}
			sweep = append(sweep, run{Job: &s, Seconds: 1000, Pods: []podRun{{Units: int64(1000 * float64(depth) / latency), Latency: latency}}})
		}
	}
	s := learn(sweep)
	for name, c := range map[string]struct{ got, fixed line }{
		"quiet":  {s.quiet[reads], line{80e-6, 1e-9}},
		"demand": {s.demand[reads], line{20e-6, 1e-9}},
	} {
		if math.Abs(c.got.fixed/c.fixed.fixed-1) > 0.01 || math.Abs(c.got.perByte/c.fixed.perByte-1) > 0.01 {
			t.Errorf("%s: got %v, want %v", name, c.got, c.fixed)
		}
	}
}
