// Package serverclock shows the time of the API server.
//
// Controllers compare what time it is with times in objects: when the API server created a pod, when another replica of the manager
// began a step. If the clock of the machine that a manager runs on is off by an hour, it would wait for that long, give up what has just
// begun, or take a new pod for an old one. So it goes by one clock, which each answer of the API server tells.
package serverclock

import (
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/utils/clock"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
)

// slack is how far apart the clocks may be without a correction. The date of an answer is in whole seconds.
const slack = 2 * time.Second

// Clock is the machine's clock, set to that of the API server where they are more than two seconds apart. Its zero value is not
// usable. It may be used by several goroutines at once.
type Clock struct {
	clock.WithTicker // the machine's

	offset atomic.Int64 // of the API server's from the machine's, in nanoseconds
	log    logr.Logger
}

// New returns a clock that is the machine's until [Clock.Wrap] has seen an answer. Its offset is a metric of the registry.
func New(machine clock.WithTicker, registry prometheus.Registerer, log logr.Logger) *Clock {
	c := &Clock{WithTicker: machine, log: log}
	promauto.With(registry).NewGaugeFunc(prometheus.GaugeOpts{
		Name: "loadline_clock_offset_seconds",
		Help: "By how much the API server's clock is ahead of that of the manager's machine; 0 if they are less than two seconds apart. The manager goes by that of the API server.",
	}, func() float64 { return c.behind().Seconds() })
	return c
}

// Now returns the time of the API server. Where that is not the machine's, it has no monotonic reading: times from before the machine's
// clock was set, and from after that, are compared as what they show.
func (c *Clock) Now() time.Time {
	now, behind := c.WithTicker.Now(), c.behind()
	if behind == 0 {
		return now
	}
	return now.Round(0).Add(behind)
}

// Since returns how long ago that was, by the API server's time.
func (c *Clock) Since(t time.Time) time.Duration { return c.Now().Sub(t) }

// behind returns by how much the machine's clock is behind.
func (c *Clock) behind() time.Duration { return time.Duration(c.offset.Load()) }

// Wrap returns a transport that reads the time in each answer. It is for the requests to the API server.
func (c *Clock) Wrap(transport http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		sent := c.WithTicker.Now()
		response, err := transport.RoundTrip(request)
		if err != nil {
			return nil, err
		}
		if date, err := http.ParseTime(response.Header.Get("Date")); err == nil && answersItself(request.URL.Path) { // none says nothing
			c.observe(date, sent, c.WithTicker.Now())
		}
		return response, nil
	})
}

// answersItself reports whether the API server answers at a path itself: what it passes on to an aggregated API, a pod or a node is dated
// there.
func answersItself(path string) bool {
	if strings.Contains(path, "/proxy") {
		return false
	}
	for _, api := range []string{"/api/v1/", "/apis/" + v1alpha1.GroupVersion.Group + "/", "/apis/" + coordinationv1.GroupName + "/"} {
		if strings.Contains(path, api) { // there may be a prefix, as at a gateway
			return true
		}
	}
	return false
}

// observe takes in the date of an answer, and when the request was sent and the answer received by the machine's clock. The date was
// written between these, and is of a whole second: that bounds the offset from both sides.
func (c *Clock) observe(date, sent, received time.Time) {
	sent, received = sent.Round(0), received.Round(0) // as the clock shows, whatever time has passed
	least, most := date.Sub(received), date.Add(time.Second).Sub(sent)
	now := c.behind()
	if most < least || least-slack <= now && now <= most+slack { // the clock was set meanwhile; or they agree
		return
	}
	next := least + (most-least)/2
	if next.Abs() <= slack {
		next = 0
	}
	if c.offset.CompareAndSwap(int64(now), int64(next)) {
		c.log.Info("The clock of this machine and that of the API server differ; times are by that of the API server", "offset", next)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }
