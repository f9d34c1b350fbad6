// Package fit is the verb fit: package evaluate learns loading vectors from measured co-locations, and the verb prints, draws and
// writes the result.
package fit

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cli/input"
	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/fits"
	"loadline.dev/loadline/pkg/model/fit"
	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/report/file"
	"loadline.dev/loadline/pkg/text"
)

// arguments holds the flags of the verb fit.
type arguments struct {
	streams  verb.Streams
	file     string
	declared []string
	options  fit.Options
	form     string
	curve    bool
	plot     string
	heatMap  string
	profiles string
	device   string
	sharing  string
	output   verb.Output
}

// New returns the command.
func New(streams verb.Streams) *cobra.Command {
	f := &arguments{streams: streams}
	command := &cobra.Command{
		Use:   "fit -f FILE",
		Short: "Learn loading vectors from measured co-locations",
		Long: `fit learns how sensitive jobs are to each other, and how hard they press on each
other, from measurements of who ran with whom and how much longer each took than
alone. It finds as many hidden resources as predict unseen runs best, or fits the
resources that you name.

The file is CSV with the header run,job,dilation and optionally seconds. Rows of
one run ran together; a job may appear more than once; an empty dilation was not
measured. Where pods of a run request unequal amounts of CPU or have limits, columns
request.cpu and limit.cpu say so, in cores: see the page about fit. Where a node has
several devices, a column device says which one each job used, such as gpu-0: jobs
that used different ones did not meet.

For jobs that shared an accelerator, --profiles writes what the fit says of pairs as
WorkloadProfiles and a NodeProfile, from which predict and the scheduler take it.`,
		Example: `  # Vectors, their quality, and how well they predict runs that they have not seen
  kubectl loadline fit -f observations.csv

  # Predicted against measured dilations, and a map of who slows whom
  kubectl loadline fit -f observations.csv --plot fit.svg --heat-map pairs.svg

  # Profiles of jobs that share a GPU in turns, and what they say of two of them
  kubectl loadline fit -f observations.csv --profiles gpu.yaml --device gpu --sharing TimeSliced
  kubectl loadline predict -f gpu.yaml --pod sort --pod filecomp

  # At known resources, pulled towards declared profiles
  kubectl loadline fit -f observations.csv --resources cpu,disk --declared profiles.yaml -o yaml`,
		Args: verb.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error { return verb.Abandon(command.Context(), f.run) },
	}
	flags := command.Flags()
	flags.StringVarP(&f.file, "filename", "f", "", "CSV file with observations, - for standard input")
	flags.StringSliceVar(&f.options.Resources, "resources", nil, "names of the resources, if known (default hidden ones are found)")
	flags.StringSliceVar(&f.declared, "declared", nil, "file or folder with WorkloadProfiles to pull the fit towards; needs --resources")
	flags.BoolVar(&f.options.Fractions, "fractions", false, "vectors are fractions of the neutral time that add up to at most 1 (not so on accelerators)")
	flags.IntVar(&f.options.MaxResources, "max-resources", 0, "the largest number of hidden resources to try (default 5)")
	flags.StringVar(&f.form, "form", fits.FormAuto, "how dilations follow from vectors where three jobs and more ran together: "+strings.Join(fits.Forms(), ", "))
	flags.IntVar(&f.options.Folds, "folds", 0, "parts of cross-validation (default 5)")
	flags.BoolVar(&f.curve, "learning-curve", false, "also tell the error on unseen runs by how many are known; doubles the time")
	flags.Float64Var(&f.options.Confidence, "confidence", fit.DefaultConfidence, "coverage of the confidence intervals")
	flags.Uint64Var(&f.options.Seed, "seed", 0, "seed of the random starts and parts")
	flags.StringVar(&f.plot, "plot", "", "draw predicted against measured dilations to this file (.svg or .png)")
	flags.StringVar(&f.heatMap, "heat-map", "", "draw the dilation of every pair of jobs to this file (.svg or .png)")
	flags.StringVar(&f.profiles, "profiles", "", "write the fit as profiles of jobs that share a device to this file")
	flags.StringVar(&f.device, "device", "gpu", "what the device is called in the profiles")
	flags.StringVar(&f.sharing, "sharing", string(v1alpha1.SharingTimeSliced), "how the jobs shared the device: TimeSliced or Concurrent")
	f.output.Add(command)
	return command
}

