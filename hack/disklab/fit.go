package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"loadline.dev/loadline/hack/recording"
	"loadline.dev/loadline/pkg/gauge/usage"
)

func fitCommand() *cobra.Command {
	noisy := false
	c := &cobra.Command{
		Use:   "fit FILE",
		Short: "Compare models of the disk with what was recorded",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			r := &recorded{}
			if err := recording.Load(args[0], r); err != nil {
				return err
			}
			if len(r.Sweep) == 0 {
				return errors.New("the recording has no sweep, of which the service times are learned: record it with --sweep")
			}
			return fit(c.OutOrStdout(), r, noisy)
		},
	}
	c.Flags().BoolVar(&noisy, "noisy", false, "heed what is by noisy runs, too")
	return c
}

// fit writes what the device does, and how well models tell what pods suffered.
func fit(out io.Writer, r *recorded, noisy bool) error {
	s := learn(r.Sweep)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	s.show(w)
	showSustained(w, r.Sustained)
	showPressure(w, r, noisy)
	showReader(w, r)
	showAwait(w, r, noisy)
	showAttribution(w, r, s, noisy)
	showDilation(w, r, s, noisy)
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
	fmt.Fprintln(w, "FOR LONG\tSECONDS\tLAST 5 s / FIRST\tLEAST/s\tMOST/s\tio.pressure / BLOCKED\tFOREIGN OPERATIONS\tCPU")
	for _, s := range all {
		n := min(5, len(s.Units)/2)
		if n == 0 {
			continue
		}
		sorted := slices.Sorted(slices.Values(s.Units))
		fmt.Fprintf(w, "%s\t%d\t%.2f\t%.0f\t%.0f\t%.2f\t%.0f %%\t%.0f %%\n", s.Job, len(s.Units), sum(s.Units[len(s.Units)-n:])/sum(s.Units[:n]),
			sorted[0], sorted[len(sorted)-1], s.Pod.Disk.Some/s.Pod.Blocked, 100*s.Noise.Operations, 100*s.Noise.CPU)
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

// showPressure compares the stall at disks that the kernel accounts with the time that jobs were blocked by their own clock. What an operation
// computes in the kernel is in the latter alone: where nothing else computes, the stall with the CPU time is to be the whole.
func showPressure(w io.Writer, r *recorded, noisy bool) {
	stalls, whole := ratios{}, ratios{}
	add := func(prefix string, s spec, one run, i int) {
		pod := one.Pods[i]
		if one.Noisy && !noisy || pod.Blocked < 0.02*one.Seconds {
			return
		}
		name := prefix + "cached reads"
		if s.usesDisk() {
			name = fmt.Sprintf("%s%s %s", prefix, s.Cache, s.class())
			if s.Bytes <= 16<<10 {
				name += " up to 16k"
			}
			if s.Depth > 1 {
				name += ", several threads"
			}
		}
		stalls.add(name, pod.Disk.Some, pod.Blocked)
		whole.add(name, pod.Disk.Some+max(0, pod.CPU-s.Work*float64(pod.Units)), pod.Blocked)
	}
	for _, one := range r.Sweep {
		add("sweep, ", *one.Job, one, 0)
	}
	for _, m := range r.Mixes {
		for _, one := range m.Runs {
			for i, job := range one.Jobs {
				add("mixes, ", m.Jobs[job], one, i)
			}
		}
	}
	fmt.Fprintln(w, "io.pressure some / blocked by the job's own clock\tRUNS\tMEDIAN\tP10\tP90\tWITH CPU TIME")
	for _, name := range sortedKeys(stalls) {
		all := stalls[name]
		fmt.Fprintf(w, "%s\t%d\t%.2f\t%.2f\t%.2f\t%.2f\n", name, len(all), quantile(all, 0.5), quantile(all, 0.1), quantile(all, 0.9), quantile(whole[name], 0.5))
	}
	fmt.Fprintln(w)
}

// showAwait compares the mean time of an operation by /proc/diskstats with the latency by the job's own clock, alone.
func showAwait(w io.Writer, r *recorded, noisy bool) {
	ratios := map[string][]float64{}
	add := func(s spec, one run) {
		d, pod := one.Device, one.Pods[0]
		if one.Noisy && !noisy || s.Cache != direct || s.Sync != "" || pod.Units == 0 {
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

// ratios are quotients of what was read and what is true, by what they are of.
type ratios map[string][]float64

func (r ratios) add(name string, read, truth float64) {
	if truth > 0 {
		r[name] = append(r[name], read/truth)
	}
}

// showReader compares what Loadline's gauge reads with what the lab counts itself.
func showReader(w io.Writer, r *recorded) {
	all := ratios{}
	for _, m := range r.Mixes {
		for _, one := range m.Runs {
			if one.Interval == nil {
				continue
			}
			for _, d := range one.Interval.Disks {
				if d.Number == r.Device {
					all.add("operations of the device", float64(d.Reads.Operations+d.Writes.Operations)/one.Interval.Seconds,
						float64(one.Device.Reads+one.Device.Writes)/one.Seconds)
				}
			}
			all.addPods(m, one)
		}
	}
	fmt.Fprintln(w, "what the gauge reads / what the lab counts\tRUNS\tMEDIAN\tP10\tP90")
	for _, name := range sortedKeys(all) {
		fmt.Fprintf(w, "%s\t%d\t%.2f\t%.2f\t%.2f\n", name, len(all[name]), quantile(all[name], 0.5), quantile(all[name], 0.1), quantile(all[name], 0.9))
	}
	fmt.Fprintln(w)
}

// addPods adds those of the pods of a run.
func (r ratios) addPods(m mixRecord, one run) {
	for i, job := range one.Jobs {
		at := slices.IndexFunc(one.Interval.Pods, func(pod usage.Pod) bool { return pod.UID == podUID(job) })
		if at < 0 || !m.Jobs[job].usesDisk() {
			continue
		}
		pod, mine := one.Interval.Pods[at], one.Pods[i]
		operations := 0.0
		for _, d := range pod.Disks {
			operations += float64(d.ReadOperations + d.WriteOperations)
		}
		r.add("operations of a pod", operations/one.Interval.Seconds, float64(mine.Served.operations())/one.Seconds)
		name := "blocked seconds of a pod / in-flight time, its own clock"
		if m.Jobs[job].Depth > 1 {
			name += ", several threads"
		}
		r.add(name, pod.Blocked/one.Interval.Seconds, mine.Latency*float64(mine.Units)/one.Seconds)
	}
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
