// Package shares answers with which mean response times shares of processors come:
// those of a ShareTree ([OfTree]), and those that the kubelet makes of the CPU
// requests of a node's pods ([OfNode]). It writes the status of a ShareTree, and
// whether the profiles that are its leaves can meet their SLA.
package shares

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/fairshare"
)

// TreeInput is what a share tree is about.
type TreeInput struct {
	Tree *v1alpha1.ShareTree
	// Profiles are leaves if their fairShare names the tree, the tree lists their
	// namespace and there is room for them. Those that name it and are no leaves are
	// the answer's LeftOut.
	Profiles []v1alpha1.WorkloadProfile
	// Aggregates are siblings to take together, one after the other, before anything is changed.
	Aggregates []Aggregate
	// Changes are what to change about the tree; with some, the answer says what
	// was before, too.
	Changes []Change
	// Options say how to compute the response times.
	Options Options

	// alone is why no profile joins the tree, nil if they do.
	alone error
}

// Options say how to compute response times. The zero value is a sound choice.
type Options struct {
	// Method is one of [Methods]; empty is the first.
	Method string
	// Tolerance, Samples and Seed are those of [fairshare.Options].
	Tolerance float64
	Samples   int
	Seed      uint64
}

// Change gives a group or workload another share.
type Change struct {
	// Name is its name or its path, such as web/web.hi.
	Name string
	// Share is at least 1.
	Share int32
}

// Aggregate takes siblings together into one workload, with the sums of their shares and
// utilizations: an approximation for the others, [fairshare.Tree.Aggregate].
type Aggregate struct {
	// Name is what the workload is called.
	Name string
	// Members are the siblings, by name or path.
	Members []string
}

// Error says why a tree has no response times. The reason is that of the
// condition Ready.
type Error struct {
	Reason string
	err    error
	// leftOut are the profiles that would not be part of the tree if there were an answer,
	// absent says where they are in the list.
	leftOut []LeftOut
	absent  map[string]int
}

func (e *Error) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.err }

// Methods returns the names of the methods, the default first. The last one,
// caps, takes shares as limits: it is another model.
func Methods() []string {
	var names []string
	for _, method := range append(fairshare.Methods(), fairshare.Caps) {
		names = append(names, method.String())
	}
	return names
}

// OfTree computes the response times of a tree. Profiles cannot leave a tree without an
// answer that it has by itself: if it has none with them, it is for the workloads of its
// spec. The error is an [Error]; one that wraps [fairshare.ErrTooCostly],
// [fairshare.ErrNotReached] or names an option; or the context's.
func OfTree(ctx context.Context, in TreeInput) (*TreeAnswer, error) {
	answer, joined, err := in.solve(ctx)
	if joined && unsolved(err) {
		in.alone = err
		answer, _, err = in.solve(ctx)
	}
	return answer, err
}

// unsolved reports whether an error says that the model did not get to an answer.
func unsolved(err error) bool {
	return errors.Is(err, fairshare.ErrTooCostly) || errors.Is(err, fairshare.ErrNotReached)
}

// solve computes the response times, and reports whether profiles are part of the tree.
func (in *TreeInput) solve(ctx context.Context) (answer *TreeAnswer, joined bool, err error) {
	options, err := in.Options.model()
	if err != nil {
		return nil, false, err
	}
	leaves, err := assemble(in)
	if err != nil {
		return nil, false, err
	}
	answer, err = in.answer(ctx, leaves, options)
	return answer, len(leaves.profiles) > 0, err
}

// answer computes the response times of a tree, before the changes and after them.
func (in *TreeInput) answer(ctx context.Context, leaves *model, options fairshare.Options) (*TreeAnswer, error) {
	var err error
	for _, a := range in.Aggregates {
		if leaves.tree, err = leaves.aggregate(a); err != nil {
			return nil, err
		}
	}
	answer, err := leaves.answer(ctx, options)
	if err != nil || len(in.Changes) == 0 {
		return answer, err
	}
	changed, err := leaves.change(in.Changes)
	if err != nil {
		return nil, err
	}
	after, err := changed.answer(ctx, options)
	if err != nil {
		return nil, err
	}
	for i := range after.Nodes { // the nodes stay where they are
		n, before := &after.Nodes[i], &answer.Nodes[i]
		n.FactorBefore, n.ResponseSecondsBefore = before.Factor, before.ResponseSeconds
		if n.Share != before.Share {
			n.ShareBefore = new(before.Share)
		}
	}
	return after, nil
}

// model returns the options as the model takes them.
func (o Options) model() (fairshare.Options, error) {
	options := fairshare.Options{Tolerance: o.Tolerance, Samples: o.Samples, Seed: o.Seed}
	if o.Method == "" {
		return options, nil
	}
	var err error
	if options.Method, err = fairshare.MethodNamed(o.Method); err != nil {
		return options, fmt.Errorf("method: %q is not one of %s", o.Method, strings.Join(Methods(), ", "))
	}
	return options, nil
}

const (
	// maxEvaluations bounds the work for a tree of the size that the API admits, to a
	// second or so; see [fairshare.Options]. Larger trees come from files only.
	maxEvaluations = 150_000_000
	admittedSize   = 512 + maxProfiles
	// coarse is the tolerance with which a tree is answered that is not to the default.
	coarse = 1e-7
)

