package station_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/model/station"
)

// rounding is what sums of products of a few numbers are off by at most, of their size.
const rounding = 1e-9

func TestServiceBetweenKnownSizes(t *testing.T) {
	t.Parallel()
	known := station.Service{{Bytes: 4096, Seconds: 1e-4, Spread: 1e-5}, {Bytes: 65536, Seconds: 2e-4, Spread: 2e-5}}
	for name, c := range map[string]struct {
		of                     station.Service
		bytes, seconds, spread float64
	}{
		"a known size":                    {known, 65536, 2e-4, 2e-5},
		"half way between two":            {known, (4096 + 65536) / 2, 1.5e-4, 1.5e-5},
		"a smaller one takes as long":     {known, 512, 1e-4, 1e-5},
		"a larger one, for its bytes":     {known, 2 * 65536, 2e-4 + 65536e-9, 2e-5},
		"none":                            {known, 0, 1e-4, 1e-5},
		"nothing is known":                {nil, 4096, 0, 0},
		"one size is known, of twice it":  {known[:1], 8192, 1e-4 + 4096e-9, 1e-5},
		"the same size is known twice":    {station.Service{known[0], known[0]}, 4096, 1e-4, 1e-5},
		"larger than a size known twice":  {station.Service{known[0], known[0]}, 8192, 1e-4 + 4096e-9, 1e-5},
		"a service that needs no time":    {station.Service{{Bytes: 4096}}, 1 << 20, (1<<20 - 4096) * 1e-9, 0},
		"between sizes of equal services": {station.Service{{Bytes: 1, Seconds: 3}, {Bytes: 3, Seconds: 3}}, 2, 3, 0},
	} {
		seconds, spread := c.of.At(c.bytes, 1e-9)
		if math.Abs(seconds-c.seconds) > rounding*c.seconds || math.Abs(spread-c.spread) > rounding*c.spread {
			t.Errorf("%s: got %v ± %v, want %v ± %v", name, seconds, spread, c.seconds, c.spread)
		}
	}
}

// reads is a flow of reads of 4 KiB.
func reads(operations float64) station.Customer {
	return station.Customer{Work: station.Work{station.Read: {Operations: operations, Bytes: 4096 * operations}}}
}

// ofReads is an interval of ten seconds of a device of which a read takes a millisecond, and in which one took the given seconds on average.
func ofReads(each float64, customers ...station.Customer) *station.Interval {
	v := &station.Interval{Seconds: 10, Busy: 10, Customers: customers}
	v.Quiet[station.Read] = station.Service{{Bytes: 4096, Seconds: 1e-3, Spread: 1e-5}}
	for _, w := range customers {
		v.Counted[station.Read].Operations += w.Work[station.Read].Operations
		v.Counted[station.Read].Bytes += w.Work[station.Read].Bytes
	}
	v.InFlight[station.Read] = v.Counted[station.Read].Operations * each
	return v
}

func within(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= rounding*max(1, math.Abs(want))) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// Two that read one at a time without a pause take turns, the oldest example: each waits for the other as long as it is served.
func TestTwoThatTakeTurnsWaitForEachOther(t *testing.T) {
	t.Parallel()
	s := station.New(ofReads(2e-3, reads(5000), reads(5000)))
	for i := range 2 {
		stay := s.Stay(i)
		within(t, "service", stay.Service, 5)
		within(t, "waiting for the other", stay.Others, 5)
		within(t, "waiting for its own", stay.Own, 0)
		within(t, "share of the other", s.Share(i, 1-i), 1)
		within(t, "share of itself", s.Share(i, i), 0)
		within(t, "share of the rest", s.Share(i, s.Rest()), 0)
		for _, ofEach := range []bool{false, true} {
			within(t, "part of the blocked time", station.Divide([]station.Stay{stay}, 10, ofEach).Others[0], 0.5)
		}
	}
}

// One that has 32 operations in flight and another one with one at a time: 33 in the queue.
func TestWaitingForItsOwnIsNoNeighboursDoing(t *testing.T) {
	t.Parallel()
	s := station.New(ofReads(33e-3, reads(320000/33.0), reads(10000/33.0)))
	many, one := s.Stay(0), s.Stay(1)
	within(t, "of the first for the other, of all that it waits", many.Others/(many.Own+many.Others), 1.0/32)
	within(t, "of the second for its own", one.Own, 0)
	within(t, "of the second for the other", one.Others, 32*one.Service)
}

