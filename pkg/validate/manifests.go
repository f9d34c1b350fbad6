package validate

import (
	"context"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Input holds the files to check.
type Input struct {
	Documents []Document
	// Namespace is that of objects that do not say; empty is default.
	Namespace string
	// Cluster reads a cluster, nil if none is asked: then only the files are known.
	Cluster *Cluster
	// Now is the time at which the objects would be created.
	Now metav1.Time
}

// Check checks manifests. The error is the context's, that of the cluster, or one of the
// program.
func (all *Rules) Check(ctx context.Context, in Input) (*Answer, error) {
	if in.Namespace == "" {
		in.Namespace = metav1.NamespaceDefault
	}
	c := &checker{in: &in, rules: all, answer: &Answer{Findings: []Finding{}}, trials: maxTrials}
	files := map[string]int{} // their order
	for i := range in.Documents {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if file := in.Documents[i].File; files[file] == 0 {
			files[file] = len(files) + 1
		}
		c.read(ctx, &in.Documents[i])
	}
	c.findDuplicates()
	if err := c.askControllers(ctx); err != nil {
		return nil, err
	}
	for _, o := range c.objects {
		c.answer.Objects++
		if o.refused {
			c.answer.Refused++
		}
		for _, f := range o.findings {
			f.Object = &o.name
			c.answer.add(*f)
		}
		c.answer.More, c.answer.MoreErrors = c.answer.More+o.more, c.answer.MoreErrors+o.more
	}
	c.answer.sort(files)
	return c.answer, nil
}

// checker checks manifests.
type checker struct {
	in      *Input
	rules   *Rules
	objects []*object
	answer  *Answer
	trials  int // of advice that are left, in values that are looked at
}

// maxTrials bounds how many values are looked at to find advice, in all documents: an
// object is looked at again for each piece of it.
const maxTrials = 1_000_000

// read reads a document, and asks the rules of the API server about its objects.
func (c *checker) read(ctx context.Context, d *Document) {
	v, found := d.read()
	if v != nil {
		if fields, is := v.json.(map[string]any); is {
			name := nameOf(fields)
			for i := range found {
				found[i].Object = &name
			}
		}
	}
	c.answer.add(found...)
	if v == nil || v.json == nil {
		return
	}
	items := v.items()
	if n := len(items); n > maxItems {
		c.answer.add(v.at(path{"items"}, fmt.Sprintf("there are %d objects in the list: %d are checked at most; check parts of it", n, maxItems)))
		return
	}
	for _, item := range items {
		if n := valuesIn(item.json); n > maxValues {
			c.answer.add(item.at(nil, fmt.Sprintf("the object holds %d values: objects of up to %d are checked", n, maxValues)))
			continue
		}
		if c.scheduler(item) {
			continue
		}
		o, skipped, f := c.rules.newObject(item)
		switch {
		case f != nil:
			c.answer.add(*f)
		case skipped != nil:
			c.answer.Skipped = append(c.answer.Skipped, *skipped)
		default:
			o.trials = &c.trials
			o.admit(ctx, c.in.Namespace)
			o.refused = o.refused || len(found) > 0
			c.objects = append(c.objects, o)
		}
	}
}

// findDuplicates finds objects that are there twice: of these the last one would stay.
func (c *checker) findDuplicates() {
	first := map[ObjectName]*object{}
	for _, o := range c.objects {
		name := o.name
		if name.Namespace == "" && o.definition.namespaced {
			name.Namespace = c.in.Namespace
		}
		if other, twice := first[name]; twice && name.Name != "" {
			level := Error
			if other.place.File != o.place.File {
				level = Warning // they may be for different clusters
			}
			o.add(path{"metadata", "name"}, level, "the same object is in "+other.place.String()+", too: the one that is applied last stays; remove or rename one")
			continue
		}
		first[name] = o
	}
}

// add adds what a controller, or a later kubectl apply, would make of the object.
func (o *object) add(p path, level, problem string) {
	f := o.at(p, problem)
	f.Level, f.By = level, ByController
	if !slices.ContainsFunc(o.findings, func(other *Finding) bool { return other.Field == f.Field && other.Problem == problem }) {
		o.findings = append(o.findings, &f)
	}
}
