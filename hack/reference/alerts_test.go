package main

import (
	"strings"
	"testing"
)

const aRunbook = "Read this.\n\n## The pump\n\nWhat it does.\n\n### PumpStopped\n\n**Do** start it.\n"

func TestAnAlertHasItsConditionAndItsRunbook(t *testing.T) {
	t.Parallel()
	page, err := alertsPage(aRunbook, map[string]alert{"PumpStopped": {
		Expr: "pump_running == 0\n", For: "5m",
		Labels: map[string]string{"severity": "warning"}, Annotations: map[string]string{"summary": "The pump has stopped."},
	}})
	if err != nil {
		t.Fatal(err)
	}
	const want = "### PumpStopped\n\nThe pump has stopped. Severity `warning`, once this has held for 5m:\n\n" +
		"```promql\npump_running == 0\n```\n\n**Do** start it.\n"
	if got := page.String(); !strings.HasSuffix(got, want) || !strings.Contains(got, "Read this.") || !strings.Contains(got, "What it does.") {
		t.Errorf("the page is\n%s\nand is to end with\n%s", got, want)
	}
}

func TestAlertsAndRunbooksBelongTogether(t *testing.T) {
	t.Parallel()
	if _, err := alertsPage(aRunbook, map[string]alert{"PumpStopped": {}, "PumpLeaks": {}}); err == nil || !strings.Contains(err.Error(), "PumpLeaks has no section") {
		t.Errorf("an alert without a runbook: %v", err)
	}
	if _, err := alertsPage(aRunbook, nil); err == nil || !strings.Contains(err.Error(), "PumpStopped: the rules have no such alert") {
		t.Errorf("a runbook without an alert: %v", err)
	}
}