func TestAloneThereIsNoWaitingForOthers(t *testing.T) {
	t.Parallel()
	s := station.New(ofReads(32e-3, reads(10000)))
	if stay := s.Stay(0); stay.Others != 0 || s.Share(0, s.Rest()) != 0 {
		t.Errorf("%+v, of which the rest has %v", stay, s.Share(0, s.Rest()))
	}
}

// A copy beside a log: the mean of the sizes is that of no operation, and the mean of what operations take is below what one of the mean size takes
// on the quiet device.
func TestFewLargeOperationsAmongManySmallOnesTakeAsLongAsTheyDo(t *testing.T) {
	t.Parallel()
	const small, large = 1e-4, 8e-3 // of 4 KiB, and of 2 MiB
	v := &station.Interval{Seconds: 10, Busy: 10, Customers: []station.Customer{
		{Work: station.Work{station.Write: {Operations: 9000, Bytes: 9000 * 4096}}},
		{Work: station.Work{station.Write: {Operations: 600, Bytes: 600 * (2 << 20)}}},
	}}
	v.Quiet[station.Write] = station.Service{{Bytes: 4096, Seconds: small}, {Bytes: 2 << 20, Seconds: large}}
	v.Counted[station.Write] = station.Flow{Operations: 9600, Bytes: 9000*4096 + 600*(2<<20)}
	const quiet = 9000*small + 600*large
	v.InFlight[station.Write] = quiet
	if stay := station.New(v).Stay(0); stay.Others > rounding {
		t.Errorf("nothing waits: %+v", stay)
	}
	v.InFlight[station.Write] = quiet + 4
	s := station.New(v)
	one, other := s.Stay(0), s.Stay(1)
	within(t, "all that waits", one.Own+one.Others+other.Own+other.Others, 4)
	within(t, "service of the small ones", one.Service, 0.9)
	if one.Others < 3 {
		t.Errorf("the small ones wait for %v s, and are most of the operations", one.Others)
	}
}

// Large reads of which only a bound is known, and more of which are not known at all.
func TestAnOperationTakesNoLongerThanItsBound(t *testing.T) {
	t.Parallel()
	const size, most = 4 << 20, 6e-3
	v := ofReads(1e-3, reads(1000), station.Customer{Work: station.Work{station.Read: {Operations: 100, Bytes: 100 * size}}})
	v.InFlight[station.Read] = 20
	v.Bounds[station.Read] = station.Service{{Bytes: size, Seconds: most}}
	within(t, "service of the large ones", station.New(v).Stay(1).Service, 100*most)
	v.Bounds[station.Read][0].Bytes = size / 2
	within(t, "of twice the size of which a bound is known", station.New(v).Stay(1).Service, 2*100*most)
	v.Bounds[station.Read] = nil
	perByte := v.Busy / v.Counted[station.Read].Bytes
	within(t, "by the bytes that the device moved while it was busy", station.New(v).Stay(1).Service, 100*(1e-3+(size-4096)*perByte))
}

// A device that is faster than it was known serves all in the time for which they were in flight.
func TestNothingIsServedForLongerThanItWasInFlight(t *testing.T) {
	t.Parallel()
	s := station.New(ofReads(5e-4, reads(4000), reads(2000)))
	for i, want := range []float64{2, 1} {
		if stay := s.Stay(i); stay.Others != 0 || stay.Own != 0 {
			t.Errorf("it waits: %+v", stay)
		} else {
			within(t, "service", stay.Service, want)
		}
	}
}

