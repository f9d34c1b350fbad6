package collected

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"

	"loadline.dev/loadline/pkg/gauge/server"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// maxAnswers is how many answers are written at once. One of 5,000 nodes keeps a processor busy for some seconds.
const maxAnswers = 4

// NewHandler returns the handler of requests for the intervals of a history. Until leading is closed it answers 503: another
// manager collects.
func NewHandler(h *History, leading <-chan struct{}, guard server.Guard) http.Handler {
	mux := http.NewServeMux()
	answer := server.NewUsageHandler(usage.MaxIntervals, maxAnswers, h.write)
	mux.Handle("GET "+usage.NodesPath, guard.Protect(usage.Path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-leading:
		default:
			http.Error(w, "unavailable: "+usage.NotLeading, http.StatusServiceUnavailable)
			return
		}
		if _, is := h.Age(); !is {
			http.Error(w, "unavailable: the gauges have not been asked yet", http.StatusServiceUnavailable)
			return
		}
		answer.ServeHTTP(w, r)
	})))
	return mux
}

// write writes the intervals of nodes, of all if the query names none, one after another.
func (h *History) write(w io.Writer, last int, query url.Values) error {
	collection := h.collection() // before the reports, which may become younger, not older
	names := h.Nodes()
	if asked := query[usage.NodeParameter]; len(asked) > 0 {
		names = slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(asked, name) })
	}
	encoder := json.NewEncoder(w)
	if err := encoder.Encode(collection); err != nil {
		return err
	}
	for _, name := range names {
		report, is := h.Report(name, last)
		if !is {
			continue // forgotten meanwhile
		}
		if err := encoder.Encode(&report); err != nil {
			return err
		}
	}
	return nil
}

// collection returns the beginning of an answer.
func (h *History) collection() usage.Collection {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	named := h.refused[:min(len(h.refused), usage.MaxRefused)]
	return usage.Collection{AgeSeconds: h.clock.Since(h.ended).Seconds(), Refused: named, RefusedBesides: len(h.refused) - len(named)}
}
