package cli_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"loadline.dev/loadline/pkg/cli"
	"loadline.dev/loadline/pkg/cli/clitest"
	"loadline.dev/loadline/pkg/cli/verb"
)

// corpusSize is the number of inputs in all, and shortCorpus the number that run with -short. Of the command lines that read a
// file, each input is given to some in turn: there are some for every input, and hundreds of inputs for each. With -every-verb each
// input is given to all, which takes three times as long, and a gigabyte: cobra never frees its completions.
const corpusSize, shortCorpus, verbsPerInput = 2000, 200, 5

var everyVerb = flag.Bool("every-verb", false, "run every verb on every input of the corpus of mutated files")

// inCorpus are the real files that are mutated, by patterns, with the command lines that read such a file; {} is the mutated file.
// Where reading one is much work, few of its rows are taken.
var inCorpus = []struct {
	files string
	rows  int
	verbs []string
}{
	{"../../docs/examples/*.yaml", 0, manifestVerbs},
	{"../../config/samples/*.yaml", 0, manifestVerbs},
	{"../../config/*/*.yaml", 0, manifestVerbs},
	{"../../docs/examples/who/cluster.yaml", 0, manifestVerbs},
	{"../../test/manifests/every.yaml", 0, manifestVerbs},
	{"testdata/foreign/*", 0, manifestVerbs},
	{"../../docs/examples/who/usage.json", 0, []string{
		"who -f ../../docs/examples/who/cluster.yaml --usage {}", "plan -f ../../docs/examples/who/cluster.yaml --usage {}", "top nodes -f ../../docs/examples/who/cluster.yaml --usage {}",
	}},
	{"../../docs/examples/observations.csv", 0, fitVerbs},
	{"../../test/testdata/colocation/*.csv", 12, fitVerbs},
	{"../../docs/examples/usage.csv", 0, []string{"share --pods ../../docs/examples/node.yaml --usage {}"}},
	{"../../test/testdata/lublin/*.swf.gz", 60, []string{"replay --trace {} --format swf --cores 256 --policies round-robin", "replay --trace {} --format swf --policies lmuf -o json"}},
	{"../../test/testdata/openb/openb_pod_list*.csv", 40, []string{
		"replay --trace {} --format openb --cores 64 --nodes 2 --policies list", "replay --generate 5 --gaps-from {} --format openb -f ../../docs/examples/profiles.yaml --policies random",
	}},
	{"../../test/testdata/openb/openb_node_list*.csv", 20, []string{"replay --trace {jobs} --nodes-from {} --policies round-robin"}},
	{"../../test/testdata/epochs/*.csv", 0, []string{"replay --trace {} --policies lmuf", "fit -f {} --folds 2"}},
	{"testdata/jobs.csv", 0, []string{"replay --trace {} --policies lmuf,least-dilation -o wide", "replay --trace {} --sort --limit 3 --policies round-robin"}},
}

var manifestVerbs = []string{
	"check -f {}", "predict -f {} --cores 4", "size -f {} --replications 8", "share -f {}", "replay -f {} --trace {jobs}", "replay -f {} --generate 5 --every 1s --policies lmuf",
	"explain pod a -f {}", "explain pod etl/filecomp-7 -f {} --nodes -o wide", "explain --simulate {} -f ../../docs/examples/simulate-cluster.yaml",
	"explain --simulate ../../docs/examples/simulate-job.yaml -f {}", "explain pod shop/cart-7c9f4-x2k8p -f ../../docs/examples/who/cluster.yaml --scheduler {}",
	"who -f {} --usage ../../docs/examples/who/usage.json", "plan -f {} --usage ../../docs/examples/who/usage.json", "profiles suggest -f {} --usage ../../docs/examples/who/usage.json",
	"share --pods {} --usage ../../docs/examples/usage.csv --cores 2", "fit -f ../../docs/examples/observations.csv --resources cpu --declared {} --folds 2",
}

var fitVerbs = []string{"fit -f {} --folds 2 --max-resources 1", "fit -f {} --resources cpu --folds 2 -o json"}

// inWordsOfGo is what no output has: names of Go's types and of its packages, files of the library, and values that are none.
var inWordsOfGo = regexp.MustCompile(`\*?\bv1\.[A-Z]|v1alpha1\.[A-Z]|struct \{|map\[string\]|interface \{|\.go:\d+|strconv\.|(?:^|[^.\w])(?:json|yaml): |[uU]nmarshal|NaN|%!|0x[0-9a-f]{6,}|runtime error|goroutine |reflect\.|\bint(?:32|64)\b|float64|` +
	`\[\]\w+\.|<nil>|no kind "|registered for version|strict decoding|error converting`)

