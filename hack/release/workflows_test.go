package release_test

import (
	"regexp"
	"strings"
	"testing"
)

// workflow is what is tested of a workflow.
type workflow struct {
	Permissions map[string]string
	Concurrency struct{ Group string }
	Jobs        map[string]job
}

type job struct {
	Uses           string
	TimeoutMinutes int `json:"timeout-minutes"`
	Permissions    map[string]string
	Steps          []struct {
		Uses string
		With map[string]any
	}
}

// writes are the rights to change something that jobs have, and what they have them for.
var writes = map[string]string{
	"release.yaml images id-token":       "signs",
	"release.yaml chart id-token":        "signs",
	"release.yaml archives id-token":     "signs",
	"release.yaml archives contents":     "makes the release",
	"release.yaml archives attestations": "says where it comes from",
}

func TestWorkflowsHaveNoRightThatTheyDoNotNeed(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, path := range glob(t, ".github/workflows/*") {
		name := path[strings.LastIndex(path, "/")+1:]
		var w workflow
		decode(t, path, &w)
		if w.Permissions == nil {
			t.Errorf("%s does not say its permissions, and so has those of the repository", path)
		}
		for right, level := range w.Permissions {
			if level != "read" {
				t.Errorf("%s: every job may %s %s", path, level, right)
			}
		}
		for id, job := range w.Jobs {
			for right, level := range job.Permissions {
				key := name + " " + id + " " + right
				if level == "write" && writes[key] == "" {
					t.Errorf("%s: job %s may write %s", path, id, right)
				}
				used[key] = used[key] || level == "write"
			}
		}
	}
	for key := range writes {
		if !used[key] {
			t.Errorf("%s: the right is gone; remove it here, too", key)
		}
	}
}

func TestWorkflowsEndAndDoNotPileUp(t *testing.T) {
	t.Parallel()
	for _, path := range glob(t, ".github/workflows/*") {
		var w workflow
		decode(t, path, &w)
		if w.Concurrency.Group == "" {
			t.Errorf("%s has no concurrency group", path)
		}
		for id, job := range w.Jobs {
			if job.Uses == "" && job.TimeoutMinutes == 0 {
				t.Errorf("%s: job %s has no timeout", path, id)
			}
			for _, step := range job.Steps {
				if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != false {
					t.Errorf("%s: job %s leaves its token in the checkout", path, id)
				}
			}
		}
	}
}

func TestActionsArePinnedByCommit(t *testing.T) {
	t.Parallel()
	uses := regexp.MustCompile(`(?m)^\s*(?:- )?uses: (.*)$`)
	pinned := regexp.MustCompile(`^[\w-]+/[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)
	commits := map[string]string{}
	for _, path := range glob(t, ".github/workflows/*") {
		for _, match := range uses.FindAllStringSubmatch(text(t, path), -1) {
			action := match[1]
			if strings.HasPrefix(action, "./") {
				continue
			}
			if !pinned.MatchString(action) {
				t.Errorf("%s: %q is not of the form OWNER/NAME@COMMIT # vX.Y.Z", path, action)
				continue
			}
			name, commit, _ := strings.Cut(action, "@")
			if other := commits[name]; other != "" && other != commit {
				t.Errorf("%s: %s is used at %s and at %s", path, name, other, commit)
			}
			commits[name] = commit
		}
	}
	if len(commits) == 0 {
		t.Error("no action is used, which cannot be")
	}
}
