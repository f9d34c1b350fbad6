package collected

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	testingclock "k8s.io/utils/clock/testing"

	"loadline.dev/loadline/pkg/gauge/collect"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// gauges answer in place of a network, each by its host, with its answer of a round.
type gauges struct {
	round  int
	answer map[string]func(round int) io.Reader
}

func (g *gauges) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Request: r, Body: io.NopCloser(g.answer[r.URL.Host](g.round))}, nil
}

// honest answers as a gauge of ten pods.
func honest(node string) func(int) io.Reader {
	return func(round int) io.Reader { return strings.NewReader(told(node, round, pods(10, 0))) }
}

// told is the text of an answer with the activity of some pods between two rounds.
func told(node string, round int, pods []usage.Pod) string {
	end := noon.Add(time.Duration(round) * collect.Period)
	report := usage.Report{Intervals: []usage.Interval{{
		Node: node, Start: end.Add(-collect.Period), End: end, Seconds: collect.Period.Seconds(), CPUs: 4, BusySeconds: 12, CgroupVersion: 2, Pods: pods,
	}}}
	text, err := json.Marshal(report)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// again is a text again and again.
type again struct {
	text string
	at   int
}

func (r *again) Read(p []byte) (n int, _ error) {
	for n < len(p) {
		copied := copy(p[n:], r.text[r.at:])
		n, r.at = n+copied, (r.at+copied)%len(r.text)
	}
	return n, nil
}

func endlessly(begin, text string) func(int) io.Reader {
	return func(int) io.Reader { return io.MultiReader(strings.NewReader(begin), &again{text: text}) }
}

// late is the rest of an answer that comes so slowly that the reader gives up.
type late struct{}

func (late) Read([]byte) (int, error) { return 0, context.DeadlineExceeded }

// greedy returns the maximum number of pods, with the longest names, all of which no round has had before.
func greedy(round int) (all []usage.Pod) {
	for i := range usage.MaxPods {
		p := slow(fmt.Sprintf("%064d", round*usage.MaxPods+i))
		p.Namespace, p.Name = strings.Repeat("n", 63), strings.Repeat("x", 253)
		all = append(all, p)
	}
	return all
}

// lie is the answer of a gauge that lies, and the reason for its refusal; empty if it is not refused.
type lie struct {
	says    func(round int) io.Reader
	refused string
}

func lies() map[string]lie {
	const head = `{"ageSeconds":0,"intervals":[{"node":"liar","seconds":10,"cpus":1,"pods":[`
	text := func(of func(round int) string) func(int) io.Reader {
		return func(round int) io.Reader { return strings.NewReader(of(round)) }
	}
	same := func(of string) func(int) io.Reader { return text(func(int) string { return of }) }
	twice := slow("a")
	return map[string]lie{
		"empty-objects":   {endlessly(head, `{},`), "intervals[0].pods[0].uid: is empty"},
		"long-names":      {same(told("long-names", 0, []usage.Pod{{UID: strings.Repeat("u", 8000), Threads: 1, Dilation: 1}})), `intervals[0].pods[0].uid: "uuuu`},
		"new-pods":        {text(func(round int) string { return told("new-pods", round, greedy(round)) }), ""},
		"new-names":       {text(func(round int) string { return told("new-names", round, pods(100, round)) }), ""},
		"deep-nesting":    {endlessly(`{"x":`, `[`), "x: is no JSON at byte 10005: exceeded max depth"},
		"endless-space":   {endlessly("", " "), "is too large: a value of it is longer than 65536 bytes"},
		"huge-numbers":    {same(head + `{"uid":"a","tasks":99999999999999999999}]}]}`), "intervals[0].pods[0].tasks: is number 99999999999999999999 where a report has a whole number"},
		"infinite":        {same(head + `{"uid":"a","threads":1e999}]}]}`), "intervals[0].pods[0].threads: is number 1e999 where a report has a number"},
		"duplicate-pods":  {same(told("duplicate-pods", 0, []usage.Pod{twice, twice})), `intervals[0].pods[1].uid: "a" is there twice`},
		"never-ending":    {func(int) io.Reader { return io.MultiReader(strings.NewReader(head), late{}) }, ""},
		"another-node":    {same(told("honest-1", 0, pods(10, 0))), `intervals[0].node: "honest-1" is not the node that it runs on, "another-node"`},
		"many-intervals":  {endlessly(`{"intervals":[`, `{"node":"many-intervals","seconds":1,"cpus":1},`), "intervals["},
		"many-containers": {endlessly(head+`{"uid":"a","threads":1,"dilation":1,"containers":[`, `{"id":"a"},`), "intervals[0].pods[0].containers: has more than 100 elements"},
		"escapes":         {same("\x1b[2J"), `is no JSON at byte 1: invalid character '\x1b' at start of value`},
	}
}

// receiver keeps the observations that arrive, as the manager does.
type receiver struct{ *History }

func (r receiver) Receive(_ context.Context, o *collect.Observed) { r.Add(o) }

// Gauges that lie in all ways at once among 50 honest ones, for more than an hour. This test is not parallel: it looks at the heap.
func TestGaugesThatLieTakeLittleAndHarmNoOther(t *testing.T) {
	const rounds, honestNodes = 130, 50
	clock := testingclock.NewFakeClock(noon)
	all := &gauges{answer: map[string]func(int) io.Reader{}}
	var list []collect.Gauge
	add := func(node string, says func(int) io.Reader) {
		list, all.answer[node] = append(list, collect.Gauge{ID: node, Node: node, Address: node}), says
	}
	for n := range honestNodes {
		node := fmt.Sprintf("honest-%d", n)
		add(node, honest(node))
	}
	for node, lie := range lies() {
		add(node, lie.says)
	}
	h := New(clock)
	c := &collect.Collector{
		Gauges: func(context.Context) ([]collect.Gauge, error) { return list, nil }, Token: func() (string, error) { return "token", nil },
		Receiver: receiver{h}, Clock: clock, Log: logr.Discard(), Transport: all, Patience: time.Hour,
	}
	before, peak := heap(), int64(0)
	for all.round = range rounds {
		clock.Step(30 * time.Second)
		round, err := c.Round(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		h.EndRound(round.Refused)
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		peak = max(peak, int64(m.HeapAlloc)-before)
	}
	live := heap() - before
	t.Logf("after %d rounds %d MiB are live, %d MiB were at most in the heap; %s", rounds, live>>20, peak>>20, resident())
	const maxLive, maxPeak = 24 << 20, 200 << 20
	if live > maxLive || peak > maxPeak {
		t.Errorf("%d MiB are live, %d MiB were in the heap", live>>20, peak>>20)
	}
	k := &kept{History: h}
	for n := range honestNodes {
		node := fmt.Sprintf("honest-%d", n)
		if r := k.report(t, node); r.AgeSeconds != 0 || k.past(t, node) < Keep.Seconds() {
			t.Errorf("of %s there are %v seconds, %v seconds old", node, k.past(t, node), r.AgeSeconds)
		}
	}
	refused := map[string]string{}
	for _, r := range h.collection().Refused {
		refused[r.Node] = r.Reason
	}
	for node, lie := range lies() {
		if !strings.HasPrefix(refused[node], lie.refused) || (refused[node] == "") != (lie.refused == "") {
			t.Errorf("%s is refused because %q, not because %q", node, refused[node], lie.refused)
		}
		delete(refused, node)
	}
	if diff := cmp.Diff(map[string]string{}, refused); diff != "" {
		t.Errorf("honest gauges are refused (-want +got):\n%s", diff)
	}
	for _, node := range []string{"new-pods", "new-names"} {
		if size := h.nodes[node].size; size > MaxNodeBytes {
			t.Errorf("of %s %d bytes are kept", node, size)
		}
	}
	runtime.KeepAlive(c)
}

// resident is how much memory the process had at most, where the system says so.
func resident() string {
	text, _ := os.ReadFile("/proc/self/status") // elsewhere there is none
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "VmHWM") {
			return strings.Join(strings.Fields(line), " ")
		}
	}
	return ""
}
