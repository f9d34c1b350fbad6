// Command workload is a real program in small, of those of package program, as a pod of an experiment runs it. When it is done it
// says how long its rounds took.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"loadline.dev/loadline/hack/experiments/program"
)

// terminationLog is where Kubernetes looks for what a container has to say in the end.
const terminationLog = "/dev/termination-log"

func main() {
	var s program.Spec
	var when program.Schedule
	flag.StringVar((*string)(&s.Kind), "kind", "", "kind of program")
	flag.IntVar(&s.Size, "size", 1, "how much a round works")
	flag.DurationVar(&s.Think, "think", 0, "mean pause before each round")
	flag.IntVar(&s.Clients, "clients", 1, "how many go through rounds at once")
	flag.Uint64Var(&s.Seed, "seed", 1, "seed of pauses and of what files contain")
	flag.TextVar(&when.Start, "start", time.Time{}, "when to begin with rounds")
	flag.TextVar(&when.From, "from", time.Time{}, "from when on rounds count")
	flag.TextVar(&when.To, "to", time.Time{}, "until when rounds count, and the end")
	folder := flag.String("folder", "/scratch", "folder for files, which exists and stays")
	to := flag.String("result", terminationLog, "file for the account")
	flag.Parse()
	if err := run(&s, when, *folder, *to); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(s *program.Spec, when program.Schedule, folder, to string) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	own, err := os.MkdirTemp(folder, "workload-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(own)) }()
	account, err := program.Run(ctx, s, own, when)
	if err != nil {
		return err
	}
	encoded, err := json.Marshal(account)
	if err != nil {
		return err
	}
	return os.WriteFile(to, append(encoded, '\n'), 0o644)
}
