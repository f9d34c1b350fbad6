package observed

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/station"
)

// writing is a pod that wrote, with what it did by its mean size.
func writing(operations, size float64) station.Customer {
	return station.Customer{Work: station.Work{station.Write: {Operations: operations, Bytes: operations * size}}}
}

func TestWhoseFlushesAreIsToldByTheSizeOfWrites(t *testing.T) {
	t.Parallel()
	const each = 1e-3
	for name, c := range map[string]struct {
		all, flushes float64 // of the disk
		customers    []station.Customer
		want         []float64
		rest         float64 // what no pod had
	}{
		"a log of pages, beside large writes":      {1200, 100, []station.Customer{writing(200, 2048), writing(1000, 65536)}, []float64{100, 0}, 0},
		"two that may be either":                   {1200, 120, []station.Customer{writing(200, 8192), writing(1000, 65536)}, []float64{20, 100}, 0},
		"several waited for each":                  {400, 50, []station.Customer{writing(400, 1024)}, []float64{300}, 0},
		"the journal's":                            {1000, 100, []station.Customer{writing(500, 8192)}, []float64{50}, 50},
		"more than there are writes, of a journal": {100, 400, []station.Customer{writing(100, 8192)}, []float64{100}, 0},
		"no pod writes":                            {100, 100, []station.Customer{{}}, []float64{0}, 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := &station.Interval{Customers: c.customers}
			v.Counted[station.Write], v.InFlight[station.Write] = station.Flow{Operations: c.all, Bytes: 1e6}, 10
			tellFlushes(v, c.flushes, each)
			told := c.rest
			for i, want := range c.want {
				if got := v.Customers[i].Work[station.Flush].Operations; math.Abs(got-want) > 1e-9 {
					t.Errorf("pod %d: %v flushes, want %v", i, got, want)
				}
				told += want
			}
			if got := v.Counted[station.Flush].Operations; math.Abs(got-told) > 1e-9 || math.Abs(v.InFlight[station.Flush]-told*each) > 1e-9 {
				t.Errorf("the disk: %v flushes in flight for %v s, want %v", got, v.InFlight[station.Flush], told)
			}
		})
	}
}

// Whatever was counted: each operation is a write of data or a flush, and none is less than none.
func TestFlushesAndDataAddUpToWrites(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 1e6))
		v := &station.Interval{}
		for range rapid.IntRange(0, 4).Draw(t, "pods") {
			v.Customers = append(v.Customers, writing(math.Floor(amount.Draw(t, "operations")), amount.Draw(t, "size")))
		}
		v.Counted[station.Write], v.InFlight[station.Write] = station.Flow{Operations: math.Floor(amount.Draw(t, "all"))}, amount.Draw(t, "in flight")
		before := *v
		before.Customers = append([]station.Customer(nil), v.Customers...)
		tellFlushes(v, 1+amount.Draw(t, "flushes"), amount.Draw(t, "each"))
		check := func(what string, was, is station.Work) {
			data, flushes := is[station.Write].Operations, is[station.Flush].Operations
			if !(data >= 0 && flushes >= 0) || math.Abs(data+flushes-was[station.Write].Operations) > 1e-6*(1+data) {
				t.Fatalf("%s: %v writes are %v of data and %v flushes", what, was[station.Write].Operations, data, flushes)
			}
		}
		check("the disk", before.Counted, v.Counted)
		for i := range v.Customers {
			check("a pod", before.Customers[i].Work, v.Customers[i].Work)
		}
		if in := v.InFlight; !(in[station.Write] >= 0 && in[station.Flush] >= 0) || math.Abs(in[station.Write]+in[station.Flush]-before.InFlight[station.Write]) > 1e-6*(1+before.InFlight[station.Write]) {
			t.Fatalf("in flight: %v, before %v", in, before.InFlight)
		}
	})
}
