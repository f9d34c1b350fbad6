package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"time"

	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/hack/processes"
)

// served is the page of kubectl loadline ui.
type served struct {
	process *local.Process
	began   time.Time
	client  *http.Client
	address string // with the secret
}

// open starts kubectl loadline ui.
func open(ctx context.Context, program, kubeconfig string) (*served, error) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return nil, err
	}
	s := &served{began: time.Now(), client: &http.Client{Jar: jar}}
	s.process, err = local.OnFreePort(ctx, func(port string) (*local.Process, error) {
		return local.Start(ctx, "http://127.0.0.1:"+port, "/healthz", program, "ui", "--kubeconfig", kubeconfig, "--port", port)
	})
	if err != nil {
		return nil, err
	}
	_, after, _ := strings.Cut(s.process.Log(), "Open ")
	s.address, _, _ = strings.Cut(after, "\n")
	return s, nil
}

// stages are what is shown of the first look, as it is worked out.
var stages = []string{"who is slowed down", "why", "what would help"}

// measure waits for some looks, and writes what they took.
func (s *served) measure(ctx context.Context, looks int, out io.Writer) (err error) {
	if _, err := s.get(ctx, s.address); err != nil { // sets the cookie
		return err
	}
	events, err := s.request(ctx, s.process.Address()+"/events")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, events.Body.Close()) }()
	lines, last, seen := bufio.NewScanner(events.Body), "", 0
	fmt.Fprintf(out, line, "AFTER", "WHAT", "RESIDENT", "PEAK", "OVERVIEW", "A NODE")
	for seen < len(stages)+looks-1 && lines.Scan() {
		id, is := strings.CutPrefix(lines.Text(), "data: ")
		if !is || id == "" || id == last {
			continue
		}
		last = id
		seen++
		what := fmt.Sprintf("look %d", max(1, seen-len(stages)+1))
		if seen <= len(stages) {
			what += ": " + stages[seen-1]
		}
		if err := s.show(ctx, out, what); err != nil {
			return err
		}
	}
	return lines.Err()
}

// line is the format of a line of what was measured.
const line = "%8s  %-28s %10s %10s %10s %10s\n"

// show writes how much memory the process has, and how long pages take.
func (s *served) show(ctx context.Context, out io.Writer, what string) error {
	after := time.Since(s.began)
	memory, err := processes.Memory(s.process.ID())
	if err != nil {
		return err
	}
	overview, err := s.get(ctx, s.process.Address()+"/")
	if err != nil {
		return err
	}
	node, err := s.get(ctx, s.process.Address()+"/node?name=node-0")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, line, after.Round(100*time.Millisecond), what, mebibytes(memory.All), mebibytes(memory.Peak),
		overview.Round(time.Millisecond), node.Round(time.Millisecond))
	return err
}

// get returns how long it took to get a page.
func (s *served) get(ctx context.Context, url string) (time.Duration, error) {
	began := time.Now()
	response, err := s.request(ctx, url)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return time.Since(began), errors.Join(err, response.Body.Close())
}

func (s *served) request(ctx context.Context, url string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	return s.client.Do(request)
}
