package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"loadline.dev/loadline/pkg/probe/result"
)

// run runs a command line and returns the exit code and what it writes.
func run(ctx context.Context, args ...string) (code int, out, complaints string) {
	var written, said bytes.Buffer
	command := newCommand()
	command.SetOut(&written)
	command.SetErr(&said)
	code = execute(ctx, command, args)
	return code, written.String(), said.String()
}

func TestAJobReportsToItsFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "result")
	code, out, complaints := run(t.Context(), "run", "--job", "cpu", "--intensity", "2", "--duration", "1m", "--units", "10", "--result", path)
	if code != 0 || out != "" || complaints != "" {
		t.Fatalf("exit code %d, %q, %q", code, out, complaints)
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := result.ParseRun(string(written)); err != nil || r.Units != 10 || r.Intensity != 2 || r.Ended != result.EndedUnits {
		t.Errorf("%s: %v", written, err)
	}
}

func TestAJobThatIsToldToEndReportsAndIsNoFailure(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := filepath.Join(t.TempDir(), "result")
	if code, _, complaints := run(ctx, "run", "--job", "cpu", "--duration", "1h", "--result", path); code != 0 {
		t.Fatalf("exit code %d, %s", code, complaints)
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := result.ParseRun(string(written)); err != nil || r.Ended != result.EndedTerminated {
		t.Errorf("%s: %v", written, err)
	}
}

func TestAnObserverThatIsToldToEndReports(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := filepath.Join(t.TempDir(), "result")
	if code, _, complaints := run(ctx, "watch", "--result", path); code != 0 {
		t.Fatalf("exit code %d, %s", code, complaints)
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if w, err := result.ParseWatch(string(written)); err != nil || w.End != 0 {
		t.Errorf("%s: %v", written, err)
	}
}

func TestASyntheticJobReportsItsDemandsInOrder(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "result")
	code, _, complaints := run(t.Context(), "load", "--demand", "memory-bandwidth=1ms,cpu=2ms", "--units-per-second", "cpu=1000,memory-bandwidth=2000",
		"--rounds", "3", "--size", "16Mi", "--result", path)
	if code != 0 {
		t.Fatalf("exit code %d, %s", code, complaints)
	}
	written, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	l, err := result.ParseLoad(string(written))
	if err != nil || len(l.Demands) != 2 || l.Demands[0].Job != result.MemoryBandwidth || l.Demands[0].Units != 6 || l.Demands[1].Units != 6 {
		t.Errorf("%s: %v", written, err)
	}
}

func TestASinkEndsWhenToldTo(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code, _, complaints := run(ctx, "sink", "--listen", "127.0.0.1:0"); code != 0 && !strings.Contains(complaints, "operation was canceled") {
		t.Errorf("exit code %d, %s", code, complaints)
	}
}

func TestWrongUseNamesTheMistakeOnTheTerminalAndInTheResult(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args   []string
		want   string
		result bool // whether it is known where to write by then
	}{
		"no job":              {[]string{"run", "--duration", "1s"}, `required flag(s) "job" not set`, false},
		"no such job":         {[]string{"run", "--job", "tape", "--duration", "1s"}, "Error: tape: there is no such standard job; they are cpu,", true},
		"no pressure":         {[]string{"run", "--job", "llc", "--duration", "1s", "--pressure", "0"}, "pressure: 0 is not above 0 and at most 1", false},
		"too much pressure":   {[]string{"run", "--job", "llc", "--duration", "1s", "--pressure", "1.5"}, "llc: pressure: 1.5 is not above 0 and at most 1", true},
		"a pressure of disks": {[]string{"run", "--job", "disk-read", "--duration", "1s", "--pressure", "1"}, "disk-read: pressure: 1 of a job that presses on nothing", true},
		"no duration":         {[]string{"run", "--job", "cpu"}, `required flag(s) "duration" not set`, false},
		"an odd duration":     {[]string{"run", "--job", "cpu", "--duration", "soon"}, `invalid argument "soon" for "--duration"`, false},
		"too large a file":    {[]string{"run", "--job", "disk-read", "--duration", "1s", "--size", "1Ti"}, "size: 1099511627776 bytes are not from 16 MiB to 1024 MiB", true},
		"too little budget":   {[]string{"calibrate", "--job", "cpu", "--budget", "1s"}, "budget: 1s is not from 5s", true},
		"too many levels":     {[]string{"calibrate", "--job", "llc", "--levels", "17"}, "levels: 17 is not from 1 to 16", true},
		"levels of the CPU":   {[]string{"calibrate", "--job", "cpu", "--levels", "4"}, "cpu: is no job at an interference resource", true},
		"an argument":         {[]string{"watch", "pods"}, `unknown command "pods"`, false},
		"no such demand":      {[]string{"load", "--demand", "tape=1s", "--rounds", "1"}, `"tape=1s" is not JOB=VALUE with a job of cpu`, false},
		"a demand of no time": {[]string{"load", "--demand", "cpu=much", "--rounds", "1"}, "demand: cpu=much: want a duration such as 40ms", false},
		"no speed":            {[]string{"load", "--demand", "cpu=1s", "--rounds", "1", "--units-per-second", "cpu=0"}, "units-per-second: cpu=0: want a number above 0", false},
		"a speed of nothing":  {[]string{"load", "--demand", "cpu=1s", "--rounds", "1", "--units-per-second", "network=1"}, "network: there is no demand of that name", false},
		"an unknown flag":     {[]string{"run", "--jobs", "cpu"}, "See 'loadline-probe run --help' for usage and examples", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "result")
			args := test.args
			if args[0] != "sink" {
				args = append(args, "--result", path)
			}
			code, out, complaints := run(t.Context(), args...)
			if code != 2 || out != "" || !strings.Contains(complaints, test.want) {
				t.Errorf("exit code %d, %q, %q; want 2 and %q", code, out, complaints, test.want)
			}
			if !test.result {
				return
			}
			written, err := os.ReadFile(path)
			if err != nil || !strings.Contains(string(written), test.want) {
				t.Errorf("the result is %q, %v", written, err)
			}
			if _, err := result.ParseRun(string(written)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("who reads the result gets %v", err)
			}
		})
	}
}

