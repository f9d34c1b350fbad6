package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/probe/report"
	show "loadline.dev/loadline/pkg/report"
)

// probePod is a standard job in a pod of its own.
type probePod struct {
	name     string
	job      standard
	duration string
}

// placedProbes returns the pods of standard jobs, on the first node.
func placedProbes(io device, all ...probePod) []*corev1.Pod {
	pods := make([]*corev1.Pod, len(all))
	for i, p := range all {
		pods[i] = placed(p.name, first, p.name, append([]string{
			"loadline-probe", "run", "--job", string(p.job), "--duration", p.duration,
		}, io.flags()...))
	}
	return pods
}

// edge is what is left out of a window in which a job ran, at either end: pods come and
// go there.
const edge = 500 * time.Millisecond

// twoProbes has two standard jobs for the CPU share a core: they must halve each
// other's speed. The second runs for a part of the time of the first, so that the first
// tells how fast it was before, beside and after.
func (s *session) twoProbes(ctx context.Context) error {
	var dilations []float64
	for i := range s.repeat {
		s.log.step("two CPU probes on one core, %d of %d", i+1, s.repeat)
		long, short, err := s.overlap(ctx)
		if err != nil {
			return err
		}
		dilation, err := dilationBeside(long, short)
		if err != nil {
			return err
		}
		dilations = append(dilations, dilation)
	}
	fmt.Printf("Two CPU probes on one core: each is %s slower than alone (2 ± 3%% is the bound; median of %d).\n",
		fmt.Sprintf("%.3f×", median(dilations)), s.repeat)
	return nil
}

// overlap runs a probe, and another one once the first runs.
func (s *session) overlap(ctx context.Context) (long, short report.Run, err error) {
	pods := placedProbes(s.device, probePod{"long", cpu, "24s"}, probePod{"short", cpu, "8s"})
	defer func() {
		for _, pod := range pods {
			err = errors.Join(err, s.remove(context.WithoutCancel(ctx), pod))
		}
	}()
	for _, pod := range pods {
		if err := s.Create(ctx, pod); err != nil {
			return long, short, err
		}
		if err := s.awaitRunning(ctx, pod); err != nil {
			return long, short, err
		}
	}
	messages, err := s.awaitPods(ctx, pods)
	if err != nil {
		return long, short, err
	}
	if long, err = report.ParseRun(messages[0]); err != nil {
		return long, short, err
	}
	short, err = report.ParseRun(messages[1])
	return long, short, err
}

// dilationBeside returns how many times slower one run was while the other ran, of two
// of which the other began after and ended before it.
func dilationBeside(long, short report.Run) (float64, error) {
	begin, end := long.Series.Span()
	from, to := short.Series.Span()
	margin := edge.Nanoseconds()
	before, okBefore := long.Pace(begin, from-margin)
	beside, okBeside := long.Pace(from+margin, to-margin)
	after, okAfter := long.Pace(to+margin, end)
	if !okBeside || beside == 0 || !okBefore && !okAfter {
		return 0, fmt.Errorf("the runs did not overlap as they should: one from %s to %s, the other within it from %s to %s",
			moment(begin, begin), moment(begin, end), moment(begin, from), moment(begin, to))
	}
	switch {
	case !okBefore:
		return after / beside, nil
	case !okAfter:
		return before / beside, nil
	default:
		return (before + after) / 2 / beside, nil
	}
}

// moment writes a time since the begin.
func moment(begin, t int64) string { return show.Seconds(float64(t-begin)/1e9, 1) }
