// Command savingsmap makes the map of package savings: on clusters that are drawn, it
// lets kube-scheduler's rule and Loadline's place the same pods, simulates the nodes,
// and writes how much excess dilation there is, at each point of a grid of loads, pods
// per core, and how unlike the pods are.
//
// It appends each point that is done to the file, and goes on after the last. To begin
// anew, name a new file with --out, and copy it to map.csv. docs/comparison.md shows the map, which hack/pictures draws.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"loadline.dev/loadline/hack/comparison"
	"loadline.dev/loadline/pkg/evaluate/savings"
)

// The grid.
var (
	loads        = []float64{0.2, 0.4, 0.6, 0.75, 0.9}
	podsPerCore  = []float64{0.5, 2, 4, 8}
	unlikenesses = []float64{0, 0.2, 0.4, 0.6}
)

// options are the flags.
type options struct {
	nodes, pods int
	precision   float64
	out         string
}

func main() {
	o := options{}
	flag.IntVar(&o.nodes, "nodes", 10, "how many nodes a cluster has, at least 10")
	flag.IntVar(&o.pods, "pods", 400, "how many pods the clusters of a point have together, at least; there are 3 clusters or more")
	flag.Float64Var(&o.precision, "precision", 0.1, "the standard error of a pod's dilation, relative to it, at which its node has been simulated for long enough")
	flag.StringVar(&o.out, "out", filepath.Join("pkg", "evaluate", "savings", "map.csv"), "the `file` to append to")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, &o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func (o *options) validate() error {
	switch {
	case flag.NArg() > 0:
		return fmt.Errorf("argument %q: there are only flags", flag.Arg(0))
	case o.nodes < 10:
		return fmt.Errorf("--nodes: %d is not at least 10", o.nodes)
	case o.pods < 1:
		return fmt.Errorf("--pods: %d is not at least 1", o.pods)
	case !(o.precision > 0 && o.precision <= 1):
		return fmt.Errorf("--precision: %v is not above 0 and at most 1", o.precision)
	default:
		return nil
	}
}

// run adds the points that a file lacks.
func run(ctx context.Context, o *options) error {
	if err := o.validate(); err != nil {
		return err
	}
	rows, err := read(o.out)
	if err != nil {
		return fmt.Errorf("%s: %w", o.out, err)
	}
	points := grid()
	if len(rows) > len(points) {
		return fmt.Errorf("%s: has %d points, where the grid has %d: name a new file to begin anew", o.out, len(rows), len(points))
	}
	for i := range rows {
		if rows[i].Point != points[i] {
			return fmt.Errorf("%s: point %d is %+v, not %+v: name a new file to begin anew", o.out, i+1, rows[i].Point, points[i])
		}
	}
	progress := comparison.NewProgress(os.Stderr)
	s := &sweep{nodes: o.nodes, pods: o.pods, newJudge: func() judge { return newSimulation(o.precision) }}
	for _, at := range points[len(rows):] {
		row, err := s.row(ctx, at)
		if err != nil {
			return err
		}
		rows = append(rows, row)
		if err := write(o.out, rows); err != nil {
			return err
		}
		progress.Count("points done:", len(rows), len(points))
	}
	return nil
}

// grid returns the points in the order in which they are done.
func grid() (points []savings.Point) {
	for _, pods := range podsPerCore {
		for _, unlikeness := range unlikenesses {
			for _, load := range loads {
				points = append(points, savings.Point{Load: load, PodsPerCore: pods, Unlikeness: unlikeness})
			}
		}
	}
	return points
}

// read returns what a file has, nothing if there is none.
func read(path string) (rows []savings.Row, err error) {
	file, err := os.Open(filepath.Clean(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rows, err = savings.ReadRows(file)
	return rows, errors.Join(err, file.Close())
}

// write replaces a file as a whole, so that it is complete whenever this ends.
func write(path string, rows []savings.Row) error {
	next, err := os.Create(filepath.Clean(path + ".next"))
	if err != nil {
		return err
	}
	if err := errors.Join(savings.WriteRows(next, rows), next.Close()); err != nil {
		return err
	}
	return os.Rename(next.Name(), path)
}
