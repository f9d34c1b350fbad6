//go:build perf

package perf

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"loadline.dev/loadline/hack/cluster/controlplane"
)

// BenchmarkScheduling measures the chosen variants in pairs, topic by topic, each run in a process of its own. It prints the figures,
// and leaves them in scheduling.json. With -perf-run it is one such run.
func BenchmarkScheduling(b *testing.B) {
	if err := os.MkdirAll(filepath.Join(*out, "runs"), 0o755); err != nil {
		b.Fatal(err)
	}
	binaries, err := controlplane.Binaries(b.Context(), "", os.Stderr)
	if err != nil {
		b.Fatal(err)
	}
	b.Setenv("PATH", binaries+string(os.PathListSeparator)+os.Getenv("PATH")) // where upstream looks for etcd
	b.Setenv("ARTIFACTS", filepath.Join(*out, "runs"))                        // where upstream leaves the log of a failure
	if *single != "" {
		runHere(b, &chosen[0], Variant(*single))
		return
	}
	results, failed := compareAll(b)
	if len(results) > 0 {
		if err := results.WriteTable(os.Stdout); err != nil {
			b.Fatal(err)
		}
	}
	if len(failed) > 0 {
		b.Fatalf("topics failed, as said above: %s", strings.Join(failed, ", "))
	}
}

// compareAll measures all chosen topics, and returns the names of those that failed. These do not keep others from being measured.
func compareAll(b *testing.B) (results Results, failed []string) {
	b.Helper()
	for _, topic := range chosen {
		result, err := compare(b.Context(), &topic)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			failed = append(failed, topic.Name)
			continue
		}
		results = append(results, result)
		if err := merge(result); err != nil {
			b.Fatal(err)
		}
		if err := result.WriteTable(os.Stdout); err != nil {
			b.Fatal(err)
		}
	}
	return results, failed
}

// compare measures the variants of a topic in pairs. Every other pair runs in reverse, so that what drifts favours none of them.
func compare(ctx context.Context, topic *Topic) (*Result, error) {
	version, err := kubernetesModule(ctx, "{{.Version}}")
	if err != nil {
		return nil, err
	}
	result := &Result{Topic: topic.Name, Of: fmt.Sprintf("Kubernetes %s, %s", version, time.Now().UTC().Format(time.DateOnly))}
	for n := range *pairs {
		pair := Pair{}
		order := slices.Clone(compared)
		if n%2 == 1 {
			slices.Reverse(order)
		}
		for _, variant := range order {
			if pair[variant], err = runApart(ctx, topic, variant, n+1); err != nil {
				return nil, fmt.Errorf("%s, pair %d, %s: %w", topic.Name, n+1, variant, err)
			}
			fmt.Printf("%s, pair %d, %s: %s\n", topic.Name, n+1, variant, pair[variant])
		}
		result.Pairs = append(result.Pairs, pair)
	}
	return result, nil
}

// runApart runs a topic once in a process of its own, by this program, and returns its figures.
func runApart(ctx context.Context, topic *Topic, variant Variant, pair int) (*Figures, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%s-%d-%s", topic.Name, pair, variant)
	path := filepath.Join(*out, "runs", name)
	args := []string{"-test.run=^$", "-test.bench=^BenchmarkScheduling$", "-test.timeout=40m"}
	flag.Visit(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") {
			args = append(args, "-"+f.Name+"="+f.Value.String())
		}
	})
	args = append(args, "-perf-topics="+topic.Name, "-perf-run="+string(variant), "-perf-run-name="+name) // the last one counts
	cmd := exec.CommandContext(ctx, program, args...)
	log, ran := cmd.CombinedOutput()
	if err := os.WriteFile(path+".log", log, 0o600); err != nil {
		return nil, err
	}
	if ran != nil {
		return nil, fmt.Errorf("%w; %s.log ends with:\n%s", ran, path, lastLines(log, 20))
	}
	data, err := os.ReadFile(path + ".json")
	if err != nil {
		return nil, err
	}
	figures := &Figures{}
	return figures, json.Unmarshal(data, figures)
}

// lastLines returns the last lines of a text.
func lastLines(data []byte, lines int) string {
	all := strings.Split(strings.TrimSpace(string(bytes.ToValidUTF8(data, nil))), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// merge puts a result into scheduling.json, in place of that of the same topic.
func merge(result *Result) error {
	path := filepath.Join(*out, "scheduling.json")
	var known Results
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		if err := json.Unmarshal(data, &known); err != nil {
			return fmt.Errorf("reading %s, which is not of this version: %w", path, err)
		}
	}
	return writeJSON(path, known.Merged(Results{result}))
}

func writeJSON(path string, value any) error {
	data, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o600)
}

// kubernetesModule returns what a template for "go list -m" says of the Kubernetes that is measured.
func kubernetesModule(ctx context.Context, template string) (string, error) {
	said, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", template, "k8s.io/kubernetes").Output()
	if err != nil {
		return "", fmt.Errorf("finding the module of Kubernetes: %w", err)
	}
	return strings.TrimSpace(string(said)), nil
}