// fail returns why the tree has no answer.
func (s *model) fail(reason string, err error) *Error {
	return &Error{reason, err, s.leftOut, s.absent}
}

// result solves the tree.
func (s *model) result(ctx context.Context, options fairshare.Options) (*fairshare.Result, error) {
	options.Servers = s.processors
	if total := s.tree.Utilization(); total >= float64(s.processors) && options.Method != fairshare.Caps {
		return nil, s.fail(v1alpha1.ReasonOverloaded, fmt.Errorf(
			"the workloads keep %.4g processors busy, and there are %d: jobs would wait without end; take away work, or add processors", total, s.processors))
	}
	if s.tree.Len() <= admittedSize {
		options.MaxEvaluations = maxEvaluations
	}
	result, err := fairshare.Solve(ctx, s.tree, options)
	if options.Tolerance == 0 && options.Method == fairshare.Race && unsolved(err) {
		options.Tolerance = coarse
		result, err = fairshare.Solve(ctx, s.tree, options)
	}
	return result, s.explain(err)
}

// answer returns what there is to say about the tree.
func (s *model) answer(ctx context.Context, options fairshare.Options) (*TreeAnswer, error) {
	result, err := s.result(ctx, options)
	if err != nil {
		return nil, err
	}
	a := &TreeAnswer{
		Name: s.name, Method: result.Method.String(), Processors: s.processors, Utilization: s.tree.Utilization(),
		Exact:     options.Method != fairshare.MonteCarlo && options.Method != fairshare.AHMC,
		Workloads: s.tree.Len(), Residual: result.Residual, Evaluations: result.Evaluations,
		LeftOut: s.leftOut, Empty: s.empty, absent: s.absent, workloads: make(map[string]int, s.tree.Len()),
	}
	for node := range s.tree.Nodes() {
		if node.Depth == 0 {
			continue
		}
		if node.Workload >= 0 {
			a.workloads[node.Name] = len(a.Nodes)
		}
		a.Nodes = append(a.Nodes, s.describe(node, result))
	}
	for w, factor := range result.Factors {
		a.RelativeError = max(a.RelativeError, result.Errors[w]/factor)
	}
	return a, nil
}

// describe returns what a group or workload gets.
func (s *model) describe(node fairshare.TreeNode, result *fairshare.Result) TreeNode {
	n := TreeNode{
		Name: node.Name, Path: node.Path, Depth: node.Depth, Workload: node.Workload >= 0,
		Share: node.Share, Portion: node.Portion, Utilization: node.Utilization,
	}
	if !n.Workload {
		return n
	}
	leaf := s.leaves[node.Name]
	n.Factor, n.Error = new(result.Factors[node.Workload]), new(result.Errors[node.Workload])
	if s.timed {
		n.ServiceSeconds, n.ResponseSeconds = new(node.Service), new(result.Responses[node.Workload])
	}
	if leaf.sla != nil {
		n.SLA = &SLA{MaxFactor: leaf.sla.maxFactor, ResponseSeconds: leaf.sla.seconds, Probability: leaf.sla.probability}
		n.SLA.Met = (n.SLA.MaxFactor == nil || *n.Factor <= *n.SLA.MaxFactor) && (n.SLA.ResponseSeconds == nil || *n.ResponseSeconds <= *n.SLA.ResponseSeconds)
	}
	return n
}

// explain gives the reason for an error of the model.
func (s *model) explain(err error) error {
	value, is := errors.AsType[*fairshare.ValueError](err)
	switch {
	case unsolved(err):
		return s.fail(v1alpha1.ReasonTooCostly, err)
	case !is:
		return err
	case value.Field == "utilization":
		return s.fail(v1alpha1.ReasonOverloaded, err)
	case value.Field == "service" || value.Path != "":
		return s.fail(v1alpha1.ReasonInvalid, err)
	default:
		return err // an option
	}
}

// aggregate returns the tree with siblings taken together.
func (s *model) aggregate(a Aggregate) (*fairshare.Tree, error) {
	var paths []string
	for _, name := range a.Members {
		path, err := s.path(name)
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	return s.tree.Aggregate(a.Name, paths...)
}

// path returns the path of the group or workload of a name or path.
func (s *model) path(name string) (string, error) {
	var paths []string
	for n := range s.tree.Nodes() {
		_, short, namespaced := strings.Cut(n.Name, "/")
		if n.Depth > 0 && (name == n.Path || name == n.Name || namespaced && name == short) {
			paths = append(paths, n.Path)
		}
	}
	switch len(paths) {
	case 0:
		return "", fmt.Errorf("%s: names no group and no workload of the tree", name)
	case 1:
		return paths[0], nil
	default:
		return "", fmt.Errorf("%s: is the name of several: write one of %s", name, strings.Join(paths, ", "))
	}
}

// change returns the tree with other shares.
func (s *model) change(changes []Change) (*model, error) {
	var list []fairshare.Change
	for _, c := range changes {
		if c.Share < 1 {
			return nil, fmt.Errorf("%s=%d: a share must be at least 1", c.Name, c.Share)
		}
		path, err := s.path(c.Name)
		if err != nil {
			return nil, err
		}
		list = append(list, fairshare.Change{Path: path, Share: new(float64(c.Share))})
	}
	changed := *s
	var err error
	changed.tree, err = s.tree.With(list...)
	return &changed, err
}
