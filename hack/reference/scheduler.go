package main

import (
	"fmt"
	"slices"
	"strings"

	_ "k8s.io/component-base/logs/json/register" // it has flags, and kube-scheduler has it
	"k8s.io/kubernetes/cmd/kube-scheduler/app"

	"loadline.dev/loadline/hack/reference/command"
	"loadline.dev/loadline/hack/reference/markdown"
)

const schedulerName = "loadline-scheduler"

// schedulerFlags are the flags of kube-scheduler that the page lists.
var schedulerFlags = []string{
	"authentication-kubeconfig", "authorization-kubeconfig", "bind-address", "config", "logging-format", "secure-port", "v",
}

// addScheduler adds the page of the scheduler, which has too many flags to list: ours,
// and the most useful ones of kube-scheduler.
func (b book) addScheduler(c *command.Command) error {
	upstream, err := command.Describe(app.NewSchedulerCommand())
	if err != nil {
		return err
	}
	c.Long, c.Example, _ = strings.Cut(c.Long, "\n\nExamples:\n") // where its help shows them
	page := commandHead(c)
	isUpstream := func(f command.Flag) bool {
		return slices.ContainsFunc(upstream.Flags, func(u command.Flag) bool { return u.Name == f.Name })
	}
	page.Heading(2, "Flags", "flags")
	if ours := slices.DeleteFunc(c.Flags, isUpstream); len(ours) > 0 {
		page.Add(flagTable(ours))
	} else {
		page.Add("It has no flags of its own.")
	}
	page.Heading(2, "Flags of kube-scheduler", "flags-of-kube-scheduler")
	page.Add("It takes all flags of kube-scheduler; `loadline-scheduler --help` lists them, and Kubernetes " +
		markdown.Link("documents them", "https://kubernetes.io/docs/reference/command-line-tools-reference/kube-scheduler/") +
		". These are useful with Loadline:")
	needed := slices.DeleteFunc(upstream.Flags, func(f command.Flag) bool { return !slices.Contains(schedulerFlags, f.Name) })
	if len(needed) != len(schedulerFlags) {
		return fmt.Errorf("kube-scheduler has %d of the flags %v: correct the list", len(needed), schedulerFlags)
	}
	page.Add(flagTable(needed))
	b.add(commandPage(c.Path), page)
	return nil
}
