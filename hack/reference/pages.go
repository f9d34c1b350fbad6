package main

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"loadline.dev/loadline/hack/reference/command"
	"loadline.dev/loadline/hack/reference/markdown"
)

// book holds pages by their path below the folder of the reference.
type book map[string]string

// add adds a page.
func (b book) add(path string, page *markdown.Page) { b[path] = page.String() }

// pages makes all pages, of the repository in a folder and of its programs.
func pages(root string, programs map[string]command.Command) (book, error) {
	b := book{}
	b.addIndex()
	err := errors.Join(b.addCommands(programs), b.addKinds(root), b.addConfiguration(root), b.addMetrics(), b.addAlerts(root), b.addMethods(root))
	return b, err
}

func (b book) addIndex() {
	page := markdown.NewPage("Reference")
	page.Add(
		"Everything that can be typed, set or read, made by `make generate` from the programs themselves, but for the pages about traces and about who may set what. To learn how to use it, begin with the [README](../../README.md).",
		markdown.Table([]string{"Page", "What it has"},
			[]string{"[Commands](cli.md)", "`kubectl loadline` and the programs that run in a cluster: usage, examples, flags"},
			[]string{"[API](api.md)", "the kinds of `loadline.dev/v1alpha1`: fields, defaults, rules, conditions, columns"},
			[]string{"[Configuration](configuration.md)", "the arguments of the scheduler plugin; the values of the chart are with the [chart](../../charts/loadline/README.md#values)"},
			[]string{"[Metrics](metrics.md)", "what the programs tell Prometheus"},
			[]string{"[Alerts](alerts.md)", "what each alert means, and what to do"},
			[]string{"[Job traces](traces.md)", "the formats that replays read, and how to record a trace"},
			[]string{"[Who may set what](who-may-set-what.md)", "what each field, label and annotation can do to others, and what bounds it"},
			[]string{"[Methods](methods.md)", "placement policies, ways to compute, disciplines"},
		),
	)
	b.add("README.md", page)
}

// write writes the pages to a folder.
func (b book) write(folder string) error {
	for _, path := range slices.Sorted(maps.Keys(b)) {
		file := filepath.Join(folder, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(b[path]), 0o644); err != nil {
			return err
		}
	}
	return nil
}