// A log that empties the cache of the device after each write, beside writes that do not wait for that: these wait behind it.
func TestFlushesAreOperationsOfTheirOwn(t *testing.T) {
	t.Parallel()
	v := &station.Interval{Seconds: 10, Busy: 10, Customers: []station.Customer{
		{Work: station.Work{station.Write: {Operations: 5000, Bytes: 5000 * 4096}, station.Flush: {Operations: 5000, Bytes: 5000 * 4096}}},
		{Work: station.Work{station.Write: {Operations: 10000, Bytes: 10000 * 4096}}},
	}}
	v.Quiet[station.Write] = station.Service{{Bytes: 4096, Seconds: 1e-4}}
	v.Quiet[station.Flush] = station.Service{{Bytes: 4096, Seconds: 1e-3}}
	for _, c := range v.Customers {
		for d := range v.Counted {
			v.Counted[d].Operations += c.Work[d].Operations
			v.Counted[d].Bytes += c.Work[d].Bytes
		}
	}
	v.InFlight[station.Write], v.InFlight[station.Flush] = 15000*4e-4, 5000*1e-3
	s := station.New(v)
	log, other := s.Stay(0), s.Stay(1)
	within(t, "service of the log", log.Service, 5000*1.1e-3)
	within(t, "service of the other", other.Service, 1)
	if other.Others < 2 || log.Others > other.Others {
		t.Errorf("the log waits for %+v, the other for %+v", log, other)
	}
}

func TestWhatNoCustomerDidIsTheRest(t *testing.T) {
	t.Parallel()
	v := ofReads(2e-3, reads(5000))
	v.Counted[station.Read].Operations *= 2
	v.Counted[station.Read].Bytes *= 2
	v.InFlight[station.Read] *= 2
	s := station.New(v)
	within(t, "waiting", s.Stay(0).Others, 5)
	within(t, "share of the rest", s.Share(0, s.Rest()), 1)
}

func TestWithinTheSpreadOfQuietIntervalsNothingWaits(t *testing.T) {
	t.Parallel()
	for each, waits := range map[float64]bool{0.9e-3: false, 1e-3: false, 1.029e-3: false, 1.031e-3: true} {
		if stay := station.New(ofReads(each, reads(100), reads(100))).Stay(0); stay.Others > 0 != waits {
			t.Errorf("an operation takes %v s: %+v", each, stay)
		}
	}
}

// A single operation in ten seconds cannot be what thousands wait for.
func TestWaitingIsNoLongerThanTheOthersAreServed(t *testing.T) {
	t.Parallel()
	v := ofReads(2e-3, reads(4000), reads(1))
	v.Busy = 4
	within(t, "waiting", station.New(v).Stay(0).Others, 1e-3)
	v.Busy = 8.002 // it takes twice as long as on the quiet device
	within(t, "waiting for a device that is slower", station.New(v).Stay(0).Others, 2e-3)
}

// Writes of which no service is known weigh as reads do, and explain no waiting of their own.
func TestReadersWaitForWritesOfWhichNoServiceIsKnown(t *testing.T) {
	t.Parallel()
	v := ofReads(5e-3, reads(1000))
	v.Customers = append(v.Customers, station.Customer{Work: station.Work{station.Write: {Operations: 4000, Bytes: 4000 * 4096}}})
	v.Counted[station.Write], v.InFlight[station.Write] = v.Customers[1].Work[station.Write], 40
	s := station.New(v)
	within(t, "waiting of the reader", s.Stay(0).Others, 4)
	within(t, "share of the writer", s.Share(0, 1), 1)
	if stay := s.Stay(1); stay != (station.Stay{}) {
		t.Errorf("the writer: %+v", stay)
	}
}

