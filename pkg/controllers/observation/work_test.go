package observation

import (
	"fmt"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/gauge/collect"
)

// counting is a site whose pods serve their work counter.
type counting struct {
	*site

	count, asked atomic.Int64
}

// newCounting returns a site with the pods of cart at the address of a server of their counters.
func newCounting(t *testing.T, change func(*corev1.Pod)) *counting {
	t.Helper()
	c := &counting{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.asked.Add(1)
		if r.URL.Path == "/api/v1/query" {
			fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[{"metric":{"pod":"cart-1"},"value":[1,"%d"]},{"metric":{"pod":"cart-2"},"value":[1,"%[1]d"]}]}}`, c.count.Load())
			return
		}
		fmt.Fprintf(w, "requests_total{code=\"200\"} %d\nrequests_total{code=\"500\"} 7\n", c.count.Load())
	}))
	t.Cleanup(server.Close)
	host, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.ParseInt(port, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	profile := declared("0.58")
	profile.Spec.Work = &v1alpha1.Work{Unit: "request", Metrics: &v1alpha1.WorkMetrics{
		Port:        new(int32(number)),
		WorkCounter: v1alpha1.WorkCounter{Name: "requests_total", MatchLabels: []v1alpha1.WorkLabel{{Name: "code", Value: "200"}}},
	}}
	c.site = newSite(t, profile, fast())
	c.Work = &WorkReader{Clock: c.clock, Log: logr.Discard(), Readable: func(ip string) bool { return ip == host }}
	for _, name := range []string{"cart-1", "cart-2"} {
		p := &corev1.Pod{}
		if err := c.Client.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: name}, p); err != nil {
			t.Fatal(err)
		}
		p.Status.PodIP = host
		change(p)
		ip := p.Status.PodIP
		if err := c.Client.Update(t.Context(), p); err != nil {
			t.Fatal(err)
		}
		p.Status.PodIP = ip
		if err := c.Client.Status().Update(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// minutes collects and reads for some minutes, in which each pod serves a number of requests a second.
func (c *counting) minutes(t *testing.T, minutes int, rate int64) {
	t.Helper()
	for range minutes {
		for range 2 {
			c.count.Add(rate * int64(collect.Period.Seconds()))
			before := c.profile(t).ResourceVersion
			c.round(t)
			c.Work.read(t.Context())
			if c.profile(t).ResourceVersion != before {
				c.writes++
			}
		}
	}
}

// condition returns the condition WorkObserved in words.
func (c *counting) condition(t *testing.T) string {
	t.Helper()
	return inWords(c.profile(t), v1alpha1.ConditionWorkObserved)
}

func TestHowMuchSlowerUnitsAreServedIsInTheStatus(t *testing.T) {
	t.Parallel()
	c := newCounting(t, func(*corev1.Pod) {})
	c.minutes(t, 5, 100)
	if got := c.condition(t); !strings.HasPrefix(got, "False TooShort: ") {
		t.Errorf("after five minutes: %s", got)
	}
	c.minutes(t, 35, 100)
	if got := c.condition(t); !strings.HasPrefix(got, "True Read: ") {
		t.Fatalf("after forty minutes: %s", got)
	}
	o := c.profile(t).Status.Work
	if len(o) != 1 || o[0].NodeProfile != "fast" || *o[0].Pods != 2 || o[0].Inflation == nil || math.Abs(o[0].Inflation.Value.AsApproximateFloat64()-1) > 0.01 {
		t.Fatalf("%+v", o)
	}
	if got := o[0].Quiet.Value.AsApproximateFloat64(); math.Abs(got-0.00585) > 0.0001 { // 0.585 processors for 100 requests a second
		t.Errorf("a request takes %v CPU seconds", got)
	}
	c.writes = 0
	c.minutes(t, 10, 100)
	if c.writes > 1 {
		t.Errorf("%d writes in ten minutes in which nothing changed", c.writes)
	}
	c.loading.Store(760) // and as many requests
	c.minutes(t, 9, 100)
	if got := c.profile(t).Status.Work[0]; math.Abs(got.Inflation.Value.AsApproximateFloat64()-1.3) > 0.03 || got.Neighbours.Reason == v1alpha1.NeighboursNamed {
		t.Errorf("%+v", got)
	}
}

// A manager that begins anew knows what was quiet from the status, though units have taken longer ever since.
func TestAManagerThatBeginsAnewKnowsWhatWasQuiet(t *testing.T) {
	t.Parallel()
	c := newCounting(t, func(*corev1.Pod) {})
	c.minutes(t, 40, 100)
	c.Work = &WorkReader{Clock: c.clock, Log: logr.Discard(), Readable: c.Work.Readable}
	c.loading.Store(760) // for as many requests
	c.minutes(t, 25, 100)
	o := c.profile(t).Status.Work[0]
	if math.Abs(o.Inflation.Value.AsApproximateFloat64()-1.3) > 0.03 || math.Abs(o.Quiet.Value.AsApproximateFloat64()-0.00585) > 0.0001 || *o.Minutes < 45 {
		t.Errorf("by %d minutes: %+v", *o.Minutes, o)
	}
	if got := c.condition(t); !strings.HasPrefix(got, "True Read: ") {
		t.Error(got)
	}
}

func TestPodsInTheNetworkOfTheirNodeAreNotRead(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*corev1.Pod){
		"in the network of its node": func(p *corev1.Pod) { p.Spec.HostNetwork = true },
		"no address":                 func(p *corev1.Pod) { p.Status.PodIP = "169.254.169.254" },
	} {
		c := newCounting(t, change)
		c.minutes(t, 3, 100)
		if got := c.condition(t); !strings.HasPrefix(got, "False Unreadable: ") || !strings.Contains(got, want) || c.asked.Load() > 0 {
			t.Errorf("%s; asked %d times", got, c.asked.Load())
		}
	}
}

func TestOnlyAddressesOfPodsAreAsked(t *testing.T) {
	t.Parallel()
	for ip, want := range map[string]bool{
		"10.0.0.7": true, "fd00::7": true, "127.0.0.1": false, "::1": false, "169.254.169.254": false, "fe80::1%eth0": false, "224.0.0.1": false, "0.0.0.0": false,
		"": false, "example.com": false, "10.0.0.7:80": false, "::ffff:127.0.0.1": false,
	} {
		if got := routable(ip); got != want {
			t.Errorf("%q: %v", ip, got)
		}
	}
}

func TestCountersAreReadFromThePrometheusOfTheManager(t *testing.T) {
	t.Parallel()
	c := newCounting(t, func(*corev1.Pod) {})
	p := c.profile(t)
	port := *p.Spec.Work.Metrics.Port
	p.Spec.Work.Prometheus, p.Spec.Work.Metrics = &p.Spec.Work.Metrics.WorkCounter, nil
	if err := c.Client.Update(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	c.minutes(t, 3, 100)
	if got := c.condition(t); !strings.HasPrefix(got, "False NoPrometheus: ") {
		t.Errorf("got %s", got)
	}
	c.Work.Prometheus = fmt.Sprintf("http://127.0.0.1:%d", port)
	c.minutes(t, 25, 100)
	if got := c.condition(t); !strings.HasPrefix(got, "True Read: ") {
		t.Errorf("got %s", got)
	}
	p = c.profile(t)
	p.Spec.Work = nil
	if err := c.Client.Update(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	c.minutes(t, 3, 100)
	if got := c.condition(t); got != "" || len(c.profile(t).Status.Work) > 0 {
		t.Errorf("without a counter: %s", got)
	}
}

func TestANamespaceHasABoundedNumberOfCountersRead(t *testing.T) {
	t.Parallel()
	w := &WorkReader{}
	var profiles []v1alpha1.WorkloadProfile
	for n := range 1000 {
		namespace := "greedy"
		if n%100 == 0 {
			namespace = fmt.Sprint("team-", n)
		}
		profiles = append(profiles, v1alpha1.WorkloadProfile{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprint("p-", n)}, Spec: v1alpha1.WorkloadProfileSpec{Work: &v1alpha1.Work{}},
		})
	}
	w.choose(profiles)
	if len(w.counters) != 20 {
		t.Errorf("%d are read, not 10 of one namespace and 10 of others", len(w.counters))
	}
}
