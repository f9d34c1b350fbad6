package trace

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestAnUnknownFormatIsAnErrorThatNamesTheKnownOnes(t *testing.T) {
	t.Parallel()
	const want = `trace: unknown format "xml"; the formats are csv, swf, openb`
	if _, err := readJobs("", Options{Format: "xml"}); err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
}

func TestSortedJobsComeByArrivalAndKeepTheirOrderWhereTheyArriveAtOnce(t *testing.T) {
	t.Parallel()
	const text = Version + "\njob,arrival,type\nc,2,t\na,1,t\nd,2,t\nb,1,t\ne,0,t\n"
	sorted, err := Sorted(Jobs("trace", strings.NewReader(text), Options{AllowUnsorted: true}))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // as often as one likes
		var names []string
		for job, err := range sorted {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, job.Name)
		}
		if want := []string{"e", "a", "b", "c", "d"}; !slices.Equal(names, want) {
			t.Errorf("names = %v, want %v", names, want)
		}
	}
	for job, err := range sorted {
		if err != nil || job.Name != "e" {
			t.Errorf("got %s, %v first, want e", job.Name, err)
		}
		break // early
	}
}

func TestSortingReturnsTheFirstErrorOfTheTrace(t *testing.T) {
	t.Parallel()
	const text = Version + "\narrival,type\n2,t\nx,t\n"
	sorted, err := Sorted(Jobs("trace", strings.NewReader(text), Options{AllowUnsorted: true}))
	var bad *Error
	if !errors.As(err, &bad) || bad.Line != 4 || bad.Column != "arrival" || bad.Value != "x" || sorted != nil {
		t.Errorf("error = %#v, want one for line 4, arrival, x, and no jobs", err)
	}
}

func TestReadingJobsMayStopEarlyInEveryFormat(t *testing.T) {
	t.Parallel()
	for format, text := range map[Format]string{
		CSV:   Version + "\narrival,type\n1,t\nbroken\n",
		SWF:   "1 1 -1 1 1 -1 -1 -1 -1 -1 1 -1 -1 -1 0 -1 -1 -1\nbroken\n",
		Openb: podHeader + "1,1,1,0,0,,LS,Running,1,20,15\nbroken\n",
	} {
		for job, err := range Jobs("trace", strings.NewReader(text), Options{Format: format}) {
			if err != nil || job.Name != "1" || job.Arrival != 1 {
				t.Errorf("%s: got %v, %v, want job 1", format, job, err)
			}
			break
		}
	}
}

func TestAnErrorOfTheInputIsPassedOnInEveryFormat(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk on fire")
	for _, format := range Formats() {
		var last error
		for _, err := range Jobs("trace", iotest.ErrReader(broken), Options{Format: format}) {
			last = err
		}
		if !errors.Is(last, broken) {
			t.Errorf("%s: error = %v, want %v", format, last, broken)
		}
	}
}

func TestNumbersAreReadInDecimalNotationOnly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"0": 0, "007": 7, "123456789012345": 123456789012345, "1234567890123456789": 1234567890123456789,
		"-1": -1, "0.1": 0.1, "1.": 1, "123456.789012345": 123456.789012345, "0.1234567890123456": 0.1234567890123456, "1e3": 1000, "-0": 0, "+2": 2, ".5": 0.5,
	} {
		if got := decimal(text); got != want || 1/got != 1/want {
			t.Errorf("decimal(%q) = %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"", "-", ".", "1.2.3", "1_000", "0x10", "0X1p2", "1,5", " 1", "1 ", "inf", "-Infinity", "NaN", "1e999", "½"} {
		if got := decimal(text); got == got {
			t.Errorf("decimal(%q) = %v, want NaN", text, got)
		}
	}
}

func TestResourceNamesAreDNSLabels(t *testing.T) {
	t.Parallel()
	got := map[string]bool{}
	for _, name := range []string{
		"cpu", "memory-bandwidth", "r1", strings.Repeat("a", 63),
		"", "CPU", "1r", "-a", "a-", "a.b", "a_b", "é", "cpu\n", strings.Repeat("a", 64),
	} {
		if resourceName.MatchString(name) {
			got[name] = true
		}
	}
	want := map[string]bool{"cpu": true, "memory-bandwidth": true, "r1": true, strings.Repeat("a", 63): true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names of resources differ (-want +got):\n%s", diff)
	}
}

func TestNumbersAreReadToTheLastBit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[0-9]{1,18}(\.[0-9]{0,18})?`).Draw(t, "number")
		want, err := strconv.ParseFloat(text, 64)
		if got := decimal(text); err != nil || got != want {
			t.Errorf("decimal(%q) = %v, want %v", text, got, want)
		}
	})
}

// Not in parallel: others would use memory, too.
func TestMemoryDoesNotGrowWithTheTrace(t *testing.T) {
	var before, after runtime.MemStats
	read := 0
	for _, err := range Jobs("trace", io.MultiReader(strings.NewReader(csvHeader), &rowsOfStrangers{}), Options{}) {
		if err != nil {
			t.Fatal(err)
		}
		switch read++; read {
		case 10_000:
			runtime.GC()
			runtime.ReadMemStats(&before)
		case 100_000:
			runtime.GC()
			runtime.ReadMemStats(&after)
		}
		if read == 100_000 {
			break
		}
	}
	// 90,000 names of some 40 bytes would be 3.6 MB.
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 1<<20 {
		t.Errorf("%d bytes more are in use after 100,000 jobs than after 10,000", grown)
	}
}

// rowsOfStrangers is an endless trace in which no name occurs twice.
type rowsOfStrangers struct {
	row  int
	rest string
}

func (r *rowsOfStrangers) Read(p []byte) (int, error) {
	if r.rest == "" {
		r.row++
		r.rest = fmt.Sprintf("job-%030d,etl/type-%030d,%d,10,5,1,5,1,1,,,node-%030d\n", r.row, r.row, r.row, r.row)
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}