func TestAResultThatCannotBeWrittenIsSaidBeforehand(t *testing.T) {
	t.Parallel()
	code, _, complaints := run(t.Context(), "run", "--job", "cpu", "--duration", "1h", "--result", filepath.Join(t.TempDir(), "no", "where"))
	if code != 2 || !strings.Contains(complaints, "result: open ") {
		t.Errorf("exit code %d, %q", code, complaints)
	}
}

func TestEveryExampleIsACommandLineThatIsTaken(t *testing.T) {
	t.Parallel()
	for _, command := range newCommand().Commands() {
		examples := 0
		for line := range strings.Lines(command.Example) {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			words := strings.Fields(line)
			found, rest, err := newCommand().Find(words[1:])
			if words[0] != "loadline-probe" || err != nil || found.Name() != command.Name() {
				t.Errorf("the example %q does not run loadline-probe %s: %v", line, command.Name(), err)
				continue
			}
			if err := parse(found, rest); err != nil {
				t.Errorf("the example %q: %v", line, err)
			}
			examples++
		}
		if examples < 2 && command.Name() != "help" && command.Name() != "completion" {
			t.Errorf("%s has %d examples, want at least 2", command.Name(), examples)
		}
	}
}

func parse(command *cobra.Command, args []string) error {
	if err := command.ParseFlags(args); err != nil {
		return err
	}
	return command.ValidateRequiredFlags()
}

func TestEveryFlagSaysInASentenceWhatItDoes(t *testing.T) {
	t.Parallel()
	for _, command := range newCommand().Commands() {
		command.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			if !strings.HasSuffix(f.Usage, ".") || len(f.Usage) < 20 {
				t.Errorf("%s --%s: %q is no sentence", command.Name(), f.Name, f.Usage)
			}
		})
	}
}