func (f *arguments) run() error {
	if f.file == "" {
		return errors.New("name a file with observations: -f observations.csv")
	}
	if err := cmp.Or(verb.CheckChart("plot", f.plot), verb.CheckChart("heat-map", f.heatMap)); err != nil {
		return err
	}
	observations, name, err := input.Open(f.file, f.streams.In)
	if err != nil {
		return err
	}
	runs, warnings, err := fit.Read(observations)
	if err := errors.Join(err, observations.Close()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, warning := range warnings {
		if err := f.streams.Err.Warn("%s: %s", name, warning); err != nil {
			return err
		}
	}
	files := input.Files{Paths: f.declared, For: "fit --declared"}
	declared, err := files.Read(f.streams, input.WorkloadProfile)
	if err != nil {
		return err
	}
	in := fits.Input{Runs: runs, Options: f.options, Form: f.form, Declared: declared.WorkloadProfiles, LearningCurve: f.curve}
	bar := newProgress(f.streams.Err)
	in.Progress = bar.update
	answer, err := fits.Fit(in)
	bar.Clear()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := errors.Join(f.draw(answer), f.writeProfiles(answer)); err != nil {
		return err
	}
	return f.output.Print(f.streams.Out, answer, func(p *verb.Page) error { return printFit(p, answer) })
}

// writeProfiles writes the vectors as profiles, if that is asked for.
func (f *arguments) writeProfiles(answer *fits.Answer) error {
	if f.profiles == "" {
		return nil
	}
	all, err := answer.DeviceProfiles(f.device, v1alpha1.DeviceSharing(f.sharing))
	if err != nil {
		return fmt.Errorf("--profiles: %w", err)
	}
	manifests := []text.Manifest{{Object: &all.Node}}
	for i := range all.Workloads {
		manifests = append(manifests, text.Manifest{Object: &all.Workloads[i]})
	}
	content, err := text.Manifests(manifests...)
	if err != nil {
		return err
	}
	return file.Replace(f.profiles, func(w io.Writer) error { _, err := w.Write(content); return err })
}

// draw draws the charts that were asked for.
func (f *arguments) draw(answer *fits.Answer) error {
	if f.plot != "" {
		series := chart.Series{Name: "runs not seen by the fit"}
		for _, p := range answer.Points() {
			series.Pairs = append(series.Pairs, chart.Pair{Measured: p.Measured, Predicted: p.Predicted})
		}
		if len(series.Pairs) == 0 {
			return errors.New("--plot: too few runs to leave some out, so there are no predictions to draw")
		}
		scatter := chart.Scatter{Title: "Predicted against measured dilation", Quantity: "dilation", Unit: "×", Series: []chart.Series{series}}
		if err := chart.WriteFile(f.plot, scatter); err != nil {
			return err
		}
	}
	if f.heatMap == "" {
		return nil
	}
	names := make([]string, len(answer.Jobs))
	for i, j := range answer.Jobs {
		names[i] = j.Name
	}
	return chart.WriteFile(f.heatMap, chart.HeatMap{
		Title: "Who slows whom", Quantity: "dilation", Unit: "×",
		RowsAre: "slowed job", ColumnsAre: "because of job", Rows: names, Columns: names, Values: answer.Pairwise(),
	})
}

func printFit(p *verb.Page, a *fits.Answer) error {
	columns := []text.Column{text.Left("JOB"), text.Right("MEASURED"), text.Right("DILATED"), text.Right("DILATES")}
	if a.Baselines {
		columns = append(columns, text.Right("ALONE"))
	}
	for _, r := range a.Resources {
		columns = append(columns, text.Right("SENSITIVITY "+r), text.Right("PRESSURE "+r))
	}
	jobs := text.NewTable(columns...)
	for _, j := range a.Jobs {
		cells := []string{j.Name, text.Count(int64(j.Measured)), interval(j.Dilated), interval(j.Dilates)}
		if a.Baselines {
			cells = append(cells, interval(j.Baseline))
		}
		for i := range a.Resources {
			cells = append(cells, interval(&j.Sensitivity[i]), interval(&j.Pressure[i]))
		}
		jobs.Add(cells...)
	}
	if err := p.Table(jobs); err != nil {
		return err
	}
	kind := "known"
	if a.Hidden {
		kind = "hidden"
	}
	pressures := "pressures of their own"
	if a.Symmetric {
		pressures = "pressures equal to the sensitivities"
	}
	alone := ""
	if a.Baselines {
		alone = ", alone times fitted (ALONE is the true one over the stated one)"
	}
	lines := []string{fmt.Sprintf("%s, %s, %s%s; ± is the %s confidence interval",
		text.Counted(len(a.Resources), kind+" resource"), pressures, a.Solver, alone, text.Percent(a.Confidence))}
	lines = append(lines, fmt.Sprintf("Seen with at most %s together: what more do to each other is extrapolated", text.Counted(a.LargestRun, "job")))
	lines = append(lines, untold(a)...)
	lines = append(lines, "", fmt.Sprintf("%s in %s, off by %s on average, 90%% by less than %s",
		text.Counted(a.Quality.Observations, "observation"), text.Counted(a.Quality.Runs, "run"), text.Percent(a.Quality.MeanError), text.Percent(a.Quality.P90Error)))
	if err := p.Lines(lines...); err != nil {
		return err
	}
	return errors.Join(printCorrection(p, a.Correction), printLoss(p, a), printHoldOut(p, a.HoldOut), printWarnings(p, a.Warnings))
}

// printLoss says which parts of the fit the profiles hold, and which they lack, if profiles were written.
func printLoss(p *verb.Page, a *fits.Answer) error {
	if a.Profiles == nil {
		return nil
	}
	within := func(d *fits.Differences) string {
		return fmt.Sprintf("off by %s on average and %s at most", text.Percent(d.Mean), text.Percent(d.Worst))
	}
	lines := []string{fmt.Sprintf("The profiles predict %s of pairs as this fit does, %s", text.Counted(a.Profiles.Pairs.Count, "dilation"), within(&a.Profiles.Pairs))}
	if larger := a.Profiles.Larger; larger != nil {
		lines = append(lines, fmt.Sprintf("They add up what pairs do: %s in larger company, %s", text.Counted(larger.Count, "dilation"), within(larger)))
	}
	if a.Baselines {
		lines = append(lines, "Alone times that differ from the stated ones are in them as neutralCorrection: predict gives dilations over the true ones, and says so")
	}
	return p.Lines(lines...)
}

// printCorrection says that dilations are corrected, if they are.
func printCorrection(p *verb.Page, c *fits.Correction) error {
	if c == nil {
		return nil
	}
	var by []string
	if c.Similar {
		by = append(by, "those of similar pairs")
	}
	switch {
	case c.Effects == 1:
		by = append(by, "effects of each job, in place of the vectors,")
	case c.Effects > 0:
		by = append(by, "effects of each job, to "+text.Percent(c.Effects))
	}
	names := ""
	if c.Names {
		names = " and of jobs whose names differ in a number"
	}
	return p.Lines(fmt.Sprintf("Predicted dilations are corrected by %s%s: off by %s on runs left out, by the vectors alone %s",
		strings.Join(by, " and by "), names, text.Percent(c.MeanError), text.Percent(c.Without)))
}

// untold says why intervals are missing, in a line of its own, none if none is.
func untold(a *fits.Answer) []string {
	reasons := a.Unknown()
	if len(reasons) == 0 {
		return nil
	}
	return []string{"Where there is no ±, the interval is not known: " + strings.Join(reasons, "; ")}
}

// interval returns a value with how much more it may be, or alone where that
// is not known.
func interval(v *fits.Interval) string {
	switch {
	case v == nil:
		return text.Absent
	case v.High == nil:
		return fmt.Sprintf("%.3f", v.Value)
	}
	return fmt.Sprintf("%.3f ± %.3f", v.Value, *v.High-v.Value)
}

func printHoldOut(p *verb.Page, h *fits.HoldOut) error {
	if h == nil {
		return p.Lines("Too few runs to leave some out: how well this predicts other runs is not known.")
	}
	if err := p.Lines("", fmt.Sprintf("On runs that a model has not seen (%d-fold):", h.Folds)); err != nil {
		return err
	}
	table := text.NewTable(text.Left("MODEL"), text.Right("MEAN ERROR"), text.Right("P90 ERROR"), text.Right("WORST"))
	for _, m := range h.Models {
		table.Add(m.Model, text.Percent(m.MeanError), text.Percent(m.P90Error), text.Percent(m.WorstError))
	}
	return errors.Join(p.Table(table), printLearningCurve(p, h.LearningCurve))
}

func printLearningCurve(p *verb.Page, curve []fits.Learnt) error {
	if len(curve) == 0 {
		return nil
	}
	if err := p.Lines("", "On all other runs, when it knows a share of them:"); err != nil {
		return err
	}
	table := text.NewTable(text.Right("KNOWN"), text.Right("RUNS"), text.Right("MEAN ERROR"), text.Right("P90 ERROR"), text.Right("WORST"))
	for _, l := range curve {
		table.Add(text.Percent(l.Share), text.Count(int64(l.Runs)), text.Percent(l.MeanError), text.Percent(l.P90Error), text.Percent(l.WorstError))
	}
	return p.Table(table)
}

func printWarnings(p *verb.Page, warnings []fits.Warning) error {
	if len(warnings) == 0 {
		return nil
	}
	const shown = 10
	lines := []string{"", "Warnings:"}
	for _, d := range warnings[:min(shown, len(warnings))] {
		lines = append(lines, "  "+d.Message)
	}
	if more := len(warnings) - shown; more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more (-o json lists all)", more))
	}
	return p.Lines(lines...)
}
