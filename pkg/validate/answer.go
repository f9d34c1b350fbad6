package validate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Levels of findings.
const (
	// Error is a problem for which the API server refuses the object, or a controller does
	// not use it.
	Error = "error"
	// Warning is a problem that may be intended, such as the name of an object that is not
	// in the files.
	Warning = "warning"
)

// Those who find fault.
const (
	// ByAPIServer says that the object is refused when it is applied.
	ByAPIServer = "api-server"
	// ByController says that a status reports the problem later.
	ByController = "controller"
	// ByScheduler says that the scheduler ends when it starts.
	ByScheduler = "scheduler"
)

// ObjectName names an object.
type ObjectName struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
}

// String writes KIND NAMESPACE/NAME, or the kind alone of an object without a name.
func (o ObjectName) String() string {
	if o.Name == "" {
		return o.Kind
	}
	return o.Kind + " " + strings.TrimPrefix(o.Namespace+"/"+o.Name, "/")
}

// Place is where something is in a file. Documents and lines count from 1; line 0 is not
// known.
type Place struct {
	File     string `json:"file"`
	Document int    `json:"document"`
	Line     int    `json:"line,omitempty"`
}

// String writes FILE:LINE.
func (p Place) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// Finding is one thing that is wrong with an object, or that may be.
type Finding struct {
	Place

	// Object is nil where the document is none.
	Object *ObjectName `json:"object,omitempty"`
	// Field is the path of the field, such as spec.resources[0].loading; empty where
	// it is the object as a whole.
	Field string `json:"field,omitempty"`
	Level string `json:"level"`
	By    string `json:"by"`
	// Problem says what is wrong, by which rule.
	Problem string `json:"problem"`
	// WriteInstead is YAML to put in the place of the field, its name included; of an
	// item of a list the item with its dash. Empty where only the author can know.
	WriteInstead string `json:"writeInstead,omitempty"`
	// Remove reports whether the field is to be removed.
	Remove bool `json:"remove,omitempty"`
}

// String writes the finding on one line, beginning with FILE:LINE.
func (f *Finding) String() string {
	var b strings.Builder
	b.WriteString(f.Place.String() + ": ")
	if f.Level == Warning {
		b.WriteString("warning: ")
	}
	for _, part := range []string{f.object(), f.Field} {
		if part != "" {
			b.WriteString(part + ": ")
		}
	}
	b.WriteString(f.Problem)
	switch {
	case f.Remove:
		b.WriteString(": remove it")
	case f.WriteInstead != "":
		b.WriteString(": write " + f.WriteInstead)
	}
	return b.String()
}

func (f *Finding) object() string {
	if f.Object == nil {
		return ""
	}
	return f.Object.String()
}

// Skipped is an object of a kind that is not checked.
type Skipped struct {
	Place
	ObjectName
}

// Answer lists the problems of some manifests.
type Answer struct {
	// Objects counts the objects that were checked.
	Objects int `json:"objects"`
	// Refused counts those that the API server would refuse.
	Refused  int       `json:"refused"`
	Findings []Finding `json:"findings"`
	// More counts what else is wrong, beyond the findings that are listed; MoreErrors are
	// those of them that are errors.
	More       int       `json:"more,omitempty"`
	MoreErrors int       `json:"moreErrors,omitempty"`
	Skipped    []Skipped `json:"skipped,omitempty"`
	// Followers are there if a cluster was asked.
	Followers []Followers `json:"followers,omitempty"`
}

// maxFindings bounds how many findings are listed.
const maxFindings = 1000

// add adds findings as long as there are not too many, and counts the others.
func (a *Answer) add(findings ...Finding) {
	for i := range findings {
		if len(a.Findings) < maxFindings {
			a.Findings = append(a.Findings, findings[i])
			continue
		}
		a.More++
		if findings[i].Level == Error {
			a.MoreErrors++
		}
	}
}

// Errors counts the findings that are errors, those that are not listed included.
func (a *Answer) Errors() int {
	n := a.MoreErrors
	for i := range a.Findings {
		if a.Findings[i].Level == Error {
			n++
		}
	}
	return n
}

// Warnings counts the findings that are warnings, those that are not listed included.
func (a *Answer) Warnings() int { return len(a.Findings) + a.More - a.Errors() }

// sort puts findings in the order of the documents, as files gives the order of files.
func (a *Answer) sort(files map[string]int) {
	slices.SortStableFunc(a.Findings, func(x, y Finding) int {
		return cmp.Or(
			cmp.Compare(files[x.File], files[y.File]),
			cmp.Compare(x.Document, y.Document), cmp.Compare(x.Line, y.Line),
		)
	})
}
