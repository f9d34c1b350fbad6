package server

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"loadline.dev/loadline/pkg/gauge/history"
)

// stalePeriods is after how many periods without a new interval the newest is stale.
const stalePeriods = 3

// Stale returns from which age on an interval is stale, where one comes in each period.
func Stale(period time.Duration) time.Duration { return stalePeriods * period }

// NewHealthHandler returns the handler of /healthz, which says that the program runs, and of /readyz, which answers 503 with the error
// that ready returns, if it does.
func NewHealthHandler(ready func() error) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := ready(); err != nil {
			http.Error(w, "not ready: "+err.Error(), http.StatusServiceUnavailable)
			return
		}
		say(w, "ok")
	})
	return mux
}

func say(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, text+"\n") // the client may be gone
}

// Fresh returns a check that there is an interval that is not stale, where one comes in each period.
func Fresh(kept *history.History, period time.Duration) (ready func() error) {
	return func() error {
		age, is := kept.Age()
		switch {
		case !is:
			return errors.New("there is no interval yet")
		case age >= Stale(period):
			return fmt.Errorf("the newest interval is %s old, and one should come every %s", age.Round(time.Second), period)
		}
		return nil
	}
}
