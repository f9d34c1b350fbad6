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

	"k8s.io/apimachinery/pkg/util/wait"

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

// await returns when the part that runs as p is ready. The error quotes the end of its log, and is an errPortTaken
// when it could not listen.
func (r *prober) await(ctx context.Context, part part, p *process.Process) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-p.Exited():
			cancel(errors.New("it ended by itself"))
		case <-ctx.Done():
		}
	}()

	var lastAnswer error
	err := wait.PollUntilContextTimeout(ctx, probeInterval, readyDeadline, true, func(ctx context.Context) (bool, error) {
		if answer := r.probe(ctx, part); ctx.Err() == nil {
			lastAnswer = answer
		}
		return lastAnswer == nil, nil
	})
	select {
	case <-p.Exited():
		failure := p.Failure()
		if strings.Contains(failure.Error(), "address already in use") {
			return fmt.Errorf("%w: %w", errPortTaken, failure)
		}
		return failure
	default:
	}
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("while %s was starting: %w", part.name, cause)
	}
	if err != nil {
		return fmt.Errorf("%s was not ready within %v: %w\n%s", part.name, readyDeadline, lastAnswer, p.Tail())
	}
	return nil
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
