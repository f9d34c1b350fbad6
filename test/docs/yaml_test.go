package docs

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	schedulerscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"sigs.k8s.io/yaml"

	configv1alpha1 "loadline.dev/loadline/apis/config/v1alpha1"
	"loadline.dev/loadline/apis/loadline/v1alpha1"
	"loadline.dev/loadline/pkg/model/fit"
	"loadline.dev/loadline/test/docs/page"
)

// whole reports whether a block is made of whole objects.
func whole(b *page.Block) bool {
	return strings.HasPrefix(b.Text, "apiVersion:") || strings.Contains(b.Text, "\napiVersion:")
}

// Every block shows commands, or objects of a kind that we know, or is in the list of others.
func TestBlocksAreWhatTheySeem(t *testing.T) {
	t.Parallel()
	decode := decoder(t)
	seen := map[string]bool{}
	for _, p := range pages {
		if !written(p) {
			continue
		}
		for i := range p.Blocks {
			b := &p.Blocks[i]
			first, _, _ := strings.Cut(b.Text, "\n")
			var err error
			switch o, known := others[p.Path][first]; {
			case b.Console():
			case known:
				seen[p.Path+first] = true
				err = o.check(decode, b.Text)
			case whole(b):
				err = decode(b.Text)
			default:
				err = errors.New("neither commands nor objects; say in the list others what it is")
			}
			if err != nil {
				t.Errorf("%s: %q …: %v", at(p, b.Line), first, err)
			}
		}
	}
	for path, blocks := range others {
		for first := range blocks {
			if !seen[path+first] {
				t.Errorf("the list others has %q, which %s has not", first, path)
			}
		}
	}
}

// written reports whether a page is one whose blocks are tested here: one for users, written by hand. Those of
// docs/reference are generated, but for the one about traces, and the others are for developers.
func written(p *page.Page) bool {
	switch {
	case p.Path == "docs/reference/traces.md":
		return true
	case strings.HasPrefix(p.Path, "docs/reference/"):
		return false
	case strings.HasPrefix(p.Path, "docs/"):
		return true
	default:
		return p.Path == "README.md" || p.Path == "CONTRIBUTING.md"
	}
}

// decoder returns what decodes documents strictly: an unknown field or kind is an error.
func decoder(t *testing.T) func(documents string) error {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, v1alpha1.AddToScheme, configv1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	strict := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	return func(documents string) error {
		reader := utilyaml.NewYAMLReader(bufio.NewReader(strings.NewReader(documents)))
		for {
			document, err := reader.Read()
			if errors.Is(err, io.EOF) {
				return nil
			}
			if err != nil {
				return err
			}
			decode := strict.Decode
			if bytes.Contains(document, []byte("kind: KubeSchedulerConfiguration")) {
				decode = schedulerscheme.Codecs.UniversalDecoder().Decode // looks into the plugins' arguments, too
			}
			if _, _, err := decode(document, nil, nil); err != nil {
				return err
			}
		}
	}
}

// other is a block that is neither commands nor whole objects.
type other struct {
	within string                  // of a fragment of an object, the whole: the fragment takes the place of the line "@"
	why    string                  // of any other block, why nothing is to be checked
	parse  func(text string) error // or how to check it
}

func (o other) check(decode func(string) error, text string) error {
	switch {
	case o.parse != nil:
		return o.parse(text)
	case o.within == "":
		return nil
	}
	var b strings.Builder
	for line := range strings.Lines(o.within) {
		before, fragment := strings.CutSuffix(line, "@\n")
		if !fragment {
			b.WriteString(line)
			continue
		}
		for part := range strings.Lines(text) {
			b.WriteString(before + part)
		}
	}
	return decode(b.String())
}

const (
	aPod = "apiVersion: v1\nkind: Pod\nmetadata: {name: cart}\n@\n"
	aWLP = "apiVersion: loadline.dev/v1alpha1\nkind: WorkloadProfile\nmetadata: {name: cart}\nspec:\n  @\n"
	aSHT = "apiVersion: loadline.dev/v1alpha1\nkind: ShareTree\nmetadata: {name: company}\nspec:\n  @\n"
	aTRP = "apiVersion: loadline.dev/v1alpha1\nkind: TraceReplay\nmetadata: {name: cart}\nspec:\n  @\n"
	aKSC = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles:\n- schedulerName: loadline\n  @\n"
)

const tracesAreTested = "a job trace: pkg/trace reads it, in a test of its own"

