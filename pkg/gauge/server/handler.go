// Package server serves the data of a gauge, by HTTPS on one port:
//
//	GET /v1/usage?last=N   the last N intervals, as a usage.Report in JSON
//	GET /metrics           the metrics for Prometheus
//
// and by plain HTTP on another, for the kubelet, so that who fills the one does not touch the other:
//
//	GET /healthz           whether the program runs
//	GET /readyz            whether there is an interval that is not stale
//
// It bounds the load that clients can cause: the number of connections, the duration of each, and the number of answers written at
// once. Every connection is accepted at once. Where there are too many, the source with the most connections loses one, counting
// admitted clients and strangers separately, so no number of connections keeps out a client of another address. A guard, passed in
// by the caller, authorizes requests. The package reads nothing of the node.
package server

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"loadline.dev/loadline/pkg/gauge/history"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// MetricsPath is the path of the metrics, which takes a right as usage.Path does.
const MetricsPath = "/metrics"

// maxAnswers is how many answers with intervals are written at once: each may be some MiB, and its client slow.
const maxAnswers = 16

// NewHandler returns the handler of all paths but those of health.
func NewHandler(kept *history.History, guard Guard, metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET "+usage.Path, guard.Protect(usage.Path, NewUsageHandler(kept.Keep(), maxAnswers, func(w io.Writer, last int, _ url.Values) error {
		age, _ := kept.Age() // before the intervals, which may become younger, not older
		return writeReport(w, age, kept.Last(last))
	})))
	mux.Handle("GET "+MetricsPath, guard.Protect(MetricsPath, metrics))
	return mux
}

// usageHandler serves intervals.
type usageHandler struct {
	keep  int
	write WriteUsage
	slots chan struct{}
}

// WriteUsage writes an answer with the last intervals, and with what else a query asks for. An error of the writer means that the
// client is gone.
type WriteUsage func(w io.Writer, last int, query url.Values) error

// NewUsageHandler returns a handler of requests for the last intervals, at most keep of them. It writes up to atOnce answers at
// once, compressed for clients that accept that, and refuses others meanwhile.
func NewUsageHandler(keep, atOnce int, write WriteUsage) http.Handler {
	return &usageHandler{keep, write, make(chan struct{}, atOnce)}
}

// ServeHTTP answers with the requested intervals.
func (h *usageHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	n, err := wanted(query.Get(usage.LastParameter), h.keep)
	if err != nil {
		http.Error(w, "bad request: "+err.Error(), http.StatusBadRequest)
		return
	}
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	default:
		w.Header().Set("Retry-After", "1")
		http.Error(w, fmt.Sprintf("unavailable: %d answers are being written", cap(h.slots)), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Vary", "Accept-Encoding")
	if !acceptsGzip(r.Header.Values("Accept-Encoding")) {
		_ = h.write(w, n, query) // the client may be gone
		return
	}
	w.Header().Set("Content-Encoding", "gzip")
	packed, _ := gzip.NewWriterLevel(w, gzip.BestSpeed) // the level is one
	if h.write(packed, n, query) == nil {
		_ = packed.Close()
	}
}

// wanted returns how many intervals a query asks for: 1 unless it says otherwise, and no more than are kept.
func wanted(last string, keep int) (int, error) {
	if last == "" {
		return 1, nil
	}
	n, err := strconv.Atoi(last)
	if errors.Is(err, strconv.ErrRange) && !strings.HasPrefix(last, "-") {
		return keep, nil
	}
	if err != nil || n < 1 {
		return 0, fmt.Errorf("last: %.40q is not a whole number from 1", last)
	}
	return min(n, keep), nil
}

// writeReport writes encoded intervals as a usage.Report, without decoding them.
func writeReport(w io.Writer, age time.Duration, intervals [][]byte) error {
	if _, err := fmt.Fprintf(w, `{"ageSeconds":%.3f,"intervals":[`, age.Seconds()); err != nil {
		return err
	}
	for i, interval := range intervals {
		if i > 0 {
			interval = append([]byte(",\n"), interval...)
		}
		if _, err := w.Write(interval); err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, "]}\n")
	return err
}

// acceptsGzip reports whether a client takes gzip by its headers Accept-Encoding.
func acceptsGzip(headers []string) bool {
	for coding := range strings.SplitSeq(strings.Join(headers, ","), ",") {
		name, parameters, err := mime.ParseMediaType(strings.TrimSpace(coding))
		if err != nil || name != "gzip" {
			continue
		}
		q, given := parameters["q"]
		if quality, err := strconv.ParseFloat(q, 64); !given || err == nil && quality > 0 {
			return true
		}
	}
	return false
}
