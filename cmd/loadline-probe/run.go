package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/pkg/probe"
	"loadline.dev/loadline/pkg/probe/result"
)

func newRun() *cobra.Command {
	var (
		to destination
		at place
		o  probe.RunOptions

		pressure float64
	)
	command := &cobra.Command{
		Use:   "run",
		Short: "Run a standard job",
		Long: `Runs a standard job until its time is over, its units are done or a signal ends it, and
reports how fast it was, moment by moment.`,
		Example: `  # Compute for 10 seconds
  loadline-probe run --job cpu --duration 10s

  # Read with two threads, and look first how much two such jobs slow each other down
  loadline-probe run --job disk-read --intensity 2 --duration 30s --check 5s --dir /var/tmp

  # Press on whoever shares the last-level cache, for a quarter of the time
  loadline-probe run --job llc --pressure 0.25 --duration 30s`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			quiet()
			if command.Flags().Changed("pressure") && !(pressure > 0) {
				return fmt.Errorf("pressure: %v is not above 0 and at most 1", pressure)
			}
			o.Job = at.job(o.Job.Name)
			o.Job.Pressure = pressure
			return reporting(command, &to, func() (result.Run, error) { return probe.Run(command.Context(), o) })
		},
	}
	addJob(command, &o.Job.Name)
	flags := command.Flags()
	flags.IntVar(&o.Intensity, "intensity", 1, "Number of threads that work at once.")
	flags.Float64Var(&pressure, "pressure", 0, "Fraction of the time, above 0 and at most 1, that each thread of a job of memory, llc or core presses there; it computes in registers for the rest. Defaults to all of it.")
	flags.DurationVar(&o.Duration, "duration", 0, "How long to work, at most 1h.")
	must(command.MarkFlagRequired("duration"))
	flags.Uint64Var(&o.Units, "units", 0, "How many units of work to do at most; 0 is no limit.")
	flags.DurationVar(&o.Check, "check", 0, "How long to look before how much two such jobs slow each other down, at least 500ms; 0 is not to look.")
	at.addTo(command)
	to.addTo(command)
	return command
}

func newCalibrate() *cobra.Command {
	var (
		to destination
		at place
		o  probe.CalibrateOptions

		levels int
	)
	command := &cobra.Command{
		Use:   "calibrate",
		Short: "Find how many requests a resource serves at once",
		Long: `Finds the least intensity at which two copies of a standard job slow each other down to
half their speed: that is how many requests the resource serves at once. No other
program should use it meanwhile.

With --levels it finds by how much a job of memory, llc or core slows another of its kind
down that shares a memory, a cache or a physical core with it on another processor: a
curve by the fraction of the time that it presses there. What slows such a job down as
much presses as hard.`,
		Example: `  # How many requests does the disk serve at once?
  loadline-probe calibrate --job disk-read --max-servers 32 --dir /var/tmp

  # How many cores does this node have for us?
  loadline-probe calibrate --job cpu --budget 20s

  # How hard do those press that share the last-level cache?
  loadline-probe calibrate --job llc --levels 4 --budget 1m`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			quiet()
			o.Job = at.job(o.Job.Name)
			if command.Flags().Changed("levels") {
				pressure := probe.CalibratePressureOptions{Job: o.Job, Levels: levels, Budget: o.Budget}
				return reporting(command, &to, func() (result.PressureCalibration, error) {
					found, err := probe.CalibratePressure(command.Context(), pressure)
					if err == nil {
						command.PrintErrln(found.Finding())
					}
					return found, err
				})
			}
			return reporting(command, &to, func() (result.Calibration, error) { return probe.Calibrate(command.Context(), o) })
		},
	}
	addJob(command, &o.Job.Name)
	flags := command.Flags()
	flags.IntVar(&o.MaxServers, "max-servers", 16, "The highest intensity to try, at most 256.")
	flags.IntVar(&levels, "levels", 0, "At how many levels of pressure to find by how much the job slows another of its kind down, from 1 to 16; by default, find how many requests its resource serves.")
	flags.DurationVar(&o.Budget, "budget", 30*time.Second, "How long it may take, at most 1h.")
	at.addTo(command)
	to.addTo(command)
	return command
}
