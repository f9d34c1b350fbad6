package collect

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"loadline.dev/loadline/pkg/gauge/usage"
)

const (
	// dialPatience is how long it may take until a connection is there.
	dialPatience = 2 * time.Second
	// maxErrorText is how much of an answer is shown that is no report, in bytes.
	maxErrorText = 200
	// longestInterval is how long an interval may be: gauges have one every few seconds, and a node may have slept.
	longestInterval = time.Hour
	// longestAge is how old the last interval of a gauge may be.
	longestAge = 100 * 24 * time.Hour
)

// NewTransport returns a transport for gauges: straight to their addresses, without a proxy, and without a proof of who
// answers, since gauges sign their certificates themselves. It keeps no connection: thousands would take more memory than
// it takes time to connect again.
func NewTransport() *http.Transport {
	return &http.Transport{
		DialContext:            (&net.Dialer{Timeout: dialPatience}).DialContext,
		TLSHandshakeTimeout:    Patience,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS13, InsecureSkipVerify: true}, //nolint:gosec // see the package's comment
		DisableKeepAlives:      true,
		MaxResponseHeaderBytes: 16 << 10,
	}
}

// noRedirect returns redirections without following them: a gauge has no reason to send its reader elsewhere.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// ask returns the report of a gauge, which is valid and of its node, by a decoder that it resets.
func (c *Collector) ask(ctx context.Context, g Gauge, last int, token string, decoder *usage.Decoder) (*usage.Report, error) {
	to := url.URL{Scheme: "https", Host: g.Address, Path: usage.Path, RawQuery: url.Values{usage.LastParameter: {strconv.Itoa(last)}}.Encode()}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, to.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := c.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(response.Body, maxErrorText)) // the part received
		return nil, fmt.Errorf("it answers %s: %q", response.Status, text)
	}
	decoder.Reset(response.Body, usage.Limits{Bytes: usage.MaxBytes, Intervals: last, Objects: usage.MaxObjects})
	report, err := decoder.Report()
	if err != nil {
		return nil, err
	}
	if err := check(report, g); err != nil {
		return nil, &usage.RefusedError{Err: err}
	}
	return report, nil
}

// check returns an error for a report that a gauge of the node cannot have made.
func check(report *usage.Report, g Gauge) error {
	if report.AgeSeconds > longestAge.Seconds() {
		return fmt.Errorf("ageSeconds: %v is more than %v", report.AgeSeconds, longestAge.Seconds())
	}
	for i := range report.Intervals {
		v := &report.Intervals[i]
		if v.Node != g.Node {
			return fmt.Errorf("intervals[%d].node: %.64q is not the node that it runs on, %.64q", i, v.Node, g.Node)
		}
		if v.Seconds > longestInterval.Seconds() {
			return fmt.Errorf("intervals[%d].seconds: %v is more than %v", i, v.Seconds, longestInterval.Seconds())
		}
		for k := range v.Pods {
			if p := &v.Pods[k]; p.Seconds > v.Seconds+1 {
				return fmt.Errorf("intervals[%d].pods[%d].seconds: %v is more than that of the interval, %v", i, k, p.Seconds, v.Seconds)
			}
		}
	}
	return nil
}
