// Package loadwatcher serves what Trimaran asks a load-watcher service for: how busy nodes are. Experiments tell it.
package loadwatcher

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"time"
)

// Server answers as the load-watcher service does that Trimaran asks, with the utilizations of nodes at one moment.
//
// Trimaran adds to a node's utilization what it expects of pods that are younger than a minute before the end of the watcher's
// window: those are not measured yet. As experiments take seconds, the window ends so that these are the pods that come after
// [Server.Await] returns, and no others.
type Server struct {
	// Address is its URL.
	Address string

	server  *http.Server
	settled time.Time
}

// unmeasured is how old pods are, for Trimaran, when they are measured.
const unmeasured = time.Minute

// ErrTooLate means that the scheduler may take pods that were there before for new ones.
var ErrTooLate = errors.New("the scheduler took too long to start")

// Start starts one that answers with some utilizations by the names of nodes, in percent of the CPU that is their capacity, to a
// scheduler that takes some time at most to start and to see the pods that are there. The caller closes it.
func Start(ctx context.Context, percent map[string]float64, starting time.Duration) (*Server, error) {
	w := &Server{settled: time.Now().Add(starting)}
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
		"timestamp": end, "source": "experiment",
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
	w.Address = "http://" + listener.Addr().String()
	w.server = &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(to http.ResponseWriter, _ *http.Request) {
		to.Write(answer) //nolint:errcheck // the scheduler has gone
	})}
	go w.server.Serve(listener) //nolint:errcheck // it ends by Close
	return w, nil
}

// Close ends it.
func (w *Server) Close() error { return w.server.Close() }

// Await returns when pods that come count as not measured yet, with [ErrTooLate] if it is called after that.
func (w *Server) Await(ctx context.Context) error {
	if time.Now().After(w.settled) {
		return ErrTooLate
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
