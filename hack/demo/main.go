// Command demo shows what Loadline does, on a real control plane that it starts
// and removes again: the example of the D-factor paper, and the pods of a
// production trace placed by kube-scheduler and by Loadline.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"loadline.dev/loadline/hack/cluster/controlplane"
	"loadline.dev/loadline/hack/local"
	"loadline.dev/loadline/pkg/report/text"
)

// options are the flags.
type options struct {
	out   string
	pods  int
	every int
}

func main() {
	o := options{}
	flag.StringVar(&o.out, "out", "out/demo", "folder for the charts")
	flag.IntVar(&o.pods, "pods", 1000, "how many pods of the trace that ever ran to place, from its start")
	flag.IntVar(&o.every, "every", 7, "use every Nth of the trace's 1,523 nodes")
	flag.Parse()
	if err := run(&o); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(o *options) error {
	ctrl.SetLogger(logr.Discard()) // what matters is printed below
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return demonstrate(ctx, o)
}

// demonstrate shows both parts.
func demonstrate(ctx context.Context, o *options) (err error) {
	if flag.NArg() > 0 || o.pods < 1 || o.every < 1 {
		return errors.New("--pods and --every must be at least 1, and there are no other arguments")
	}
	start := time.Now()
	root, err := local.Root(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.out, 0o750); err != nil {
		return err
	}
	if err := paper(o.out); err != nil {
		return err
	}

	log := newProgress(os.Stderr)
	trace, err := readTrace(filepath.Join(root, "test", "testdata", "openb"), o)
	if err != nil {
		return err
	}
	trace.describe()
	dir, err := os.MkdirTemp("", "loadline-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	log.step("building loadline-scheduler (minutes the first time)")
	scheduler, err := local.Build(ctx, root, dir, "loadline-scheduler")
	if err != nil {
		return err
	}
	plane, err := controlplane.Start(ctx, controlplane.Options{Log: os.Stderr})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, plane.Stop()) }()
	if err := compare(ctx, log, plane, root, dir, scheduler, trace, o.out); err != nil {
		return errors.Join(err, plane.Err())
	}
	fmt.Printf("\nDone in %s. The control plane is gone again.\n", text.Elapsed(time.Since(start)))
	return nil
}
