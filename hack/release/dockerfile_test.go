package release_test

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

func TestTheDockerfileHasAStageForEveryProgramThatRunsItAsNobody(t *testing.T) {
	t.Parallel()
	stages := dockerfile(t)
	base := stages["base"]
	if base.BaseName != "scratch" {
		t.Errorf("base is made from %s, want scratch", base.BaseName)
	}
	if user := last[*instructions.UserCommand](base); user == nil || user.User != "65532:65532" {
		t.Errorf("the user of base is %v, want 65532:65532", user)
	}
	for _, program := range programs(t) {
		stage, ok := stages[program]
		if !ok {
			t.Errorf("there is no stage %s", program)
			continue
		}
		if stage.BaseName != "base" || last[*instructions.UserCommand](stage) != nil {
			t.Errorf("stage %s is made from %s, or has a user of its own", program, stage.BaseName)
		}
		entry := last[*instructions.EntrypointCommand](stage)
		if entry == nil || entry.PrependShell || !slices.Equal(entry.CmdLine, []string{"/usr/local/bin/" + program}) {
			t.Errorf("stage %s starts with %v", program, entry)
		}
		files := last[*instructions.CopyCommand](stage)
		if files == nil || files.From != "build" || !slices.Equal(files.SourcePaths, []string{"/src/bin/" + program}) {
			t.Errorf("stage %s copies %v", program, files)
		}
	}
}

// The Makefile knows how to stamp a version.
func TestTheDockerfileBuildsAsTheMakefileDoesForTheTarget(t *testing.T) {
	t.Parallel()
	build := dockerfile(t)["build"]
	if build.Platform != "$BUILDPLATFORM" {
		t.Errorf("it builds on %q, want $BUILDPLATFORM", build.Platform)
	}
	run := last[*instructions.RunCommand](build)
	if run == nil {
		t.Fatal("it runs nothing")
	}
	command := strings.Join(run.CmdLine, " ")
	for _, want := range []string{
		`GOOS="$TARGETOS"`, `GOARCH="$TARGETARCH"`, "make build", `VERSION="$VERSION"`, `COMMIT="$COMMIT"`, `COMMIT_DATE="$COMMIT_DATE"`,
	} {
		if !strings.Contains(command, want) {
			t.Errorf("%s lacks %s", command, want)
		}
	}
}

func TestTheDockerfileUsesTheGoOfReleases(t *testing.T) {
	t.Parallel()
	want := "ARG GO_VERSION=" + strings.TrimSpace(text(t, ".go-version")) + "\n"
	if !strings.Contains(text(t, "Dockerfile"), want) {
		t.Errorf("Dockerfile lacks %q", want)
	}
}

func TestNothingThatProgramsAreBuiltFromIsKeptFromTheDockerfile(t *testing.T) {
	t.Parallel()
	patterns, err := ignorefile.ReadAll(strings.NewReader(text(t, ".dockerignore")))
	if err != nil {
		t.Fatal(err)
	}
	ignored, err := patternmatcher.New(patterns)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(sources(t), "Makefile", "go.mod", "go.sum", "hack/cluster/go.mod") {
		if out, err := ignored.MatchesOrParentMatches(path); err != nil || out {
			t.Errorf("%s is kept from it (%v)", path, err)
		}
	}
	for _, path := range []string{".git/config", "bin/loadline-manager", "docs/scheduler.md", "hack/cluster/main.go"} {
		if out, err := ignored.MatchesOrParentMatches(path); err != nil || !out {
			t.Errorf("%s is not kept from it (%v)", path, err)
		}
	}
}

// sources are the files of this repository that the go command builds programs from.
func sources(t *testing.T) []string {
	t.Helper()
	const files = `{{if .Module}}{{if .Module.Main}}{{$dir := .Dir}}` +
		`{{range .GoFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}{{range .EmbedFiles}}{{$dir}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}`
	list := exec.Command("go", "list", "-deps", "-f", files, "./cmd/...")
	list.Dir = root
	listed, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	absolute, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for line := range strings.Lines(string(listed)) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		path, err := filepath.Rel(absolute, line)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, filepath.ToSlash(path))
	}
	if len(paths) < 100 {
		t.Fatalf("%d files, which are too few to be all", len(paths))
	}
	return paths
}

// dockerfile returns the stages of the Dockerfile by name.
func dockerfile(t *testing.T) map[string]instructions.Stage {
	t.Helper()
	parsed, err := parser.Parse(strings.NewReader(text(t, "Dockerfile")))
	if err != nil {
		t.Fatal(err)
	}
	for _, warning := range parsed.Warnings {
		t.Errorf("Dockerfile: %s", warning.Short)
	}
	list, _, err := instructions.Parse(parsed.AST, nil)
	if err != nil {
		t.Fatal(err)
	}
	stages := map[string]instructions.Stage{}
	for _, stage := range list {
		stages[stage.Name] = stage
	}
	return stages
}

// last returns the last command of a kind in a stage, or nil.
func last[C instructions.Command](stage instructions.Stage) (found C) {
	for _, command := range stage.Commands {
		if c, ok := command.(C); ok {
			found = c
		}
	}
	return found
}
