package deployed

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/explanation"
)

// Rules are what a scheduler goes by when it judges nodes: its rules for pods without a profile, and its guard.
type Rules struct {
	// Scheduler is its configuration, nil where that is not known: then the rules are the defaults.
	Scheduler *SchedulerConfig
	// From says where the rules are from.
	From string
}

// FindRules returns the rules of the scheduler in a namespace, or, where that is empty, in any that [FindComponents] looks in; the defaults
// where these cannot be found.
func FindRules(ctx context.Context, c client.Client, namespace, own string) (*Rules, error) {
	r := &Rules{}
	components, err := FindComponents(ctx, c, namespace, own)
	if err == nil {
		r.Scheduler, r.From, err = FindSchedulerConfig(ctx, c, components)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		r.From = "the defaults, since the scheduler's are not known: " + verb.OneLine(err)
	}
	return r, nil
}

// ReadRules returns the rules of a file with the configuration of a scheduler; the defaults without a path.
func ReadRules(path string) (*Rules, error) {
	if path == "" {
		return &Rules{From: "the defaults"}, nil
	}
	r := &Rules{From: filepath.Base(path)}
	content, err := os.ReadFile(filepath.Clean(path))
	if err == nil {
		r.Scheduler, err = ReadSchedulerConfig(content)
	}
	if err != nil {
		return nil, fmt.Errorf("--scheduler %s: %w", r.From, err)
	}
	return r, nil
}

// Judge has an explanation go by the rules.
func (r *Rules) Judge(in *explanation.Input) error {
	in.Rules = r.From
	if r.Scheduler != nil {
		in.Schedulers = append([]string{}, r.Scheduler.Names...)
	}
	args, err := r.Scheduler.Args(in.Pod.Spec.SchedulerName)
	if err != nil {
		return err
	}
	in.Requests, in.GuardMode, in.Limits = args.Requests, args.GuardMode, args.Limits
	in.Hold = explanation.Hold{MaxDilation: args.HoldMaxDilation, MaxWaitSeconds: args.HoldMaxWait.Seconds()}
	return nil
}
