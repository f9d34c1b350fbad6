package cli

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/pkg/cli/input"
	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate"
	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/report/text"
)

// predict holds the flags of the verb predict.
type predict struct {
	streams verb.Streams
	files   []string
	pods    []string
	node    string
	cores   int
	solver  string
	plot    string
	request map[string]string
	output  verb.Output
}

func newPredict(streams verb.Streams) *cobra.Command {
	p := &predict{streams: streams}
	command := &cobra.Command{
		Use:   "predict -f FILE",
		Short: "Predict how much pods on one node slow each other down",
		Long: `predict tells how much pods that share a node slow each other down, at which
resource, because of whom, and when each is done. It reads WorkloadProfiles, and
NodeProfiles for the number of servers of each resource; it needs no cluster.`,
		Example: `  # One pod of each profile, together on a node with one core
  kubectl loadline predict -f profiles.yaml

  # Two pods of filecomp, and one of sort that starts a minute later, on 16 cores
  kubectl loadline predict -f profiles.yaml --pod filecomp=2 --pod sort@1m --cores 16

  # What it does that sort requests ten times the CPU
  kubectl loadline predict -f profiles.yaml --requests filecomp=50m,sort=500m

  # On a node that follows a NodeProfile; everything in JSON
  kubectl loadline predict -f profiles.yaml -f nodes.yaml --node nvme -o json`,
		Args: verb.NoArguments,
		RunE: func(command *cobra.Command, _ []string) error { return verb.Abandon(command.Context(), p.run) },
	}
	flags := command.Flags()
	flags.StringSliceVarP(&p.files, "filename", "f", nil, "file with manifests, - for standard input; may be repeated")
	flags.StringArrayVar(&p.pods, "pod", nil, "pods on the node, as PROFILE[=COPIES][@START]; may be repeated (default one of each profile)")
	flags.StringToStringVar(&p.request, "requests", nil, "CPU that a pod of each profile requests, as PROFILE=CPU,…, 0 for nothing (default all pods share alike)")
	flags.StringVar(&p.node, "node", "", "the NodeProfile that the node follows (default the only one in the files)")
	flags.IntVar(&p.cores, "cores", 1, "how many cores the node has, unless its NodeProfile says so")
	flags.StringVar(&p.solver, "solver", "auto", "how to solve the model: "+strings.Join(evaluate.Solvers(), ", "))
	flags.StringVar(&p.plot, "plot", "", "draw the pods' times to this file (.svg or .png)")
	p.output.Add(command)
	return command
}

func (p *predict) run() error {
	if len(p.files) == 0 {
		return errors.New("name a file with WorkloadProfiles: -f profiles.yaml")
	}
	if err := verb.CheckChart("plot", p.plot); err != nil {
		return err
	}
	in := evaluate.PredictionInput{Node: p.node, Cores: p.cores, Solver: p.solver}
	for _, text := range p.pods {
		pods, err := parsePods(text)
		if err != nil {
			return fmt.Errorf("--pod %s: %w", text, err)
		}
		in.Pods = append(in.Pods, pods)
	}
	var err error
	if in.Requests, err = parseRequests(p.request); err != nil {
		return err
	}
	m, err := input.ReadManifests(p.files, p.streams.In)
	if err != nil {
		return err
	}
	in.Profiles, in.Nodes = m.Workloads, m.Nodes
	prediction, err := evaluate.Predict(in)
	if err != nil {
		return err
	}
	if p.plot != "" {
		if err := plotPrediction(p.plot, prediction); err != nil {
			return err
		}
	}
	return p.output.Print(p.streams.Out, prediction, func(page *verb.Page) error { return printPrediction(page, prediction) })
}

// parsePods reads PROFILE[=COPIES][@START].
func parsePods(text string) (evaluate.Pods, error) {
	pods := evaluate.Pods{Copies: 1}
	rest, start, hasStart := strings.Cut(text, "@")
	profile, copies, hasCopies := strings.Cut(rest, "=")
	pods.Profile = profile
	if profile == "" {
		return pods, errors.New("write PROFILE[=COPIES][@START], such as filecomp=2@90s")
	}
	if hasCopies {
		n, err := strconv.Atoi(copies)
		if err != nil {
			return pods, fmt.Errorf("copies: %q is not a whole number", copies)
		}
		pods.Copies = n
	}
	if hasStart {
		d, err := time.ParseDuration(start)
		if err != nil {
			return pods, fmt.Errorf("start: %q is not a duration such as 90s or 1m30s", start)
		}
		pods.Start = d
	}
	return pods, nil
}