func observations(text string) error {
	_, _, err := fit.Read(strings.NewReader(text))
	return err
}

// others are the blocks that are neither commands nor whole objects, by page and first line.
var others = map[string]map[string]other{
	"CONTRIBUTING.md": {"apis/          the CRDs and the plugins' arguments": {why: "a list of folders"}},
	"docs/fit.md": {
		"run,job,dilation":                       {parse: observations},
		"run,job,dilation,request.cpu,limit.cpu": {parse: observations},
	},
	"docs/model.md": {"λ = 1 + p·p̄ − p·p        p: the pod's vector,  p̄: the sum of all vectors on the node, the pod's own among them": {why: "a formula, which hack/pictures tests"}},
	"docs/observability.md": {
		"metrics:": {parse: valuesOfTheChart},
		"rule_files: [/etc/prometheus/loadline.yaml]   # charts/loadline/rules/loadline.yaml": {why: "a configuration of Prometheus, which test/observability checks"},
	},
	"docs/replay.md": {"output: {persistentVolumeClaim: {claimName: data, path: jobs/last-week}}": {within: aTRP}},
	"docs/scheduler.md": {
		"pluginConfig:": {within: aKSC},
		"0/3 nodes are available: 2 node(s) would slow the pod down 1.7×, more than its limit of 1.50×, because of disk, 1 node(s) would": {why: "an event, of pkg/plugins/dilation"},
		"more than its limit of 96.00× (1.50× on 1 of the 64 processors that it can use: its CPU request covers no more)":                 {why: "a part of such an event"},
		"node(s) would slow pods of shop/cart down 1.5×, more than its limit of 1.10×, because of disk, once other pods there are gone":   {why: "another"},
		"node(s) might slow the pod down up to 2.3×, more than its limit of 1.50×: too much runs there to say how much it does":           {why: "another"},
	},
	"docs/share.md": {
		"fairShare: {tree: company, group: web, share: 75}": {within: aWLP},
		"namespaces: [shop, etl]":                           {within: aSHT},
	},
	"docs/workloads.md": {
		"run,job,dilation,device":            {parse: observations},
		"apiVersion: kueue.x-k8s.io/v1beta2": {why: "objects of Kueue, which test/kueue creates"},
	},
	"docs/reference/traces.md": {
		`trace.csv, line 88,120: arrival "17.2": is before the previous arrival, 17.9; sort the trace, or pass --sort`: {why: "an error, of pkg/trace"},
		"#loadline-trace/v1": {why: tracesAreTested},
		"; Version: 2.2":     {why: tracesAreTested},
		"name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time": {why: tracesAreTested},
	},
}

// valuesOfTheChart checks that the chart has the values that are set.
func valuesOfTheChart(text string) error {
	var set, known any
	content, err := os.ReadFile(filepath.Join(root, "charts", "loadline", "values.yaml"))
	if err != nil {
		return err
	}
	if err := errors.Join(yaml.Unmarshal([]byte(text), &set), yaml.Unmarshal(content, &known)); err != nil {
		return err
	}
	return within("", set, known)
}

// within checks that the fields of an object are among those of another one. What is in an empty one may be anything.
func within(path string, set, known any) error {
	fields, isObject := set.(map[string]any)
	all, same := known.(map[string]any)
	if !isObject || same && len(all) == 0 {
		return nil
	}
	for name, value := range fields {
		there, found := all[name]
		if !found {
			return fmt.Errorf("the chart has no value %s", path+name)
		}
		if err := within(path+name+".", value, there); err != nil {
			return err
		}
	}
	return nil
}

// A block behind <!-- file: PATH --> is what the file has, but for the comments at its beginning and between objects.
func TestFilesAreShownAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, p := range pages {
		for _, b := range p.Blocks {
			file, shows := strings.CutPrefix(b.Note, "file: ")
			if !shows {
				continue
			}
			content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
			if err != nil {
				t.Error(err)
				continue
			}
			if withoutComments(string(content)) != withoutComments(b.Text) {
				t.Errorf("%s shows another %s than there is", at(p, b.Line), file)
			}
		}
	}
}

func withoutComments(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// The examples that pages refer to decode, too.
func TestExamplesDecode(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(root, "docs", "examples", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	decode := decoder(t)
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := decode(string(content)); err != nil {
			t.Error(fmt.Errorf("%s: %w", file, err))
		}
	}
}
