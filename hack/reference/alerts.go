package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/hack/reference/markdown"
)

// runbooks is written by hand: an introduction, and a section (###) with what to look at and to do for each alert, in
// chapters (##).
//
//go:embed runbooks.md
var runbooks string

// alert is an alert of the chart's rules.
type alert struct {
	Alert, Expr, For string
	Labels           map[string]string
	Annotations      map[string]string
}

// readAlerts reads the alerts of the chart's rules, by name.
func readAlerts(root string) (map[string]alert, error) {
	content, err := os.ReadFile(filepath.Join(root, "charts", "loadline", "rules", "loadline.yaml"))
	if err != nil {
		return nil, err
	}
	var rules struct {
		Groups []struct{ Rules []alert }
	}
	if err := yaml.Unmarshal(content, &rules); err != nil {
		return nil, err
	}
	found := map[string]alert{}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			if r.Alert != "" {
				found[r.Alert] = r
			}
		}
	}
	return found, nil
}

// addAlerts adds the page of the alerts: what the rules say of each, and its runbook.
func (b book) addAlerts(root string) error {
	alerts, err := readAlerts(root)
	if err != nil {
		return err
	}
	page, err := alertsPage(runbooks, alerts)
	if err != nil {
		return err
	}
	b.add("alerts.md", page)
	return nil
}

// alertsPage makes the page. It fails if an alert has no runbook, or a runbook no alert.
func alertsPage(runbooks string, alerts map[string]alert) (*markdown.Page, error) {
	page := markdown.NewPage("Alerts")
	chapters := strings.Split(runbooks, "\n## ")
	page.Add(strings.TrimSpace(chapters[0]))
	seen := map[string]bool{}
	var errs []error
	for _, chapter := range chapters[1:] {
		sections := strings.Split(chapter, "\n### ")
		title, about, _ := strings.Cut(sections[0], "\n")
		page.Heading(2, title, markdown.Slug(title))
		page.Add(strings.TrimSpace(about))
		for _, section := range sections[1:] {
			name, text, _ := strings.Cut(section, "\n")
			a, ok := alerts[name]
			if !ok {
				errs = append(errs, fmt.Errorf("runbooks.md: %s: the rules have no such alert", name))
			}
			seen[name] = true
			page.Heading(3, name, markdown.Slug(name))
			page.Add(a.condition(), strings.TrimSpace(text))
		}
	}
	for name := range alerts {
		if !seen[name] {
			errs = append(errs, fmt.Errorf("runbooks.md: %s has no section", name))
		}
	}
	return page, errors.Join(errs...)
}

// condition says how bad an alert is, and when it fires.
func (a alert) condition() string {
	lasts := "as soon as this holds"
	if a.For != "" {
		lasts = "once this has held for " + a.For
	}
	return fmt.Sprintf("%s Severity %s, %s:\n\n%s", markdown.Escape(a.Annotations["summary"]), markdown.Code(a.Labels["severity"]), lasts,
		markdown.Block("promql", strings.TrimSpace(a.Expr)+"\n"))
}
