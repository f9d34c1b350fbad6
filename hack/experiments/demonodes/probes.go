package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/probe/result"
	"loadline.dev/loadline/pkg/text"
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
// tells how fast it was before, beside and after. Their work says the same as the
// processor time they got where processors are always as fast.
func (s *session) twoProbes(ctx context.Context) error {
	var byTime, byWork []float64
	for i := range s.repeat {
		s.log.step("two CPU probes on one core, %d of %d", i+1, s.repeat)
		long, short, err := s.overlap(ctx)
		if err != nil {
			return err
		}
		got, err := dilationBeside(long.Pace, long.Series, short.Series)
		if err != nil {
			return err
		}
		did, err := dilationBeside(long.Series.Rate, long.Series, short.Series)
		if err != nil {
			return err
		}
		byTime, byWork = append(byTime, got), append(byWork, did)
	}
	fmt.Printf("Two CPU probes on one core: each is %.3f× slower than alone by the processor time they got, %.3f× by their work\n"+
		"(2 ± 3%% is the bound; medians of %d).\n", median(byTime), median(byWork), s.repeat)
	return nil
}

// overlap runs a probe, and another one once the first runs.
func (s *session) overlap(ctx context.Context) (long, short result.Run, err error) {
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
	if long, err = result.ParseRun(messages[0]); err != nil {
		return long, short, err
	}
	short, err = result.ParseRun(messages[1])
	return long, short, err
}

// dilationBeside returns how many times slower one run was while the other ran, of two
// of which the other began after and ended before it. The pace is the first one's between
// two times.
func dilationBeside(pace func(from, to int64) (float64, bool), long, short result.Series) (float64, error) {
	begin, end := long.Span()
	from, to := short.Span()
	margin := edge.Nanoseconds()
	before, okBefore := pace(begin, from-margin)
	beside, okBeside := pace(from+margin, to-margin)
	after, okAfter := pace(to+margin, end)
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
func moment(begin, t int64) string { return text.Seconds(float64(t-begin)/1e9, 1) }
