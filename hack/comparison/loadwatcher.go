package comparison

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"time"

	"loadline.dev/loadline/hack/scenario"
)

// loadWatcher answers as the load-watcher service does that Trimaran asks, with the utilizations of nodes at the beginning of
// a step.
//
// Trimaran adds to a node's utilization what it expects of pods that are younger than a minute before the end of the watcher's
// window: those are not measured yet. As a step here takes seconds, the window ends so that these are the pods of the step,
// all of which come after settled, and no others.
type loadWatcher struct {
	server  *http.Server
	address string
	settled time.Time
}

// unmeasured is how old pods are, for Trimaran, when they are measured.
const unmeasured = time.Minute

// errTooLate means that the scheduler may take pods that were there before for new ones.
var errTooLate = errors.New("the scheduler took too long to start")

// startLoadWatcher starts one that answers with some utilizations by the names of nodes, in percent of their CPU, to a scheduler
// that takes some time at most to start and to see the pods that are there.
func startLoadWatcher(ctx context.Context, percent map[string]float64, starting time.Duration) (*loadWatcher, error) {
	w := &loadWatcher{settled: time.Now().Add(starting)}
	type metric struct {
		Name     string  `json:"name"`
		Type     string  `json:"type"`
		Operator string  `json:"operator"`
		Value    float64 `json:"value"`
	}
	type metrics struct {
		Metrics []metric `json:"metrics"`
	}
	nodes := map[string]metrics{}
	for name, value := range percent {
		nodes[name] = metrics{[]metric{{"host.cpu.utilization", "CPU", "AVG", value}}}
	}
	end := w.settled.Add(unmeasured).Unix()
	answer, err := json.Marshal(map[string]any{
		"timestamp": end, "source": "comparison",
		"window": map[string]any{"duration": "15m", "start": end - 900, "end": end},
		"data":   map[string]any{"NodeMetricsMap": nodes},
	})
	if err != nil {
		return nil, err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	w.address = "http://" + listener.Addr().String()
	w.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(to http.ResponseWriter, _ *http.Request) {
		to.Write(answer) //nolint:errcheck // the scheduler has gone
	})}
	go w.server.Serve(listener) //nolint:errcheck // it ends by Close
	return w, nil
}

// await returns when pods that come count as not measured yet, with errTooLate if it is called after that.
func (w *loadWatcher) await(ctx context.Context) error {
	if time.Now().After(w.settled) {
		return errTooLate
	}
	timer := time.NewTimer(time.Until(w.settled.Truncate(time.Second).Add(time.Second))) // Trimaran counts whole seconds
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// utilizations returns which part of the CPU of each node is busy, in percent: what pods use alone, slowed down as they are.
func utilizations(judge Judge, s *scenario.Scenario, at Placement) (map[string]float64, error) {
	percent := map[string]float64{}
	for n, pods := range at.byNode(s) {
		dilations, err := judge.Node(n, pods)
		if err != nil {
			return nil, err
		}
		used := 0.0
		for k, i := range pods {
			cpu := s.Pods[i].Application.Vector[scenario.CPU]
			used += cpu.Loading * float64(cpu.Threads) / dilations[k].Mean
		}
		node := s.Nodes[n]
		percent[node.Name] = min(100, 100*used/float64(node.Size.Servers[scenario.CPU]))
	}
	return percent, nil
}
