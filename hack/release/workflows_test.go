package release_test

import (
	"regexp"
	"strings"
	"testing"
)

// workflow is what is tested of a workflow.
type workflow struct {
	On          triggers `json:"true"` // which "on" is in YAML 1.1
	Permissions map[string]string
	Concurrency struct{ Group string }
	Jobs        map[string]job
}

type triggers struct {
	Schedule []struct{ Cron string }
}

type job struct {
	Uses           string
	TimeoutMinutes int `json:"timeout-minutes"`
	Permissions    map[string]string
	Steps          []step
}

type step struct {
	Uses string
	With map[string]any
	Run  string
	Env  map[string]string
	If   string
}

// writes are the rights to change something that jobs have, and what they have them for.
var writes = map[string]string{
	"codeql.yaml go security-events":           "reports what it finds",
	"scorecard.yaml scorecard security-events": "reports what it finds",
	"release.yaml images id-token":             "signs",
	"release.yaml chart id-token":              "signs",
	"release.yaml archives id-token":           "signs",
	"release.yaml archives contents":           "makes the release",
	"release.yaml archives attestations":       "says where it comes from",
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
			repository := strings.Join(strings.Split(name, "/")[:2], "/") // which may have several actions
			if other := commits[repository]; other != "" && other != commit {
				t.Errorf("%s: %s is used at %s and at %s", path, repository, other, commit)
			}
			commits[repository] = commit
		}
	}
	if len(commits) == 0 {
		t.Error("no action is used, which cannot be")
	}
}

func TestWorkflowsThatLookForVulnerabilitiesFailWithoutTheirDatabase(t *testing.T) {
	t.Parallel()
	looks := regexp.MustCompile(`\.ci/run|make (ci|lint|lint-vulnerabilities)\b`)
	for _, name := range []string{"ci.yaml", "vulnerabilities.yaml"} {
		found := false
		for _, step := range steps(t, name) {
			if !looks.MatchString(step.Run) {
				continue
			}
			found = true
			if step.Env["VULNERABILITIES"] != "required" {
				t.Errorf("%s: %q passes when vulnerabilities are not checked", name, step.Run)
			}
		}
		if !found {
			t.Errorf("%s does not look for vulnerabilities", name)
		}
	}
}

func TestWorkflowsThatFindWhatNoChangeBroughtRunByThemselves(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"codeql.yaml", "e2e.yaml", "fuzz.yaml", "scorecard.yaml", "vulnerabilities.yaml"} {
		var w workflow
		decode(t, ".github/workflows/"+name, &w)
		if len(w.On.Schedule) != 1 || w.On.Schedule[0].Cron == "" {
			t.Errorf("%s has the schedule %v", name, w.On.Schedule)
		}
	}
}

func TestTheFuzzWorkflowRunsEveryTargetAndKeepsWhatFails(t *testing.T) {
	t.Parallel()
	ran, kept := false, false
	for _, step := range steps(t, "fuzz.yaml") {
		ran = ran || step.Run == "make fuzz FUZZTIME=1m"
		kept = kept || ran && strings.HasPrefix(step.Uses, "actions/upload-artifact@") && step.If == "failure()" && step.With["path"] == "**/testdata/fuzz/**"
	}
	if !ran || !kept {
		t.Errorf("it runs make fuzz: %t, and keeps the inputs that fail: %t", ran, kept)
	}
}

// steps returns the steps of all jobs of a workflow.
func steps(t *testing.T, name string) []step {
	t.Helper()
	var w workflow
	decode(t, ".github/workflows/"+name, &w)
	var all []step
	for _, job := range w.Jobs {
		all = append(all, job.Steps...)
	}
	return all
}

// A release is tried with the cosign that the workflow signs it with.
func TestWorkflowsSignWithTheCosignThatReleasesAreTriedWith(t *testing.T) {
	t.Parallel()
	want := required(t, "hack/cosign")["github.com/sigstore/cosign/v3"]
	installed := regexp.MustCompile(`(?m)^\s*cosign-release: (.*)$`)
	found := 0
	for _, path := range glob(t, ".github/workflows/*") {
		for _, match := range installed.FindAllStringSubmatch(text(t, path), -1) {
			found++
			if match[1] != want {
				t.Errorf("%s installs cosign %s, and hack/cosign has %q", path, match[1], want)
			}
		}
	}
	if found == 0 {
		t.Error("no workflow installs cosign, which cannot be")
	}
}
