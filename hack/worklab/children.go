package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/spf13/cobra"
)

// counter is what the server counts.
const counter = "http_requests_total"

// childCommands are what the lab runs this program as. A child says what it is ready for in a line, does what it is told, a line each, and
// ends with its input.
func childCommands() []*cobra.Command {
	child := func(use string, run func(ctx context.Context, args []string, in *bufio.Scanner, out io.Writer) error) *cobra.Command {
		return &cobra.Command{Use: use, Hidden: true, Args: cobra.ExactArgs(1), RunE: func(c *cobra.Command, args []string) error {
			return run(c.Context(), args, bufio.NewScanner(os.Stdin), c.OutOrStdout())
		}}
	}
	return []*cobra.Command{child("serve BYTES", serve), child("ask ADDRESS", ask), child("press BYTES", press), child("repeat BYTES", repeat)}
}

// piece is a fixed piece of work: it goes over memory in an order that no prefetcher guesses.
type piece struct {
	next []line
	at   uint32
}

// line is a line of the cache, with the number of the next one.
type line struct {
	next uint32
	_    [60]byte
}

// steps is how many lines a piece of work goes over: a millisecond or so.
const steps = 10_000

func newPiece(bytes int) *piece {
	p := &piece{next: make([]line, max(2, bytes/64))}
	order := rand.New(rand.NewPCG(1, 2)).Perm(len(p.next))
	for i, k := range order {
		p.next[k].next = uint32(order[(i+1)%len(order)])
	}
	return p
}

// do does the piece once.
func (p *piece) do() {
	at := p.at
	for range steps {
		at = p.next[at].next
	}
	p.at = at
}

// number reads the argument of a child.
func number(args []string) (int, error) {
	n, err := strconv.Atoi(args[0])
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is no number of bytes", args[0])
	}
	return n, nil
}

// serve is a web server that does a piece of work for each request, and counts them.
func serve(ctx context.Context, args []string, in *bufio.Scanner, out io.Writer) error {
	bytes, err := number(args)
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(1)
	work, mutex := newPiece(bytes), sync.Mutex{}
	registry := prometheus.NewRegistry()
	requests := prometheus.NewCounter(prometheus.CounterOpts{Name: counter, Help: "Requests that were served."})
	registry.MustRegister(requests)
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		mutex.Lock()
		work.do()
		mutex.Unlock()
		requests.Inc()
		_, _ = io.WriteString(w, "done\n")
	})
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	if _, err := fmt.Fprintln(out, listener.Addr()); err != nil {
		return err
	}
	go func() {
		for in.Scan() {
		}
		_ = s.Close()
	}()
	if err := s.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return in.Err()
}

// ask asks a server at the rates that it is told, at random moments: it does not wait for answers.
func ask(ctx context.Context, args []string, in *bufio.Scanner, out io.Writer) error {
	runtime.GOMAXPROCS(2)
	var rate atomic.Pointer[float64]
	rate.Store(new(float64))
	var failed atomic.Pointer[error]
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: 30 * time.Second}
	request := func() {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+args[0]+"/", nil)
		if err == nil {
			var answer *http.Response
			if answer, err = c.Do(r); err == nil {
				_, err = io.Copy(io.Discard, answer.Body)
				_ = answer.Body.Close()
			}
		}
		if err != nil && ctx.Err() == nil {
			failed.Store(&err)
		}
	}
	go func() {
		for at := time.Now(); ctx.Err() == nil; {
			r := *rate.Load()
			if r == 0 {
				at = time.Now().Add(10 * time.Millisecond)
				_ = wait(ctx, time.Until(at))
				continue
			}
			at = at.Add(time.Duration(rand.ExpFloat64() / r * float64(time.Second)))
			if wait(ctx, time.Until(at)) == nil {
				go request()
			}
		}
	}()
	if _, err := fmt.Fprintln(out, "ready"); err != nil {
		return err
	}
	for in.Scan() {
		r, err := strconv.ParseFloat(in.Text(), 64)
		if err != nil {
			return err
		}
		rate.Store(&r)
		if err := failed.Load(); err != nil {
			return *err
		}
	}
	return in.Err()
}

// press is a neighbour that goes over memory, all of it in turn, while it is told to: one that computes alone where that is a few bytes.
func press(_ context.Context, args []string, in *bufio.Scanner, out io.Writer) error {
	bytes, err := number(args)
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(2)
	memory := make([]uint64, max(8, bytes/8))
	on := make(chan bool)
	go func() {
		for is := false; ; {
			if !is {
				is = <-on
				continue
			}
			for range max(1, 1<<19/len(memory)) {
				for i := range memory {
					memory[i] += uint64(i)
				}
			}
			select {
			case is = <-on:
			default:
			}
		}
	}()
	if _, err := fmt.Fprintln(out, "ready"); err != nil {
		return err
	}
	for in.Scan() {
		on <- in.Text() == "true"
	}
	return in.Err()
}

// wait waits for some time.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
