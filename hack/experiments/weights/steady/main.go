// Command steady does the same thing again and again, and reports how much of that it did within a window of time: the
// job in the pods of the experiment weights. Pods that are to be compared run from before the window until after it, so
// that each has the same neighbours all the time.
//
//	steady --from TIME --to TIME --end TIME --burst 30ms --idle 20ms            threads that compute and sleep in turns
//	steady --from TIME --to TIME --end TIME [--think 10ms] -- PROGRAM ARGUMENT  runs of a program
//	steady --from TIME --to TIME --end TIME [--think 10ms] --get URL -- SERVER  requests to a server
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"loadline.dev/loadline/hack/experiments/weights/account"
)

// window is when the job runs and what of it counts.
type window struct {
	from, to, end time.Time
}

// late returns how long ago the job was to begin.
func (w *window) late() time.Duration { return max(0, time.Since(w.from.Add(-lead))) }

// lead is how long before the window the job begins.
const lead = time.Second

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("steady", flag.ExitOnError)
	var w window
	for name, at := range map[string]*time.Time{"from": &w.from, "to": &w.to, "end": &w.end} {
		flags.TextVar(at, name, time.Time{}, "a `time` as in RFC 3339: the window is --from .. --to, and the job runs until --end")
	}
	report := flags.String("report", "/dev/termination-log", "the `file` for the account")
	var b bursts
	flags.DurationVar(&b.burst, "burst", 0, "processor `time` per cycle of a thread, on average")
	flags.DurationVar(&b.idle, "idle", 0, "`time` asleep per cycle, on average; 0 never sleeps")
	flags.BoolVar(&b.exponential, "exponential", false, "draw bursts and sleep from exponential distributions")
	flags.IntVar(&b.threads, "threads", 1, "how many threads")
	flags.Uint64Var(&b.seed, "seed", 1, "of what is drawn")
	var r repeated
	flags.DurationVar(&r.think, "think", 0, "`time` asleep after each operation")
	flags.StringVar(&r.url, "get", "", "the `URL` of the server that is the program: an operation is a request")
	flags.StringVar(&r.prepare, "prepare", "", "a shell `script` to run before, with programs of the node")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if !w.from.Before(w.to) || w.end.Before(w.to) {
		return errors.New("--from, --to and --end must be in this order")
	}
	var a account.Account
	var err error
	if r.command = flags.Args(); len(r.command) > 0 {
		a, err = r.run(ctx, w)
	} else {
		a, err = b.run(w)
	}
	if err != nil {
		return err
	}
	content, err := json.Marshal(a)
	if err != nil {
		return err
	}
	return os.WriteFile(*report, content, 0o644)
}
