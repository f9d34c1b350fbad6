// Package predict is the verb predict: it has package evaluate predict how much the pods of one node slow each other down.
package predict

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/cli/input"
	"loadline.dev/loadline/pkg/cli/verb"
	"loadline.dev/loadline/pkg/evaluate/prediction"
	"loadline.dev/loadline/pkg/model/queueing"
	"loadline.dev/loadline/pkg/profile"
	"loadline.dev/loadline/pkg/report"
	"loadline.dev/loadline/pkg/report/chart"
	"loadline.dev/loadline/pkg/text"
)

// predict holds the flags of the verb predict.
type predict struct {
	streams verb.Streams
	files   input.Files
	pods    []string
	node    string
	cores   int
	solver  string
	plot    string
	request map[string]string
	limit   map[string]string
	weights verb.Weights
	output  verb.Output
}

// defaultCores is how many cores the node has unless it is said.
const defaultCores = 1

// New returns the command.
func New(streams verb.Streams) *cobra.Command {
	p := &predict{streams: streams}
	command := &cobra.Command{
		Use:   "predict -f FILE",
		Short: "Predict how much pods on one node slow each other down",
		Long: `predict says how much pods that share a node slow each other down, at which
resource, because of whom, and when each is done. It needs no cluster.

It reads manifests of Pods, Deployments, StatefulSets, DaemonSets, ReplicaSets, Jobs
and CronJobs, with their requests and limits, WorkloadProfiles, which say at which
resources pods spend their time, and NodeProfiles for the number of servers of each
resource; it skips objects of other kinds. Of a workload that no WorkloadProfile selects it takes what the scheduler
would, a vector that is assumed from its requests, and says so.

Without --pod there is one pod of each workload on the node, however many replicas it
has; where the files have WorkloadProfiles only, one of each of these.`,
		Example: `  # One pod of each workload, together on a node with one core
  kubectl loadline predict -f deployment.yaml

  # What if batch requested less, and web had a limit?
  kubectl loadline predict -f deployment.yaml --requests batch=100m --limits web=1

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
	p.files.Add(command, "predict", "manifests, - for standard input; may be repeated")
	flags.StringArrayVar(&p.pods, "pod", nil, "pods on the node, as NAME[=COPIES][@START], NAME being that of a WorkloadProfile or a workload, such as deployment/web; may be repeated (default one of each workload, or of each profile)")
	flags.StringToStringVar(&p.request, "requests", nil, "CPU that pods request, as NAME=CPU,…, 0 for nothing (default what the manifests say; without any, all pods share alike)")
	flags.StringToStringVar(&p.limit, "limits", nil, "CPU that pods may use at most, as NAME=CPU,…, 0 for no limit (default what the manifests say)")
	flags.StringVar(&p.node, "node", "", "the NodeProfile that the node follows (default the only one in the files)")
	flags.IntVar(&p.cores, "cores", defaultCores, "how many cores the node has, unless its NodeProfile says so")
	flags.StringVar(&p.solver, "solver", "auto", "how to solve the model: "+strings.Join(queueing.SolverNames(), ", "))
	flags.StringVar(&p.plot, "plot", "", "draw the pods' times to this file (.svg or .png)")
	p.weights.Add(command)
	p.output.AddWide(command)
	return command
}

func (p *predict) run() error {
	if len(p.files.Paths) == 0 {
		return errors.New("name a file with workloads or WorkloadProfiles: -f deployment.yaml")
	}
	if err := verb.CheckChart("plot", p.plot); err != nil {
		return err
	}
	in := prediction.Input{Node: p.node, Cores: p.cores, Solver: p.solver}
	for _, text := range p.pods {
		pods, err := parsePods(text)
		if err != nil {
			return fmt.Errorf("--pod %s: %w", text, err)
		}
		in.Pods = append(in.Pods, pods)
	}
	var err error
	if in.Requests, err = parseCPU("requests", p.request); err != nil {
		return err
	}
	if in.Weights, err = p.weights.Options(); err != nil {
		return err
	}
	if in.Limits, err = parseCPU("limits", p.limit); err != nil {
		return err
	}
	read, err := p.files.Read(p.streams, append(input.Workloads(), input.WorkloadProfile, input.NodeProfile)...)
	if err != nil {
		return err
	}
	if read.Skipped["Node"] > 0 && p.cores == defaultCores {
		if err := p.streams.Err.Lines("predict takes no Node: --cores, or a NodeProfile, says how many cores the node has."); err != nil {
			return err
		}
	}
	in.Workloads, in.Profiles, in.Nodes = read.Workloads, read.WorkloadProfiles, read.NodeProfiles
	prediction, err := prediction.Predict(in)
	if err != nil {
		return err
	}
	if p.plot != "" {
		if err := plotPrediction(p.plot, prediction); err != nil {
			return err
		}
	}
	return p.output.Print(p.streams.Out, prediction, func(page *verb.Page) error { return printPrediction(page, prediction, p.notes(prediction)) })
}

// parsePods reads NAME[=COPIES][@START].
func parsePods(text string) (prediction.Pods, error) {
	pods := prediction.Pods{Copies: 1}
	rest, start, hasStart := strings.Cut(text, "@")
	name, copies, hasCopies := strings.Cut(rest, "=")
	pods.Name = name
	if name == "" {
		return pods, errors.New("write NAME[=COPIES][@START], such as filecomp=2@90s")
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

// parseCPU reads the CPU that pods request, or may use.
func parseCPU(flag string, texts map[string]string) (map[string]resource.Quantity, error) {
	var quantities map[string]resource.Quantity
	for name, text := range texts {
		cpu, err := resource.ParseQuantity(text)
		if err != nil {
			return nil, fmt.Errorf("--%s %s=%s: %q is not a quantity of CPU such as 500m or 2", flag, name, text, text)
		}
		if quantities == nil {
			quantities = map[string]resource.Quantity{}
		}
		quantities[name] = cpu
	}
	return quantities, nil
}

// printPrediction prints the answer for people, and notes below.
func printPrediction(page *verb.Page, p *prediction.Answer, notes []string) error {
	if err := page.Table(predictionTable(p, page.Wide)); err != nil {
		return err
	}
	return page.Lines(append([]string{summarize(p)}, notes...)...)
}

// predictionTable has a row for the pods of each workload, and those columns that say something.
func predictionTable(p *prediction.Answer, wide bool) *text.Table {
	has := func(is func(*prediction.PodsAnswer) bool) bool {
		return slices.ContainsFunc(p.Pods, func(pods prediction.PodsAnswer) bool { return is(&pods) })
	}
	manifests := has(func(pods *prediction.PodsAnswer) bool { return pods.Workload != "" })
	shared := has(func(pods *prediction.PodsAnswer) bool { return pods.Request != nil })
	limited := has(func(pods *prediction.PodsAnswer) bool { return pods.Limit != nil })
	interference := has(func(pods *prediction.PodsAnswer) bool {
		return slices.ContainsFunc(pods.Waits, func(w prediction.Wait) bool { return w.Interference })
	})
	timed := !manifests || has(func(pods *prediction.PodsAnswer) bool { return pods.NeutralSeconds != nil })
	devices := has(func(pods *prediction.PodsAnswer) bool { return len(pods.Devices) > 0 })
	columns := []struct {
		column text.Column
		shown  bool
		cell   func(*prediction.PodsAnswer) string
	}{
		{text.Left("POD"), true, nameOf},
		{text.Left("DEVICE"), devices, func(pods *prediction.PodsAnswer) string {
			return cmp.Or(strings.Join(pods.Devices, ", "), text.Absent)
		}},
		{text.Right("REQUEST"), shared, func(pods *prediction.PodsAnswer) string { return quantityOf(pods.Request) }},
		{text.Right("LIMIT"), limited, func(pods *prediction.PodsAnswer) string { return quantityOf(pods.Limit) }},
		{text.Left("QOS"), shared && wide, func(pods *prediction.PodsAnswer) string { return string(pods.QoSClass) }},
		{text.Left("VECTOR"), manifests || wide, func(pods *prediction.PodsAnswer) string { return vectorOf(pods, wide) }},
		{text.Right("NEUTRAL"), timed, func(pods *prediction.PodsAnswer) string { return seconds(pods.NeutralSeconds) }},
		{text.Right("DILATION"), true, func(pods *prediction.PodsAnswer) string { return text.TimesWithin(pods.Dilation, pods.DilationError) }},
		{text.Right("IF EQUAL"), shared, func(pods *prediction.PodsAnswer) string { return text.Times(*pods.EqualDilation) }},
		{text.Right("DONE AT"), timed, func(pods *prediction.PodsAnswer) string { return seconds(pods.DoneAtSeconds) }},
		{text.Left("SLOWED DOWN AT"), interference, func(pods *prediction.PodsAnswer) string { return waits(pods.Waits) }},
		{text.Left("WAITS FOR"), !interference, func(pods *prediction.PodsAnswer) string { return waits(pods.Waits) }},
	}
	var shown []text.Column
	for _, c := range columns {
		if c.shown {
			shown = append(shown, c.column)
		}
	}
	table := text.NewTable(shown...)
	for i := range p.Pods {
		var cells []string
		for _, c := range columns {
			if c.shown {
				cells = append(cells, c.cell(&p.Pods[i]))
			}
		}
		table.Add(cells...)
	}
	return table
}

func nameOf(pods *prediction.PodsAnswer) string {
	name := pods.Name
	if pods.Copies > 1 {
		name = fmt.Sprintf("%s (%d pods)", name, pods.Copies)
	}
	if pods.StartSeconds > 0 {
		name += " from " + seconds(&pods.StartSeconds)
	}
	return name
}

func quantityOf(q *resource.Quantity) string {
	if q == nil {
		return text.Absent
	}
	return q.String()
}

// vectorOf says where a vector is from, and on a wide page its content.
func vectorOf(pods *prediction.PodsAnswer, wide bool) string {
	from := "profile " + pods.Vector.Profile
	if pods.Vector.Source == profile.SourceRequests {
		from = "assumed"
	}
	if !wide {
		return from
	}
	return demandsOf(pods) + " (" + from + ")"
}

// demandsOf writes a vector: "cpu 0.58, disk 0.42".
func demandsOf(pods *prediction.PodsAnswer) string {
	var parts []string
	for _, d := range pods.Demands {
		part := fmt.Sprintf("%s %.2f", d.Resource, d.Loading)
		switch {
		case d.Effect != nil:
			part = effectOf(&d)
		case d.Threads > 1:
			part = fmt.Sprintf("%s %d × %.2f", d.Resource, d.Threads, d.Loading)
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return "idle"
	}
	return strings.Join(parts, ", ")
}

// effectOf writes a pod's effect at an interference resource: "llc pressure 0.70, up to 1.80× slower".
func effectOf(d *prediction.PodDemand) string {
	part := fmt.Sprintf("%s pressure %.2f", d.Resource, d.Pressure)
	if n := len(d.Effect.Curve); n > 0 {
		part += fmt.Sprintf(" (computes up to %s longer)", text.Times(d.Effect.Curve[n-1].Inflation))
	}
	return part
}

// notes state the assumptions of the answer.
func (p *predict) notes(answer *prediction.Answer) (lines []string) {
	var guessed, unmeasured, replicated []string
	requested := resource.Quantity{}
	for i := range answer.Pods {
		pods := &answer.Pods[i]
		switch {
		case pods.Vector.Source != profile.SourceRequests:
		case pods.Vector.Profile != "":
			unmeasured = append(unmeasured, fmt.Sprintf("%s (%s)", pods.Name, demandsOf(pods)))
		default:
			guessed = append(guessed, fmt.Sprintf("%s (%s)", pods.Name, demandsOf(pods)))
		}
		if r := pods.Replicas; pods.Workload != "" && r != nil && *r > 1 {
			replicated = append(replicated, fmt.Sprintf("--pod %s=%d", pods.Name, *r))
		}
		if pods.Request != nil {
			total := pods.Request.DeepCopy()
			total.Mul(int64(pods.Copies))
			requested.Add(total)
		}
	}
	const assumed = ": it is assumed, as by the scheduler, that a pod uses the CPU that it requests, or the rules' minimum, within its limit."
	if len(guessed) > 0 {
		lines = append(lines, "No WorkloadProfile selects "+text.Names(guessed)+assumed)
	}
	if len(unmeasured) > 0 {
		lines = append(lines, "There is a WorkloadProfile without a vector yet for "+text.Names(unmeasured)+assumed)
	}
	for _, r := range answer.Resources {
		if r.Name == string(corev1.ResourceCPU) && requested.CmpInt64(int64(r.Servers)) > 0 {
			lines = append(lines, fmt.Sprintf("They request %s CPU together, and the node has %s: the scheduler would not put all of them there.", requested.String(), text.Counted(r.Servers, "core")))
		}
	}
	if len(replicated) > 0 && len(p.pods) == 0 {
		lines = append(lines, "This is one pod of each workload; with all replicas: "+strings.Join(replicated, " ")+".")
	}
	for i := range answer.Pods {
		lines = append(lines, ownCPU(&answer.Pods[i])...)
	}
	lines = append(lines, correctedTimes(answer)...)
	lines = append(lines, assumedDevices(answer)...)
	if answer.SharedCores != nil {
		lines = append(lines, fmt.Sprintf("The others share %s.", text.Counted(*answer.SharedCores, "core")))
	}
	for _, l := range answer.LeftOut {
		lines = append(lines, fmt.Sprintf("%s is left out: %s.", l.Workload, l.Why))
	}
	lines = append(lines, report.CaveatLines(answer.Caveats)...)
	return lines
}

// correctedTimes names the pods whose neutral time differs from the stated one, with their dilations over that.
func correctedTimes(p *prediction.Answer) (lines []string) {
	for i := range p.Pods {
		pods := &p.Pods[i]
		if pods.NeutralCorrection == nil {
			continue
		}
		line := fmt.Sprintf("The alone time of %s that was stated is %s, by the fit that its profile is from: over that time its dilation is %s.",
			pods.Name, wrongBy(*pods.NeutralCorrection), text.Times(*pods.NeutralCorrection*pods.Dilation))
		if !slices.Contains(lines, line) { // pods at several devices
			lines = append(lines, line)
		}
	}
	return lines
}

// wrongBy states the error of a time, given the factor to the true one: "too short by 4.89×", "too long by 2.0%".
func wrongBy(factor float64) string {
	way := "too short by "
	if factor < 1 {
		way, factor = "too long by ", 1/factor
	}
	const little = 1.1 // two decimals of it say nothing
	if factor < little {
		return way + text.Percent(factor-1)
	}
	return way + text.Times(factor)
}

// assumedDevices names the pods whose devices are assumed.
func assumedDevices(p *prediction.Answer) []string {
	var assumed []string
	for i := range p.Pods {
		if pods := &p.Pods[i]; pods.DevicesAssumed && !slices.Contains(assumed, pods.Name) {
			assumed = append(assumed, pods.Name)
		}
	}
	if len(assumed) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("Which devices %s use is assumed: in turn those with the fewest pods, as device plugins assign them. The annotation %s: %s says which.",
		text.Names(assumed), v1alpha1.DevicesAnnotation, profile.Device{Kind: p.Devices[0].Name}.String())}
}

// ownCPU describes the effect of a limit, or of cores of their own, on some pods alone.
func ownCPU(pods *prediction.PodsAnswer) (lines []string) {
	if pods.Throttling != nil {
		line := fmt.Sprintf("Its limit of %s makes %s take %s as long even alone", pods.Limit, pods.Name, text.Times(*pods.Throttling))
		if pods.NeutralSeconds != nil {
			line += ", which is its neutral time here"
		}
		lines = append(lines, line+".")
	}
	if pods.MaxThrottling != nil {
		lines = append(lines, fmt.Sprintf("Its limit of %s counts as if %s computed for short times only; if it computes for long at a time, it takes up to %s as long alone: "+
			"burstMillis in WorkloadProfile %s says for how long it does.", pods.Limit, pods.Name, text.Times(*pods.MaxThrottling), pods.Vector.Profile))
	}
	if pods.ExclusiveCores > 0 {
		each := ""
		if pods.Copies > 1 {
			each = " each"
		}
		lines = append(lines, fmt.Sprintf("%s has %s%s for itself.", pods.Name, text.Counted(pods.ExclusiveCores, "core"), each))
	}
	return lines
}

// waits lists the waits of a pod: "disk 0.42 (sort 0.40, cart 0.02), cpu 0.10".
func waits(list []prediction.Wait) string {
	const least = 0.005 // parts that would print as 0.00 are left out
	var parts []string
	for _, wait := range byDevice(list) {
		if wait.Dilation < least {
			continue
		}
		var because []string
		for _, b := range wait.Because {
			if b.Dilation >= least {
				because = append(because, fmt.Sprintf("%s %.2f", b.Name, b.Dilation))
			}
		}
		part := fmt.Sprintf("%s %.2f", cmp.Or(wait.Device, wait.Resource), wait.Dilation)
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

// byDevice adds up the parts of a dilation by the resources of one device.
func byDevice(list []prediction.Wait) []prediction.Wait {
	var all []prediction.Wait
	for _, wait := range list {
		k := slices.IndexFunc(all, func(w prediction.Wait) bool { return w.Device != "" && w.Device == wait.Device })
		if k < 0 {
			wait.Because = slices.Clone(wait.Because)
			all = append(all, wait)
			continue
		}
		all[k].Dilation += wait.Dilation
		for _, b := range wait.Because {
			at := slices.IndexFunc(all[k].Because, func(known prediction.Because) bool { return known.Name == b.Name })
			if at < 0 {
				all[k].Because = append(all[k].Because, b)
			} else {
				all[k].Because[at].Dilation += b.Dilation
			}
		}
	}
	return all
}

func summarize(p *prediction.Answer) string {
	pods := 0
	for _, some := range p.Pods {
		pods += some.Copies
	}
	var servers, domains, devices []string
	for _, d := range p.Devices {
		devices = append(devices, fmt.Sprintf("%s %d %s", d.Name, d.Count, d.Sharing))
	}
	for _, r := range p.Resources {
		if r.Domains > 0 {
			domains = append(domains, fmt.Sprintf("%s %d", r.Name, r.Domains))
		} else {
			servers = append(servers, fmt.Sprintf("%s %d", r.Name, r.Servers))
		}
	}
	var node []string
	for _, list := range []struct {
		kind  string
		parts []string
	}{{"servers", servers}, {"domains", domains}, {"devices", devices}} {
		if len(list.parts) > 0 {
			node = append(node, list.kind+": "+strings.Join(list.parts, ", "))
		}
	}
	text := fmt.Sprintf("%s on one node (%s), %s", text.Counted(pods, "pod"), strings.Join(node, "; "), p.Solver)
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
func plotPrediction(path string, p *prediction.Answer) error {
	if p.DoneAtSeconds == nil {
		return errors.New("--plot: set neutralMillis in every profile: without it nobody knows when a pod is done")
	}
	schedule := chart.Schedule{Name: p.Solver}
	for _, pods := range p.Pods {
		for k := range pods.Copies {
			job := pods.Name
			if pods.Copies > 1 {
				job = fmt.Sprintf("%s %d", pods.Name, k+1)
			}
			schedule.Bars = append(schedule.Bars, chart.Bar{
				Machine: "node", Job: job, StartSeconds: pods.StartSeconds, EndSeconds: *pods.DoneAtSeconds,
			})
		}
	}
	return chart.WriteFile(path, chart.Timeline{Title: "When pods on one node are done, by the contention model", Schedules: []chart.Schedule{schedule}})
}
