package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"
)

func fitCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "fit FILE",
		Short: "Compare models of the disk with what was recorded",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r, err := load(args[0])
			if err != nil {
				return err
			}
			if len(r.Sweep) == 0 {
				return errors.New("the recording has no sweep, of which the service times are learned: record it with --sweep")
			}
			return fit(c.OutOrStdout(), r)
		},
	}
}

// fit writes what the device does, and how well models tell what pods suffered.
func fit(out io.Writer, r *recording) error {
	s := learn(r.Sweep)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	s.show(w)
	showSustained(w, r.Sustained)
	showPressure(w, r)
	showAwait(w, r)
	showAttribution(w, r, s)
	showDilation(w, r, s)
	return w.Flush()
}

func (s service) show(w io.Writer) {
	quiet, demand := func(p point) float64 { return p.quiet }, func(p point) float64 { return p.demand }
	for c := range classes {
		fmt.Fprintf(w, "%s\tSIZE\tQUIET\tDEMAND\tPARALLELISM\n", c)
		for _, p := range s.points[c] {
			fmt.Fprintf(w, "\t%s\t%.1fµs\t%.1fµs\t%.1f\n", size(int64(p.bytes)), 1e6*p.quiet, 1e6*p.demand, p.parallelism)
		}
		for _, of := range []struct {
			name string
			l    line
			y    func(point) float64
		}{{"quiet", s.quiet[c], quiet}, {"demand", s.demand[c], demand}} {
			mean, worst := of.l.relative(s.points[c], of.y)
			fmt.Fprintf(w, "\t%s = %.1fµs + bytes / %.2f GB/s: off by %.0f %% on average, %.0f %% at worst\n", of.name, 1e6*of.l.fixed,
				1e-9/of.l.perByte, 100*mean, 100*worst)
		}
	}
	fmt.Fprintln(w)
}

// showSustained says how much slower the device is at the end of long runs: a limit that refills slowly lets a burst pass first.
func showSustained(w io.Writer, all []sustained) {
	for _, s := range all {
		n := min(5, len(s.Units)/2)
		if n == 0 {
			continue
		}
		sorted := slices.Sorted(slices.Values(s.Units))
		fmt.Fprintf(w, "%s for %d s: last %d s at %.2f of the first, from %.0f to %.0f per second\n", s.Job, len(s.Units), n,
			sum(s.Units[len(s.Units)-n:])/sum(s.Units[:n]), sorted[0], sorted[len(sorted)-1])
	}
	fmt.Fprintln(w)
}

func sum(x []float64) float64 {
	total := 0.0
	for _, v := range x {
		total += v
	}
	return total
}

// showPressure compares the stall at disks that the kernel accounts with the time that jobs were blocked by their own clock.
func showPressure(w io.Writer, r *recording) {
	ratios := map[string][]float64{}
	for _, m := range r.Mixes {
		for _, one := range m.Runs {
			for i, job := range one.Jobs {
				s, pod := m.Jobs[job], one.Pods[i]
				if one.Noisy || pod.Blocked < 0.02*one.Seconds {
					continue
				}
				name := "cached reads"
				if s.usesDisk() {
					name = fmt.Sprintf("%s %s", s.Cache, s.class())
					if s.Bytes <= 16<<10 {
						name += " up to 16k"
					}
					if s.Depth > 1 {
						name += ", several threads"
					}
				}
				ratios[name] = append(ratios[name], pod.Disk.Some/pod.Blocked)
			}
		}
	}
	fmt.Fprintln(w, "io.pressure some / blocked by the job's own clock\tRUNS\tMEDIAN\tP10\tP90")
	for _, name := range sortedKeys(ratios) {
		fmt.Fprintf(w, "%s\t%d\t%.2f\t%.2f\t%.2f\n", name, len(ratios[name]), quantile(ratios[name], 0.5), quantile(ratios[name], 0.1), quantile(ratios[name], 0.9))
	}
	fmt.Fprintln(w)
}

// showAwait compares the mean time of an operation by /proc/diskstats with the latency by the job's own clock, alone.
func showAwait(w io.Writer, r *recording) {
	ratios := map[string][]float64{}
	add := func(s spec, one run) {
		d, pod := one.Device, one.Pods[0]
		if one.Noisy || s.Cache != direct || s.Sync != "" || pod.Units == 0 {
			return
		}
		await, n := d.ReadSeconds, d.Reads
		if s.Operation == write {
			await, n = d.WriteSeconds, d.Writes
		}
		name := "direct " + s.class().String()
		if s.Depth > 1 {
			name += ", several threads"
		}
		if n > 0 {
			ratios[name] = append(ratios[name], await/float64(n)/pod.Latency)
		}
	}
	for _, one := range r.Sweep {
		add(*one.Job, one)
	}
	for _, m := range r.Mixes {
		for _, one := range m.Runs {
			if len(one.Jobs) == 1 {
				add(m.Jobs[one.Jobs[0]], one)
			}
		}
	}
	fmt.Fprintln(w, "await of diskstats / latency by the job's own clock, alone\tRUNS\tMEDIAN\tP10\tP90")
	for _, name := range sortedKeys(ratios) {
		fmt.Fprintf(w, "%s\t%d\t%.2f\t%.2f\t%.2f\n", name, len(ratios[name]), quantile(ratios[name], 0.5), quantile(ratios[name], 0.1), quantile(ratios[name], 0.9))
	}
	fmt.Fprintln(w)
}

func sortedKeys(m map[string][]float64) []string {
	var keys []string
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// quantile returns the value at a part of the sorted ones.
func quantile(x []float64, q float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(x))
	return sorted[int(math.Round(q*float64(len(sorted)-1)))]
}