// parseRequests reads the CPU that pods request.
func parseRequests(texts map[string]string) (map[string]resource.Quantity, error) {
	var requests map[string]resource.Quantity // none: all pods share alike
	for profile, text := range texts {
		cpu, err := resource.ParseQuantity(text)
		if err != nil {
			return nil, fmt.Errorf("--requests %s=%s: %q is not a quantity of CPU such as 500m or 2", profile, text, text)
		}
		if requests == nil {
			requests = map[string]resource.Quantity{}
		}
		requests[profile] = cpu
	}
	return requests, nil
}

// printPrediction prints the answer for people.
func printPrediction(page *verb.Page, p *evaluate.Prediction) error {
	shared := len(p.Pods) > 0 && p.Pods[0].Request != nil
	columns := []text.Column{text.Left("POD"), text.Right("NEUTRAL"), text.Right("DILATION"), text.Right("DONE AT"), text.Left("WAITS FOR")}
	if shared {
		columns = slices.Insert(columns, 1, text.Right("REQUEST"))
		columns = slices.Insert(columns, 4, text.Right("IF EQUAL"))
	}
	table := text.NewTable(columns...)
	for _, pods := range p.Pods {
		name := pods.Profile
		if pods.Copies > 1 {
			name = fmt.Sprintf("%s (%d pods)", name, pods.Copies)
		}
		if pods.StartSeconds > 0 {
			name += " from " + seconds(&pods.StartSeconds)
		}
		cells := []string{name, seconds(pods.NeutralSeconds), text.TimesWithin(pods.Dilation, pods.DilationError), seconds(pods.DoneAtSeconds), waits(pods.Waits)}
		if shared {
			cells = slices.Insert(cells, 1, pods.Request.String())
			cells = slices.Insert(cells, 4, text.Times(*pods.EqualDilation))
		}
		table.Add(cells...)
	}
	if err := page.Table(table); err != nil {
		return err
	}
	return page.Lines(summarize(p))
}

// waits says what a pod waits for: "disk 0.42 (sort 0.40, cart 0.02), cpu 0.10".
func waits(list []evaluate.Wait) string {
	const least = 0.005 // what would be printed as 0.00 is left out
	var parts []string
	for _, wait := range list {
		if wait.Dilation < least {
			continue
		}
		var because []string
		for _, b := range wait.Because {
			if b.Dilation >= least {
				because = append(because, fmt.Sprintf("%s %.2f", b.Profile, b.Dilation))
			}
		}
		part := fmt.Sprintf("%s %.2f", wait.Resource, wait.Dilation)
		if len(because) > 0 {
			part += " (" + strings.Join(because, ", ") + ")"
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}

func summarize(p *evaluate.Prediction) string {
	pods := 0
	for _, some := range p.Pods {
		pods += some.Copies
	}
	var resources []string
	for _, r := range p.Resources {
		resources = append(resources, fmt.Sprintf("%s %d", r.Name, r.Servers))
	}
	text := fmt.Sprintf("%s pods on one node (servers: %s), %s", text.Count(int64(pods)), strings.Join(resources, ", "), p.Solver)
	if p.DoneAtSeconds != nil {
		text += "; the node is done after " + seconds(p.DoneAtSeconds)
	}
	return text
}

func seconds(s *float64) string {
	if s == nil {
		return text.Absent
	}
	return text.Seconds(*s, 1)
}

// plotPrediction draws when each pod runs.
func plotPrediction(path string, p *evaluate.Prediction) error {
	if p.DoneAtSeconds == nil {
		return errors.New("--plot: set neutralMillis in every profile: without it nobody knows when a pod is done")
	}
	schedule := chart.Schedule{Name: p.Solver}
	for _, pods := range p.Pods {
		for k := range pods.Copies {
			job := pods.Profile
			if pods.Copies > 1 {
				job = fmt.Sprintf("%s %d", pods.Profile, k+1)
			}
			schedule.Bars = append(schedule.Bars, chart.Bar{
				Machine: "node", Job: job, StartSeconds: pods.StartSeconds, EndSeconds: *pods.DoneAtSeconds,
			})
		}
	}
	return chart.WriteFile(path, chart.Timeline{Title: "When pods on one node are done, by the contention model", Schedules: []chart.Schedule{schedule}})
}
