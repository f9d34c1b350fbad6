package serverclock

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/utils/clock"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"
)

// server is an API server whose clock is not that of this machine.
type server struct {
	ahead  time.Duration
	noDate bool
	slow   func()
}

// world is a clock on a machine that asks a server.
type world struct {
	*Clock

	machine  *clocktesting.FakeClock
	server   *server
	registry *prometheus.Registry
	client   *http.Client
	url      string
}

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{machine: clocktesting.NewFakeClock(noon), server: &server{}, registry: prometheus.NewRegistry()}
	truth := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) {
		if w.server.slow != nil {
			w.server.slow()
		}
		answer.Header()["Date"] = nil
		if !w.server.noDate {
			answer.Header().Set("Date", w.machine.Now().Add(w.server.ahead).UTC().Format(http.TimeFormat))
		}
	}))
	t.Cleanup(truth.Close)
	w.Clock = New(w.machine, w.registry, logr.Discard())
	w.client, w.url = &http.Client{Transport: w.Wrap(http.DefaultTransport)}, truth.URL
	return w
}

// ask sends a request that the API server answers itself.
func (w *world) ask(t *testing.T) {
	t.Helper()
	w.askAt(t, "/api/v1/nodes")
}

func (w *world) askAt(t *testing.T, path string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := w.client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatal(err)
	}
}

// off returns by how much the clock is ahead of the API server's.
func (w *world) off() time.Duration { return w.Now().Sub(w.machine.Now().Add(w.server.ahead)) }

func TestAClockThatIsOffShowsTheTimeOfTheAPIServer(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{time.Hour, -time.Hour, 10 * time.Second, -10 * time.Second, 3650 * 24 * time.Hour} {
		w := newWorld(t)
		w.server.ahead = ahead
		w.ask(t)
		if w.off().Abs() > time.Second {
			t.Errorf("%v ahead: the clock is off by %v", ahead, w.off())
		}
		if age := w.Since(w.machine.Now().Add(ahead - time.Minute)); (age - time.Minute).Abs() > time.Second {
			t.Errorf("%v ahead: what the API server wrote a minute ago is %v old", ahead, age)
		}
	}
}

func TestAClockThatIsRightIsLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, ahead := range []time.Duration{0, 900 * time.Millisecond, -900 * time.Millisecond, 2 * time.Second} {
		w.server.ahead = ahead
		for range 10 { // wherever in a second that is
			w.machine.Step(137 * time.Millisecond)
			w.ask(t)
			if !w.Now().Equal(w.machine.Now()) {
				t.Fatalf("%v ahead: the clock was set by %v", ahead, w.Now().Sub(w.machine.Now()))
			}
		}
	}
}

func TestAClockThatIsSetIsFollowedBothWays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ask(t)
	for _, ahead := range []time.Duration{time.Hour, -time.Hour, 0} { // as if the machine's clock had been set
		w.server.ahead = ahead
		w.ask(t)
		if w.off().Abs() > time.Second {
			t.Errorf("set to %v: the clock is off by %v", ahead, w.off())
		}
	}
	if !w.Now().Equal(w.machine.Now()) {
		t.Errorf("the machine's clock is right again, and the offset is %v", w.Now().Sub(w.machine.Now()))
	}
}

func TestAnswersThatTellNoTimeAreNotBelieved(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.server.ahead, w.server.noDate = time.Hour, true
	w.ask(t)
	if !w.Now().Equal(w.machine.Now()) {
		t.Error("an answer without a date set the clock")
	}
	// The machine's clock is set back while the request is under way.
	w.server.noDate, w.server.ahead = false, 0
	w.server.slow = func() { w.machine.SetTime(noon.Add(-time.Hour)) }
	w.ask(t)
	if !w.Now().Equal(w.machine.Now()) {
		t.Errorf("a request during which the clock was set moved it by %v", w.Now().Sub(w.machine.Now()))
	}
	// One that took a minute may have been dated at any time of it.
	w.server.slow = func() { w.machine.Step(time.Minute) }
	w.server.ahead = -30 * time.Second
	w.ask(t)
	if !w.Now().Equal(w.machine.Now()) {
		t.Errorf("an answer that may be right moved the clock by %v", w.Now().Sub(w.machine.Now()))
	}
}

