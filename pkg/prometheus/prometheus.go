// Package prometheus asks a Prometheus, or anything with its HTTP API, for single
// numbers: [Query] takes PromQL and gives the number that it has now. It keeps
// nothing and never retries; what to do without an answer is the caller's choice.
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
	target := strings.TrimSuffix(address, "/") + "/api/v1/query"
	form := strings.NewReader(url.Values{"query": {query}}.Encode())
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, form)
	if err != nil {
		return Sample{}, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := c.Do(request)
	if err != nil {
		return Sample{}, err
	}
	defer response.Body.Close()
	content, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return Sample{}, fmt.Errorf("reading the answer of %s: %w", target, err)
	}
	if len(content) > maxAnswer {
		return Sample{}, fmt.Errorf("%s answers with more than %d bytes; the query should have one number", target, maxAnswer)
	}
	return decode(content, target+" ("+response.Status+")")
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

// decode reads the answer of someone.
func decode(content []byte, someone string) (Sample, error) {
	var a answer
	if err := json.Unmarshal(content, &a); err != nil || a.Status == "" {
		return Sample{}, fmt.Errorf("%s does not answer as Prometheus does: %.100q", someone, content)
	}
	if a.Status != "success" {
		return Sample{}, fmt.Errorf("prometheus refuses the query: %s", a.Error)
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
