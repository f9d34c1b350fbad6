package controlplane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"loadline.dev/loadline/hack/cluster/internal/process"
)

const (
	// readyDeadline is how long a part may take to become ready, also on a busy machine.
	readyDeadline = 2 * time.Minute
	// probeInterval is how often a part that is starting is asked whether it is ready.
	probeInterval = 50 * time.Millisecond
	// probeTimeout bounds one question.
	probeTimeout = 5 * time.Second
)

// prober asks parts whether they are ready.
type prober struct {
	client *http.Client
	token  string
}

// newProber returns a prober that believes only parts that serve our certificate.
func newProber(c *credentials) *prober {
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(c.certificate)
	return &prober{
		client: &http.Client{
			Timeout: probeTimeout,
			Transport: &http.Transport{
				TLSClientConfig:   &tls.Config{RootCAs: authorities},
				DisableKeepAlives: true, // each answer comes from the process that runs now
			},
		},
		token: c.token,
	}
}

// await returns when the part that runs as p is ready. The error is an errPortTaken when it could not listen.
func (r *prober) await(ctx context.Context, part part, p *process.Process) error {
	err := p.AwaitReady(ctx, readyDeadline, func(ctx context.Context) error { return r.probe(ctx, part) })
	if err != nil && strings.Contains(err.Error(), "address already in use") {
		return fmt.Errorf("%w: %w", errPortTaken, err)
	}
	return err
}

// probe returns nil when the part says that it is ready.
func (r *prober) probe(ctx context.Context, part part) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, part.health, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+r.token)
	response, err := r.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		body, err := io.ReadAll(io.LimitReader(response.Body, 1<<10))
		return errors.Join(fmt.Errorf("%s says %s: %s", part.health, response.Status, strings.TrimSpace(string(body))), err)
	}
	return nil
}
