// Package prometheus asks a Prometheus, or anything with its HTTP API, for single
// numbers: [Query] takes PromQL and gives the number that it has now, [CountersByPod]
// gives the sum of a counter for each pod. [ReadCounter] reads a counter from the
// metrics that a pod serves itself. The package keeps nothing and never retries; what
// to do without an answer is the caller's choice.
package prometheus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/common/model"
)

// ErrNoData is wrapped by the error of a query that is right but has no answer:
// nothing with such a name was scraped of late.
var ErrNoData = errors.New("the query has no answer")

// maxAnswer bounds what is read of an answer, in bytes.
const maxAnswer = 1 << 20

// Sample is a number and when Prometheus says it was so. The number may be NaN
// or infinite.
type Sample struct {
	Value float64
	Time  time.Time
}

// Query returns the one number that a query has now at the Prometheus with the
// given URL. A query that has several is an error, one that has none wraps
// [ErrNoData].
func Query(ctx context.Context, c *http.Client, address, query string) (Sample, error) {
	content, someone, err := ask(ctx, c, address, query)
	if err != nil {
		return Sample{}, err
	}
	return decode(content, someone)
}

// ask returns what a Prometheus answers, and words for who does.
func ask(ctx context.Context, c *http.Client, address, query string) (content []byte, someone string, err error) {
	target := strings.TrimSuffix(address, "/") + "/api/v1/query"
	form := strings.NewReader(url.Values{"query": {query}}.Encode())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, form)
	if err != nil {
		return nil, "", err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := c.Do(request)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	content, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return nil, "", fmt.Errorf("reading the answer of %s: %w", target, err)
	}
	if len(content) > maxAnswer {
		return nil, "", fmt.Errorf("%s answers with more than %d bytes; the query should have one number", target, maxAnswer)
	}
	return content, target + " (" + response.Status + ")", nil
}

// answer is what the HTTP API of Prometheus says.
type answer struct {
	Status string `json:"status"`
	Error  string `json:"error"`
	Data   struct {
		ResultType model.ValueType `json:"resultType"`
		Result     json.RawMessage `json:"result"`
	} `json:"data"`
}

// read reads the answer of someone.
func read(content []byte, someone string) (*answer, error) {
	var a answer
	if err := json.Unmarshal(content, &a); err != nil || a.Status == "" {
		return nil, fmt.Errorf("%s does not answer as Prometheus does: %.100q", someone, content)
	}
	if a.Status != "success" {
		return nil, fmt.Errorf("prometheus refuses the query: %s", a.Error)
	}
	return &a, nil
}

// decode reads the one number in the answer of someone.
func decode(content []byte, someone string) (Sample, error) {
	a, err := read(content, someone)
	if err != nil {
		return Sample{}, err
	}
	switch a.Data.ResultType {
	case model.ValScalar:
		var scalar model.Scalar
		if err := json.Unmarshal(a.Data.Result, &scalar); err != nil {
			return Sample{}, fmt.Errorf("%s answers with a scalar that cannot be read: %w", someone, err)
		}
		return Sample{float64(scalar.Value), scalar.Timestamp.Time()}, nil
	case model.ValVector:
		var vector model.Vector
		if err := json.Unmarshal(a.Data.Result, &vector); err != nil {
			return Sample{}, fmt.Errorf("%s answers with a vector that cannot be read: %w", someone, err)
		}
		return only(vector)
	default:
		return Sample{}, fmt.Errorf("the query answers with a %v; it should have one number now, as sum(rate(…[5m])) does", a.Data.ResultType)
	}
}

// only returns the only sample of a vector.
func only(vector model.Vector) (Sample, error) {
	switch {
	case len(vector) == 0:
		return Sample{}, fmt.Errorf("%w: no series matches, or none has been scraped of late", ErrNoData)
	case len(vector) > 1:
		return Sample{}, fmt.Errorf("the query answers with %d series, such as %v and %v; add them up, as sum(…) does", len(vector), vector[0].Metric, vector[1].Metric)
	case vector[0].Histogram != nil:
		return Sample{}, errors.New("the query answers with a histogram; it should have one number")
	}
	return Sample{float64(vector[0].Value), vector[0].Timestamp.Time()}, nil
}
