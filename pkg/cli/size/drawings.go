package size

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/pools"
	"loadline.dev/loadline/pkg/report"
	"loadline.dev/loadline/pkg/report/chart"
)

// drawings holds the names of files that a plan is drawn to.
type drawings struct{ servers, strategies string }

func (d *drawings) add(flags *pflag.FlagSet) {
	flags.StringVar(&d.servers, "plot-servers", "", "draw how many servers each class needs alone, against its arrival rate, to this file (.svg or .png)")
	flags.StringVar(&d.strategies, "plot-map", "", "draw where dedicated pools beat a shared one, over the arrival rates of two classes, to this file (.svg or .png)")
}

// asked reports whether anything is to be drawn.
func (d *drawings) asked() bool { return d.servers != "" || d.strategies != "" }

// check refuses names of files that cannot be written, before the work.
func (d *drawings) check() error {
	return cmp.Or(verb.CheckChart("plot-servers", d.servers), verb.CheckChart("plot-map", d.strategies))
}

// draw draws the requested charts and returns the names of the files.
func (d *drawings) draw(ctx context.Context, in pools.Input) (wrote []string, err error) {
	for _, drawing := range []struct {
		flag, path string
		chart      func() (chart.Chart, error)
	}{
		{"plot-servers", d.servers, func() (chart.Chart, error) { return drawn(pools.ServersByRate, report.ServersChart)(ctx, in) }},
		{"plot-map", d.strategies, func() (chart.Chart, error) { return drawn(pools.CompareByRates, report.StrategyMap)(ctx, in) }},
	} {
		if drawing.path == "" {
			continue
		}
		drawn, chartErr := drawing.chart()
		if chartErr == nil {
			chartErr = chart.WriteFile(drawing.path, drawn)
		}
		if chartErr != nil {
			err = errors.Join(err, fmt.Errorf("--%s: %w", drawing.flag, chartErr))
			continue
		}
		wrote = append(wrote, drawing.path)
	}
	return wrote, err
}

// drawn returns what answers a question about a plan, and draws the answer.
func drawn[A any](answer func(context.Context, pools.Input) (*A, error), draw func(*A) chart.Chart) func(context.Context, pools.Input) (chart.Chart, error) {
	return func(ctx context.Context, in pools.Input) (chart.Chart, error) {
		a, err := answer(ctx, in)
		if err != nil {
			return nil, err
		}
		return draw(a), nil
	}
}
