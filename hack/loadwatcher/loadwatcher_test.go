package loadwatcher

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"
	"time"
)

func TestUtilizationsAreAnsweredForAWindow(t *testing.T) {
	t.Parallel()
	w, err := Start(t.Context(), map[string]float64{"node-0": 99.5}, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.Address+"/watcher", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Window struct{ Start, End int64 }
		Data   struct {
			NodeMetricsMap map[string]struct {
				Metrics []struct {
					Type, Operator string
					Value          float64
				}
			}
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		t.Fatal(err)
	}
	metrics := answer.Data.NodeMetricsMap["node-0"].Metrics
	if len(metrics) != 1 || metrics[0].Type != "CPU" || metrics[0].Operator != "AVG" || metrics[0].Value != 99.5 {
		t.Errorf("got %s", body)
	}
	if answer.Window.End-60 != w.settled.Unix() {
		t.Errorf("the window ends at %d, and pods that are there until %d are measured", answer.Window.End, w.settled.Unix())
	}
}

func TestASchedulerThatStartsTooLateIsToldApart(t *testing.T) {
	t.Parallel()
	w := &Server{settled: time.Now().Add(-time.Second)}
	if err := w.Await(t.Context()); !errors.Is(err, ErrTooLate) {
		t.Errorf("got %v", err)
	}
}