// For any content of a file, every verb that reads such a file answers, or refuses it in a user's words.
func TestNoInputMakesAVerbSpeakGo(t *testing.T) {
	t.Parallel()
	seeds := corpusSeeds(t)
	size := corpusSize
	if testing.Short() {
		size = shortCorpus
	}
	const batch = 50
	for first := 0; first < size; first += batch {
		t.Run(fmt.Sprintf("inputs from %d", first), func(t *testing.T) {
			t.Parallel()
			for n := first; n < min(size, first+batch); n++ {
				seed := seeds[n%len(seeds)]
				seed.run(t, n)
			}
		})
	}
}

// corpusSeed is a real file and the command lines that read such a file.
type corpusSeed struct {
	path, text string
	objects    []map[string]any // nil of a table
	verbs      []string
}

// corpusSeeds reads the real files.
func corpusSeeds(t *testing.T) (seeds []*corpusSeed) {
	t.Helper()
	for _, in := range inCorpus {
		paths, err := filepath.Glob(in.files)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: there is no such file (%v)", in.files, err)
		}
		for _, path := range paths {
			s := &corpusSeed{path: path, text: corpusText(t, path, in.rows), verbs: in.verbs}
			if slices.Contains([]string{".yaml", ".json"}, filepath.Ext(path)) {
				for _, document := range documentsOf(t, s.text) {
					if o, is := document.(map[string]any); is {
						s.objects = append(s.objects, o)
					}
				}
			}
			seeds = append(seeds, s)
		}
	}
	return seeds
}

// corpusText returns the text of a file, or its first rows.
func corpusText(t *testing.T, path string, rows int) string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var in io.Reader = file
	if filepath.Ext(path) == ".gz" {
		if in, err = gzip.NewReader(file); err != nil {
			t.Fatal(err)
		}
	}
	text, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.SplitAfter(text, []byte("\n")); rows > 0 && len(lines) > rows {
		text = bytes.Join(lines[:rows], nil)
	}
	return string(text)
}

// input returns the nth input of the corpus, which is one of the file.
func (s *corpusSeed) input(n int) string {
	r := rand.New(rand.NewPCG(uint64(n), 40))
	text := s.text
	switch {
	case r.IntN(4) == 0: // the text only
		return mutatedText(r, text)
	case len(s.objects) > 0:
		objects := slices.Clone(s.objects)
		i := r.IntN(len(objects))
		objects[i] = mutatedObject(r, objects[i])
		text = written(r, objects)
	default:
		separator := ","
		if strings.Contains(s.path, ".swf") {
			separator = " "
		}
		text = mutatedTable(r, text, separator)
	}
	if r.IntN(6) == 0 {
		text = mutatedText(r, text)
	}
	return text
}

// patience is how long a verb may compute before it is interrupted.
const patience = 3 * time.Second

// run runs the verbs that read such a file on the nth input. A verb that computes for long is interrupted.
func (s *corpusSeed) run(t *testing.T, n int) {
	t.Helper()
	input := s.input(n)
	path := clitest.WriteFile(t, "input", input)
	for i, line := range s.verbs {
		if of := len(s.verbs); !*everyVerb && of > verbsPerInput && (i+n*verbsPerInput)%of >= verbsPerInput {
			continue
		}
		ctx, cancel := context.WithCancel(t.Context())
		stop := time.AfterFunc(patience, cancel)
		args := strings.Fields(strings.NewReplacer("{}", path, "{jobs}", "testdata/jobs.csv").Replace(line))
		var out, errs bytes.Buffer
		code := cli.Run(ctx, "v1", args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
		stop.Stop()
		said := out.String() + errs.String()
		// What the input says, also in UTF-16, may be quoted.
		if found := inWordsOfGo.FindString(said); found != "" && !strings.Contains(strings.ReplaceAll(input, "\x00", ""), found) {
			t.Errorf("input %d, of %s: %s: says %q in\n%s", n, s.path, line, found, said)
		}
		interrupted := ctx.Err() != nil
		cancel()
		switch code {
		case verb.ExitDone, verb.ExitNo, verb.ExitWrong:
		case verb.ExitInterrupted:
			if !interrupted {
				t.Errorf("input %d, of %s: %s: says that it is interrupted", n, s.path, line)
			}
		default:
			t.Errorf("input %d, of %s: %s: exit code %d: %s", n, s.path, line, code, said)
		}
	}
}