// A server to which the API server passes a request on dates its answer by another clock.
func TestOnlyWhatTheAPIServerAnswersItselfSetsTheClock(t *testing.T) {
	t.Parallel()
	for path, itself := range map[string]bool{
		"/api/v1/namespaces/shop/pods":                              true,
		"/apis/loadline.dev/v1alpha1/workloadprofiles":              true,
		"/apis/coordination.k8s.io/v1/namespaces/a/leases/manager":  true,
		"/k8s/clusters/one/api/v1/nodes":                            true,
		"/apis/metrics.k8s.io/v1beta1/nodes":                        false,
		"/apis/example.com/v1/namespaces/shop/things/cart/scale":    false,
		"/api/v1/namespaces/shop/pods/cart/proxy/metrics":           false,
		"/api/v1/nodes/worker-1/proxy/apis/loadline.dev/v1alpha1/x": false,
	} {
		w := newWorld(t)
		w.server.ahead = time.Hour
		w.askAt(t, path)
		if set := !w.Now().Equal(w.machine.Now()); set != itself {
			t.Errorf("%s: it set the clock: %t", path, set)
		}
	}
}

// The monotonic reading goes on where the machine's clock is set, so that it would make what is an hour between two of its times twice that.
func TestATimeThatWasSetHasNoMonotonicReading(t *testing.T) {
	t.Parallel()
	c := New(clock.RealClock{}, prometheus.NewRegistry(), logr.Discard())
	for _, offset := range []time.Duration{0, time.Hour} {
		c.offset.Store(int64(offset))
		if now := c.Now(); strings.Contains(now.String(), " m=") != (offset == 0) {
			t.Errorf("an offset of %v: %v", offset, now)
		}
	}
}

func TestRequestsThatFailAreLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:1", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if response, err := w.client.Do(request); err == nil {
		t.Error(response.Body.Close(), "nothing listens there")
	}
}

// Whatever the delay and wherever in a second, the clock is off by at most three seconds and the delay.
func TestTheClockIsNearThatOfTheAPIServer(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		c := New(clocktesting.NewFakeClock(noon), prometheus.NewRegistry(), logr.Discard())
		ahead := time.Duration(rapid.Int64Range(-int64(48*time.Hour), int64(48*time.Hour)).Draw(t, "ahead"))
		sent := noon
		for range rapid.IntRange(1, 5).Draw(t, "answers") {
			delays := rapid.SliceOfN(rapid.Int64Range(0, int64(3*time.Second)), 2, 2).Draw(t, "delays")
			written := sent.Add(time.Duration(delays[0]))
			received := written.Add(time.Duration(delays[1]))
			c.observe(written.Add(ahead).Truncate(time.Second), sent, received)
			if off := (c.behind() - ahead).Abs(); off > slack+time.Second+received.Sub(sent) {
				t.Fatalf("off by %v after a delay of %v", off, received.Sub(sent))
			}
			sent = received
		}
	})
}

func TestTheOffsetIsAMetric(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.server.ahead = -time.Hour
	w.ask(t)
	want := "# TYPE loadline_clock_offset_seconds gauge\nloadline_clock_offset_seconds -3599.5\n"
	help := "# HELP loadline_clock_offset_seconds By how much the API server's clock is ahead of that of the manager's machine; 0 if they are less than two seconds apart. The manager goes by that of the API server.\n"
	if err := testutil.GatherAndCompare(w.registry, strings.NewReader(help+want)); err != nil {
		t.Error(err)
	}
}
