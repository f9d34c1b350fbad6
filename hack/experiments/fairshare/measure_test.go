//go:build perf

package main

import (
	"fmt"
	"os"
	"testing"
	"time"
)

// The workers of the test are the test.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == workerArgument {
		if err := work(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "Error:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// Where nothing can be measured this fails, and says what is missing.
func TestARealCoreDoesTheWorkAndPrefersTheLargerShare(t *testing.T) {
	b, err := newBench(0)
	if err != nil {
		t.Fatal(err)
	}
	s := flat("", workload("small", 1, 0.4), workload("large", 10, 0.4))
	r, err := b.measure(t.Context(), s, &options{duration: 2 * time.Second, limit: 1.02}, 1, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	// However busy the machine is: no job takes less than its CPU time, and it is the
	// workload with the small share that waits.
	const clocks = 0.999
	if min(r.before, r.after, r.stretch) < clocks {
		t.Errorf("control runs %v and %v, stretch %v: the core did more than there was", r.before, r.after, r.stretch)
	}
	if small, large := r.factors[0].measured, r.factors[1].measured; large < 1 || small < large {
		t.Errorf("factors: small share %v, large share %v", small, large)
	}
}
