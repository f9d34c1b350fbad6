package prometheus

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

const (
	// maxPage bounds what is read of the metrics of a pod, in bytes, and maxSeries how many series of a counter it may have.
	maxPage, maxSeries = 4 << 20, 2000
	// maxLine bounds the length of one of its lines.
	maxLine = 64 << 10
)

// Label is a label that a series must have.
type Label struct{ Name, Value string }

// NewPodClient returns a client for [ReadCounter]. It goes to the address that it is given and nowhere else: it follows no redirect, uses no
// proxy and keeps no connection.
func NewPodClient(timeout time.Duration) *http.Client {
	const maxHeader = 64 << 10
	return &http.Client{
		Timeout:       timeout,
		Transport:     &http.Transport{DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: maxHeader},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// ReadCounter returns the sum of the series of a counter with some labels, at least 0, as a page of metrics in the text format of Prometheus
// has them. Nothing else of the page is looked at. A page without such a series is an error that wraps [ErrNoData].
func ReadCounter(ctx context.Context, c *http.Client, address, name string, labels []Label) (float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Accept", string(expfmt.NewFormat(expfmt.TypeTextPlain)))
	response, err := c.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("%s answers %s; it should answer with metrics itself", address, response.Status)
	}
	return sumOf(response.Body, name, labels)
}

// sumOf returns the sum of the series of a counter on a page.
func sumOf(page io.Reader, name string, labels []Label) (float64, error) {
	lines, err := linesOf(page, name)
	if err != nil {
		return 0, err
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(lines))
	if err != nil {
		return 0, fmt.Errorf("the series of %s cannot be read: %w", name, err)
	}
	sum, series := 0.0, 0
	for _, m := range families[name].GetMetric() {
		if !matches(m, labels) {
			continue
		}
		value := m.GetUntyped().GetValue()
		if !(value >= 0) || math.IsInf(value, 0) {
			return 0, fmt.Errorf("%s: %v is no number that a counter has", name, value)
		}
		sum, series = sum+value, series+1
	}
	switch {
	case series == 0:
		return 0, fmt.Errorf("%w: the page has no series of %s with these labels", ErrNoData, name)
	case math.IsInf(sum, 0):
		return 0, fmt.Errorf("%s: the sum of its series is too large", name)
	}
	return sum, nil
}

// linesOf returns the lines of a page that are series of a name.
func linesOf(page io.Reader, name string) ([]byte, error) {
	limited := &io.LimitedReader{R: page, N: maxPage + 1}
	scanner := bufio.NewScanner(limited)
	scanner.Buffer(nil, maxLine)
	var lines []byte
	series := 0
	for scanner.Scan() {
		rest, is := bytes.CutPrefix(scanner.Bytes(), []byte(name))
		if !is || len(rest) == 0 || !bytes.ContainsRune([]byte("{ \t"), rune(rest[0])) {
			continue
		}
		if series++; series > maxSeries {
			return nil, fmt.Errorf("%s has more than %d series", name, maxSeries)
		}
		lines = append(append(lines, scanner.Bytes()...), '\n')
	}
	switch err := scanner.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("the page has a line of more than %d bytes", maxLine)
	case err != nil:
		return nil, fmt.Errorf("reading the page: %w", err)
	case limited.N == 0:
		return nil, fmt.Errorf("the page has more than %d bytes", maxPage)
	}
	return lines, nil
}

// matches reports whether a series has labels.
func matches(m *dto.Metric, labels []Label) bool {
	for _, l := range labels {
		if !slices.ContainsFunc(m.GetLabel(), func(p *dto.LabelPair) bool { return p.GetName() == l.Name && p.GetValue() == l.Value }) {
			return false
		}
	}
	return true
}

// CountersByPod returns the sums of the series of a counter with some labels for pods of a namespace, by the names of the pods, as a Prometheus
// has them now. Pods without such a series are left out.
func CountersByPod(ctx context.Context, c *http.Client, address, name string, labels []Label, namespace string, pods []string) (map[string]Sample, error) {
	for _, l := range labels {
		if !model.LegacyValidation.IsValidLabelName(l.Name) {
			return nil, fmt.Errorf("label %.128q: its name does not consist of letters, digits and '_', or starts with a digit", l.Name)
		}
	}
	content, someone, err := ask(ctx, c, address, byPod(name, labels, namespace, pods))
	if err != nil {
		return nil, err
	}
	a, err := read(content, someone)
	if err != nil {
		return nil, err
	}
	var vector model.Vector
	if err := json.Unmarshal(a.Data.Result, &vector); a.Data.ResultType != model.ValVector || err != nil {
		return nil, fmt.Errorf("%s does not answer with a vector", someone)
	}
	counters := make(map[string]Sample, len(vector))
	for _, s := range vector {
		pod, value := string(s.Metric["pod"]), float64(s.Value)
		if slices.Contains(pods, pod) && s.Histogram == nil && value >= 0 && !math.IsInf(value, 0) {
			counters[pod] = Sample{Value: value, Time: s.Timestamp.Time()}
		}
	}
	return counters, nil
}

// byPod returns the query for a counter of some pods. Whatever the name and the labels are, it is for series of the namespace only.
func byPod(name string, labels []Label, namespace string, pods []string) string {
	matchers := []string{"__name__=" + strconv.Quote(name), "namespace=" + strconv.Quote(namespace)}
	quoted := make([]string, len(pods))
	for i, pod := range pods {
		quoted[i] = regexp.QuoteMeta(pod)
	}
	matchers = append(matchers, "pod=~"+strconv.Quote(strings.Join(quoted, "|")))
	for _, l := range labels {
		matchers = append(matchers, l.Name+"="+strconv.Quote(l.Value))
	}
	return "sum by (pod) ({" + strings.Join(matchers, ",") + "})"
}
