package replay

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/replays"
	"loadline.dev/loadline/pkg/report"
	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/report/page"
)

// drawings holds the names of files that a replay is drawn to.
type drawings struct{ makespan, dilation, saved, nodes, page string }

func (d *drawings) add(flags *pflag.FlagSet) {
	flags.StringVar(&d.makespan, "plot-makespan", "", "draw the makespan per stream and policy to this file (.svg or .png)")
	flags.StringVar(&d.dilation, "plot-dilation", "", "draw the distribution of the dilation to this file (.svg or .png)")
	flags.StringVar(&d.saved, "plot-saved", "", "draw the response time saved by each policy to this file (.svg or .png)")
	flags.StringVar(&d.nodes, "plot-nodes", "", "draw how busy the nodes are over time, with the best policy, to this file (.svg or .png)")
	flags.StringVar(&d.page, "report", "", "write everything to this page (.html)")
}

// check refuses names of files that cannot be written, before the work.
func (d *drawings) check() error {
	err := cmp.Or(
		verb.CheckChart("plot-makespan", d.makespan), verb.CheckChart("plot-dilation", d.dilation),
		verb.CheckChart("plot-saved", d.saved), verb.CheckChart("plot-nodes", d.nodes))
	if err != nil {
		return err
	}
	if d.page != "" {
		if err := page.CheckPath(d.page); err != nil {
			return fmt.Errorf("--report: %w", err)
		}
	}
	return nil
}

// occupancy reports whether some drawing is of how busy nodes are over time.
func (d *drawings) occupancy() bool { return d.nodes != "" || d.page != "" }

// draw draws the requested charts and names the written files, and the charts without data.
func (d *drawings) draw(a *replays.Answer, version string) (remarks []string, err error) {
	var wrote []string
	for _, drawing := range []struct {
		path, of string
		chart    chart.Chart
	}{
		{d.makespan, "no job was done", report.ReplayMakespans(a)},
		{d.dilation, "no job was done", report.ReplayDilations(a)},
		{d.saved, "it takes a second policy, and whole runs", report.ReplayImprovements(a)},
		{d.nodes, "no job was done", bestOccupancy(a)},
	} {
		switch {
		case drawing.path == "":
		case drawing.chart == nil:
			remarks = append(remarks, fmt.Sprintf("Did not draw %s: %s.", drawing.path, drawing.of))
		default:
			if drawErr := chart.WriteFile(drawing.path, drawing.chart); drawErr != nil {
				err = errors.Join(err, drawErr)
				continue
			}
			wrote = append(wrote, drawing.path)
		}
	}
	if d.page != "" {
		if pageErr := page.Write(d.page, report.ReplayPage(a, "kubectl loadline "+version)); pageErr != nil {
			err = errors.Join(err, pageErr)
		} else {
			wrote = append(wrote, d.page)
		}
	}
	if len(wrote) > 0 {
		remarks = append(remarks, "Wrote "+strings.Join(wrote, ", ")+".")
	}
	return remarks, err
}

// bestOccupancy returns the chart of the first run of the best policy, or of the
// first policy if none is the best; nil if no job was done.
func bestOccupancy(a *replays.Answer) chart.Chart {
	if len(a.Policies) == 0 {
		return nil
	}
	run := a.Policies[0].Runs[0]
	for i := range a.Policies {
		if a.Policies[i].Policy == a.Best {
			run = a.Policies[i].Runs[0]
		}
	}
	return report.ReplayOccupancy(run)
}
