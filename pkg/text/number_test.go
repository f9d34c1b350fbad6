package text

import (
	"math"
	"testing"
	"time"
)

func TestNumbersAreWrittenAsPeopleReadThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{Times(1.18), "1.18×"},
		{Times(1234.5), "1,234.50×"},
		{TimesWithin(1.42, new(0.05)), "1.42 ± 0.05×"},
		{TimesWithin(1.42, nil), "1.42×"},
		{Times(math.NaN()), "-"},

		{Percent(0.95), "95.0%"},
		{Percent(1), "100.0%"},
		{Percent(0), "0.0%"},
		{Percent(0.9999), "99.99%"},
		{Percent(0.99951), "99.95%"},
		{Percent(0.00001), "0.001%"},
		{Percent(1 - 1e-12), "99.9999%"},
		{Percent(1e-12), "0.0001%"},
		{Percent(-1e-12), "-0.0001%"},
		{Percent(-0.25), "-25.0%"},
		{Percent(math.Inf(1)), "-"},

		{Seconds(290.56, 2), "290.56s"},
		{Seconds(781204.04, 1), "781,204.0s"},
		{Seconds(-0.001, 2), "0.00s"},
		{Seconds(math.NaN(), 1), "-"},

		{Count(0), "0"},
		{Count(999), "999"},
		{Count(88120), "88,120"},
		{Count(-1234567), "-1,234,567"},
		{Count(math.MinInt64), "-9,223,372,036,854,775,808"},

		{Value(0), "0.00"},
		{Value(1.314), "1.31"},
		{Value(41.24), "41.2"},
		{Value(181.44), "181.4"},
		{Value(12345.6), "12,346"},
		{Value(0.00123456), "0.00123"},
		{Value(-3.5), "-3.50"},
		{Value(2.5e20), "2.50e+20"},
		{Value(math.NaN()), "-"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestDurationsAreWrittenInTheUnitOfTheirSize(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for d, want := range map[time.Duration]string{
		0:                                    "0µs",
		350 * time.Microsecond:               "350µs",
		999600 * time.Nanosecond:             "1ms",
		12 * time.Millisecond:                "12ms",
		999700 * time.Microsecond:            "1.0s",
		78080 * time.Millisecond:             "78.1s",
		599940 * time.Millisecond:            "599.9s",
		599960 * time.Millisecond:            "10m 00s",
		13*time.Minute + 5*time.Second:       "13m 05s",
		time.Hour - time.Millisecond:         "1h 00m",
		4*time.Hour + 12*time.Minute:         "4h 12m",
		day - time.Second:                    "1d 00:00",
		6*day + 4*time.Hour + 12*time.Minute: "6d 04:12",
		-90 * time.Second:                    "-90.0s",
		math.MinInt64:                        "-106751d 23:47",
	} {
		if got := Elapsed(d); got != want {
			t.Errorf("Elapsed(%d) = %q, want %q", int64(d), got, want)
		}
	}
}

func TestElapsedSecondsAreDurationsAsFarAsThoseReach(t *testing.T) {
	t.Parallel()
	for seconds, want := range map[float64]string{0.012: "12ms", 78.1: "78.1s", 1e10: "10,000,000,000s", math.Inf(1): Absent, math.NaN(): Absent} {
		if got := ElapsedSeconds(seconds); got != want {
			t.Errorf("ElapsedSeconds(%v) = %q, want %q", seconds, got, want)
		}
	}
}