func TestPartsOfTheBlockedTime(t *testing.T) {
	t.Parallel()
	stay := station.Stay{Service: 1, Own: 1, Others: 2}
	for name, c := range map[string]struct {
		stays   []station.Stay
		blocked float64
		ofEach  bool
		want    station.Parts
	}{
		"as long as the stay":                 {[]station.Stay{stay}, 4, true, station.Parts{Service: 0.25, Own: 0.25, Others: []float64{0.5}}},
		"longer: the rest is not explained":   {[]station.Stay{stay}, 8, true, station.Parts{Service: 0.125, Own: 0.125, Others: []float64{0.25}}},
		"several at once, which count as one": {[]station.Stay{stay}, 1, false, station.Parts{Service: 0.25, Own: 0.25, Others: []float64{0.5}}},
		"shorter, and each takes its service": {[]station.Stay{stay}, 1.5, true, station.Parts{Service: 2.0 / 3, Own: 1.0 / 3 / 3, Others: []float64{2.0 / 3 / 3}}},
		"as long as the service":              {[]station.Stay{stay}, 1, true, station.Parts{Service: 1, Others: []float64{0}}},
		"shorter than the service":            {[]station.Stay{stay}, 0.5, true, station.Parts{Service: 1, Others: []float64{0}}},
		"at two devices":                      {[]station.Stay{stay, {Service: 2, Others: 2}}, 8, true, station.Parts{Service: 0.375, Own: 0.125, Others: []float64{0.25, 0.25}}},
		"never blocked":                       {[]station.Stay{stay}, 0, true, station.Parts{Others: []float64{0}}},
		"no stay":                             {nil, 8, true, station.Parts{Others: []float64{}}},
		"only for its own":                    {[]station.Stay{{Service: 1, Own: 3}}, 8, true, station.Parts{Service: 0.125, Own: 0.375, Others: []float64{0}}},
		"without waiting":                     {[]station.Stay{{Service: 1}}, 8, false, station.Parts{Service: 0.125, Others: []float64{0}}},
	} {
		got := station.Divide(c.stays, c.blocked, c.ofEach)
		if diff := cmp.Diff(c.want, got, cmpopts.EquateApprox(0, rounding)); diff != "" {
			t.Errorf("%s: unexpected parts (-want +got):\n%s", name, diff)
		}
	}
}

// Whatever a device counts: what is added up is what was divided, and nothing is less than none or no number.
func TestPartsAddUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.OneOf(rapid.Just(0.0), rapid.Just(1.0), rapid.Float64Range(0, 1e5), rapid.Float64Range(0, 1e15))
		work := rapid.Custom(func(t *rapid.T) (w station.Work) {
			for d := range w {
				w[d] = station.Flow{Operations: math.Floor(amount.Draw(t, "operations")), Bytes: amount.Draw(t, "bytes")}
			}
			return w
		})
		customer := rapid.Custom(func(t *rapid.T) station.Customer {
			return station.Customer{Work: work.Draw(t, "work"), Threads: amount.Draw(t, "threads")}
		})
		v := &station.Interval{
			Seconds: rapid.Float64Range(1e-3, 1e4).Draw(t, "seconds"), Busy: amount.Draw(t, "busy"), Counted: work.Draw(t, "counted"),
			Customers: rapid.SliceOfN(customer, 0, 5).Draw(t, "customers"),
		}
		if len(v.Customers) > 1 && rapid.Bool().Draw(t, "all the same") {
			for i := range v.Customers {
				v.Customers[i] = v.Customers[0]
			}
		}
		for d := range v.Quiet {
			v.InFlight[d] = amount.Draw(t, "in flight")
			for bytes := 4096.0; bytes < 1<<20 && rapid.Bool().Draw(t, "known"); bytes *= 2 {
				v.Quiet[d] = append(v.Quiet[d], station.Size{Bytes: bytes, Seconds: amount.Draw(t, "service"), Spread: amount.Draw(t, "spread")})
			}
		}
		s := station.New(v)
		for i := range s.Rest() + 1 {
			stay := s.Stay(i)
			for _, part := range []float64{stay.Service, stay.Own, stay.Others} {
				if !(part >= 0) || math.IsInf(part, 0) {
					t.Fatalf("customer %d: %+v", i, stay)
				}
			}
			shares := 0.0
			for k := range s.Rest() + 1 {
				share := s.Share(i, k)
				if !(share >= 0 && share <= 1) {
					t.Fatalf("share of %d in the waiting of %d: %v", k, i, share)
				}
				shares += share
			}
			if stay.Others > 0 && math.Abs(shares-1) > 1e-3 { // work of a customer that has nearly all is what rounding leaves of the difference
				t.Fatalf("customer %d waits for others, of which the shares add up to %v", i, shares)
			}
			for _, ofEach := range []bool{false, true} {
				parts := station.Divide([]station.Stay{stay, stay}, amount.Draw(t, "blocked"), ofEach)
				sum := parts.Service + parts.Own + parts.Others[0] + parts.Others[1]
				if !(parts.Service >= 0 && parts.Own >= 0 && parts.Others[0] >= 0 && sum <= 1+rounding) {
					t.Fatalf("customer %d: %+v makes parts %+v", i, stay, parts)
				}
			}
		}
	})
}
