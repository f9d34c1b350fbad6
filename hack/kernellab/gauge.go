package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"path/filepath"

	"loadline.dev/loadline/hack/kernellab/mixes"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// Paths of the control group of a pod or of its container, with a format for the number of the pod: flat, and as the kubelet and
// containerd have them with either driver.
const (
	flat     = "pods/%d"
	cgroupfs = "kubepods/burstable/pod00000000-0000-4000-8000-%012d/%064d"
	systemd  = "kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod00000000_0000_4000_8000_%012d.slice/cri-containerd-%064d.scope"
)

// uidOf returns the UID of a pod that such a path has.
func uidOf(pod int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", pod) }

// runGauge runs mixes with a gauge beside them, and writes what both found.
func runGauge(ctx context.Context, out, log io.Writer, args []string) error {
	var o options
	driver := "systemd"
	flags := flag.NewFlagSet("gauge", flag.ContinueOnError)
	o.addTo(flags)
	flags.StringVar(&o.gauge, "gauge", filepath.Join("bin", "loadline-gauge"), "`file` of a gauge, statically linked")
	flags.StringVar(&driver, "cgroup-driver", driver, "of the kubelet whose names of control groups the pods have, systemd or cgroupfs")
	rows, err := o.parse(flags, args)
	if err != nil {
		return err
	}
	switch driver {
	case "systemd":
		o.groups = systemd
	case "cgroupfs":
		o.groups = cgroupfs
	default:
		return fmt.Errorf("--cgroup-driver: %q is neither systemd nor cgroupfs", driver)
	}
	e, err := o.run(ctx, rows, log)
	if err != nil {
		return err
	}
	sights, err := e.sights()
	if err != nil {
		return err
	}
	writeSights(out, sights)
	return nil
}

// sight is a pod, and what a gauge beside it saw of it.
type sight struct {
	mixes.Row
	seen usage.Pod
}

// stretch returns how many times longer than their own time the threads of the pod took, by themselves, and loading how much of that
// time they computed.
func (s *sight) stretch() float64 { return float64(s.Threads) * s.Seconds / s.Together.Own }
func (s *sight) loading() float64 { return s.Together.Computed / s.Together.Own }

// burst returns for how many milliseconds a thread of the pod computed until it slept, by itself, infinitely long if it never does.
func (s *sight) burst() float64 {
	const millis = 1000
	if s.Loading == 1 || s.Together.Bursts == 0 {
		return math.Inf(1)
	}
	return millis * s.Together.Computed / float64(s.Together.Bursts)
}

// burstOff returns how many times too long or too short the gauge's burst is, at least 1.
func (s *sight) burstOff() float64 {
	return math.Exp(math.Abs(math.Log(1000 * s.seen.BurstSeconds / s.burst())))
}

// off returns how far the gauge's dilation is from the pod's own.
func (s *sight) off() float64 { return s.seen.Dilation/s.stretch() - 1 }

// sights returns what the gauge saw of each pod.
func (e *experiment) sights() ([]sight, error) {
	rows, err := e.results()
	if err != nil {
		return nil, err
	}
	var all []sight
	for _, mix := range mixes.ByMix(rows) {
		var interval usage.Interval
		said := e.observed[mix[0].Mix]
		if err := json.Unmarshal(said, &interval); err != nil {
			return nil, fmt.Errorf("mix %s: the gauge says %q: %w", mix[0].Mix, said, err)
		}
		for _, r := range mix {
			s := sight{Row: r}
			for _, p := range interval.Pods {
				if p.UID == uidOf(r.Pod) {
					s.seen = p
				}
			}
			if s.seen.UID == "" {
				return nil, fmt.Errorf("mix %s: the gauge did not see pod %d", r.Mix, r.Pod)
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// writeSights writes a table of pods, and how far off the gauge is.
func writeSights(w io.Writer, sights []sight) {
	const percent = 100
	fmt.Fprintln(w, "| mix, pod | dilation | by the gauge | loading | by the gauge | threads | by the gauge | throttled | by the gauge | burst | by the gauge |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|---|---|---|")
	mean, worst := 0.0, 0.0
	bursts, meanBurst, worstBurst := 0.0, 0.0, 1.0
	for i := range sights {
		s := &sights[i]
		mean += math.Abs(s.off()) / float64(len(sights))
		worst = max(worst, math.Abs(s.off()))
		fmt.Fprintf(w, "| %s, %d | %.3f | %.3f | %.3f | %.3f | %d | %.2f | %.2f s | %.2f s | %s | %s |\n", s.Mix, s.Pod, s.stretch(), s.seen.Dilation,
			s.loading(), s.seen.CPULoading, s.Threads, s.seen.Threads, s.Together.Held, s.seen.Throttled, millis(s.burst()), millis(1000*s.seen.BurstSeconds))
		if !math.IsInf(s.burst(), 1) {
			bursts++
			meanBurst += math.Log(s.burstOff())
			worstBurst = max(worstBurst, s.burstOff())
		}
	}
	fmt.Fprintf(w, "\nThe gauge's dilations are off by %.1f %% on average, %.1f %% at worst.\n", percent*mean, percent*worst)
	fmt.Fprintf(w, "Its bursts are off by a factor of %.2f on average, %.2f at worst.\n", math.Exp(meanBurst/max(1, bursts)), worstBurst)
}

// millis writes a burst.
func millis(burst float64) string {
	if math.IsInf(burst, 1) {
		return "never sleeps"
	}
	return fmt.Sprintf("%.2f ms", burst)
}
