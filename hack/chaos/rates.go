package main

import (
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// The ways in which rates lie.
const (
	rateNegative = "negative"
	rateHuge     = "huge"
	rateNaN      = "NaN"
	rateNone     = "no series"
	rateError    = "error"
)

// rates answers as a Prometheus, with rates that are set.
type rates struct {
	mu     sync.Mutex
	values map[string]string // by the query
	lie    string
}

// set sets the answer to a query.
func (r *rates) set(query, value string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.values == nil {
		r.values = map[string]string{}
	}
	r.values[query] = value
}

// spoil says how the rates lie, "" for not at all.
func (r *rates) spoil(lie string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lie = lie
}

// numbers returns all answers.
func (r *rates) numbers() (map[string]float64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[string]float64{}
	for query, text := range r.values {
		n, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, err
		}
		all[query] = n
	}
	return all, nil
}

// ServeHTTP answers a query.
func (r *rates) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	value, is := r.values[request.FormValue("query")]
	lie := r.lie
	r.mu.Unlock()
	switch lie {
	case rateError:
		http.Error(w, "out of order", http.StatusInternalServerError)
		return
	case rateNegative:
		value = "-" + value
	case rateHuge:
		value = "1e300"
	case rateNaN:
		value = "NaN"
	case rateNone:
		is = false
	}
	result := []any{}
	if is {
		result = append(result, map[string]any{"metric": map[string]string{}, "value": []any{float64(time.Now().UnixMilli()) / 1000, value}})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"status": "success", "data": map[string]any{"resultType": "vector", "result": result}}) // the client may be gone
}
