package cli_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/pkg/cli"
	"loadline.dev/loadline/pkg/cli/clitest"
	"loadline.dev/loadline/pkg/text"
)

// injected is a line inside a hostile name.
const injected = "OK: all well"

// hostileTexts are the parts of names from outside.
var hostileTexts = map[string]string{
	"a title, a colour and lines": "\x1b]0;pwned\x07\x1b[31mRED\x1b[2J\n" + injected + "\r\n" + injected + "\r\t\v\f\b\x00\x7f",
	"another document":            "\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: pwned}\n---\n#",
	"C1, bidi and no width":       "\u009b31m\u0085" + injected + "\u2028" + injected + "\u202egnp.exe\u2066\u200b\ufeff\U000e0041",
	"markup":                      `<script>alert(1)</script><img src=x onerror=alert(2)>"'>&]]>-->`,
	"a formula":                   "=cmd|' /C calc'!A0",
	"very long":                   strings.Repeat("x", 3000),
}

// hostileVerbs are command lines of each verb with names from outside. {FILE:word,word} is a file of the repository in which each
// of these words has a hostile text before and after it, in all places alike, and so have the names of owners if one of the words
// is owners; {dir} is a folder and {server} an API server all of whose answers are errors that say the text.
var hostileVerbs = map[string][]string{
	"check": {
		"-f {config/samples/workloadprofile.yaml:filecomp,cpu,disk,app}", "-f {docs/examples/checkout.yaml:checkout,search}",
		"-f {config/samples/sharetree.yaml:batch,web}", "-f {config/samples/tracereplay.yaml:name,nodes}",
		"-f {config/samples/workloadprofile.yaml:} --with-cluster --server {server}",
	},
	"predict":          {"-f {docs/examples/deployment.yaml:web,batch} --plot {dir}/p.svg", "-f {docs/examples/profiles.yaml:filecomp,disk,std-io} --plot {dir}/p.svg"},
	"size":             {"-f {docs/examples/checkout.yaml:checkout,search} --plot-servers {dir}/s.svg"},
	"fit":              {"-f {observations.csv:filecomp,sort} --max-resources 1 --folds 2 --plot {dir}/p.svg --heat-map {dir}/h.svg --profiles {dir}/profiles.yaml"},
	"replay":           {"--trace {jobs.csv:first,worker} --nodes 2 --jobs-to {dir} --epochs-to {dir} --report {dir}/r.html --plot-nodes {dir}/n.svg", "-f {profiles.yaml:filecomp,disk} --generate 5 --every 60s --jobs-to {dir} --epochs-to {dir} --report {dir}/r.html"},
	"share":            {"-f {config/samples/sharetree.yaml:batch,web} --plot {dir}/s.svg --compare", "--pods {docs/examples/node.yaml:main,default} --plot {dir}/n.svg", "--node worker-1 --server {server}"},
	"who":              {"-f {docs/examples/who/cluster.yaml:owners} --usage {docs/examples/who/usage.json:} --workload --report {dir}/w.html", "-f {docs/examples/who/cluster.yaml:cart,sort,node-1,agent} --usage {docs/examples/who/usage.json:node-1} --report {dir}/w.html", "--server {server}"},
	"plan":             {"-f {docs/examples/who/cluster.yaml:owners} --usage {docs/examples/who/usage.json:}", "-f {docs/examples/who/cluster.yaml:cart,sort,node-1,node-3,agent,api,main} --usage {docs/examples/who/usage.json:node-1,node-3}", "--consolidate --above 2 -f {docs/examples/who/cluster.yaml:cart,sort,node-1,node-3,agent,api,main} --usage {docs/examples/who/usage.json:node-1,node-3}", "--server {server}"},
	"top pods":         {"-f {docs/examples/who/cluster.yaml:owners} --usage {docs/examples/who/usage.json:}", "-f {docs/examples/who/cluster.yaml:cart,sort,node-1,agent} --usage {docs/examples/who/usage.json:node-1}", "--server {server}"},
	"top nodes":        {"-f {docs/examples/who/cluster.yaml:node-1,node-2} --usage {docs/examples/who/usage.json:node-1,node-2}", "--server {server}"},
	"profiles suggest": {"-f {docs/examples/who/cluster.yaml:owners} --usage {docs/examples/who/usage.json:}", "-f {docs/examples/who/cluster.yaml:cart,sort,agent,app} --usage {docs/examples/who/usage.json:}", "--server {server}"},
	"explain":          {"pod etl/filecomp-7 -f {cluster:worker-1,std-io,disk} --nodes", "pod etl/filecomp-7 --server {server}"},
	"status":           {"--server {server}"},
	"version":          {"--server {server}"},
	"record":           {"--to {dir}/t.csv --server {server}"},

	// It serves what it reads: package live tries that.
	"ui": nil,
	// These read nothing.
	"top": nil, "profiles": nil, "help": nil, "completion": nil, "completion bash": nil, "completion zsh": nil, "completion fish": nil,
	"completion powershell": nil, "completion kubectl": nil,
}

func TestNoNameFromOutsideLeavesItsPlace(t *testing.T) {
	t.Parallel()
	for _, command := range withAllBelow(cli.NewRoot("v1", cli.Streams{})) {
		name := strings.TrimPrefix(command.CommandPath(), "kubectl loadline ")
		if !command.HasParent() || command.Name() == "help" {
			continue
		}
		lines, known := hostileVerbs[name]
		if !known {
			t.Errorf("%s is tried with no hostile names: add what it reads to hostileVerbs", name)
		}
		formats := []string{""}
		if complete, has := command.GetFlagCompletionFunc("output"); has {
			formats, _ = complete(command, nil, "")
		}
		for what, hostile := range hostileTexts {
			t.Run(name+" and "+what, func(t *testing.T) {
				t.Parallel()
				for _, line := range lines {
					for _, format := range formats {
						if format != "jsonpath=" {
							runHostile(t, name, line, format, hostile)
						}
					}
				}
			})
		}
	}
}

// runHostile runs a command line in an output format, and looks at all that it writes.
func runHostile(t *testing.T, name, line, format, hostile string) {
	t.Helper()
	dir := t.TempDir()
	args := append(strings.Fields(name), strings.Fields(filled(t, line, dir, hostile))...)
	if format != "" {
		args = append(args, "-o", format)
	}
	code, stdout, stderr := clitest.Run(t, "", args...)
	where := fmt.Sprintf("%s -o %q (exit code %d)", line, format, code)
	for _, printed := range []string{stdout, stderr} {
		for row := range strings.Lines(printed) {
			row = strings.TrimSuffix(row, "\n")
			if plain := strings.ReplaceAll(row, "\t", ""); text.Printable(plain) != plain {
				t.Errorf("%s: a line is %q", where, row)
			}
			if format != "json" && format != "yaml" && (strings.HasPrefix(row, injected) || strings.HasPrefix(row, "kind: ClusterRoleBinding")) {
				t.Errorf("%s: a name has a line of its own:\n%s", where, printed)
			}
			if len(row) > 45_000 && format != "json" && format != "yaml" && format != "manifests" {
				t.Errorf("%s: a line has %d bytes", where, len(row))
			}
		}
	}
	switch {
	case stdout == "":
	case format == "json":
		checkJSON(t, where, stdout)
	case format == "yaml" || format == "manifests":
		checkKinds(t, where, stdout)
	}
	checkFiles(t, where, dir)
}

// filled returns a command line with its files.
func filled(t *testing.T, line, dir, hostile string) string {
	t.Helper()
	for n := 0; ; n++ {
		before, rest, found := strings.Cut(line, "{")
		if !found {
			return line
		}
		what, after, _ := strings.Cut(rest, "}")
		switch what {
		case "dir":
			line = before + dir + after
			continue
		case "server":
			line = before + refusingServer(t, hostile) + after
			continue
		}
		file, words, _ := strings.Cut(what, ":")
		content, built := map[string]string{"observations.csv": exampleObservations(), "jobs.csv": clitest.ThreeJobs, "profiles.yaml": examplesProfiles, "cluster": clitest.FiveWorkers}[file]
		if !built {
			read, err := os.ReadFile(filepath.Join("..", "..", file))
			if err != nil {
				t.Fatal(err)
			}
			content = string(read)
		}
		path := filepath.Join(t.TempDir(), strconv.Itoa(n)+filepath.Ext(file))
		if err := os.WriteFile(path, renamed(t, file, content, strings.Split(words, ","), hostile), 0o600); err != nil {
			t.Fatal(err)
		}
		line = before + path + after
	}
}

// renamed returns the content of a file with a hostile text beside some words.
func renamed(t *testing.T, file, content string, words []string, hostile string) []byte {
	t.Helper()
	rename := func(s string) string {
		for _, word := range words {
			if word != "" {
				s = strings.ReplaceAll(s, word, hostile+word+hostile)
			}
		}
		return s
	}
	switch filepath.Ext(file) {
	case ".csv":
		version, table, _ := strings.Cut(content, "\n")
		if !strings.HasPrefix(version, "#") {
			version, table = "", content
		}
		rows, err := csv.NewReader(strings.NewReader(table)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows[1:] {
			for i := range row {
				row[i] = rename(row[i])
			}
		}
		var b bytes.Buffer
		if version != "" {
			b.WriteString(version + "\n")
		}
		if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	case ".json":
		var value any
		if err := json.Unmarshal([]byte(content), &value); err != nil {
			t.Fatal(err)
		}
		return encoded(t, renamedIn(value, rename))
	}
	var all []byte
	for _, document := range documentsOf(t, content) {
		if slices.Contains(words, "owners") {
			renameOwners(document, hostile)
		}
		all = append(append(all, encoded(t, renamedIn(document, rename))...), "---\n"...)
	}
	return all
}

func encoded(t *testing.T, value any) []byte {
	t.Helper()
	content, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return append(content, '\n')
}

// documentsOf returns the documents of YAML that hold anything.
func documentsOf(t *testing.T, content string) (all []any) {
	t.Helper()
	reader := utilyaml.NewDocumentDecoder(io.NopCloser(strings.NewReader(content)))
	defer reader.Close()
	for buffer := make([]byte, 8<<20); ; {
		n, err := reader.Read(buffer)
		if errors.Is(err, io.EOF) {
			return all
		}
		var document any
		if err = errors.Join(err, yaml.Unmarshal(buffer[:n], &document)); err != nil {
			t.Fatalf("%v in %q", err, content)
		}
		if document != nil {
			all = append(all, document)
		}
	}
}

// renamedIn renames all strings and names of fields in a value, but for those of kinds.
func renamedIn(value any, rename func(string) string) any {
	switch v := value.(type) {
	case string:
		return rename(v)
	case []any:
		for i := range v {
			v[i] = renamedIn(v[i], rename)
		}
	case map[string]any:
		all := map[string]any{}
		for key, inner := range v {
			if key == "kind" || key == "apiVersion" {
				all[key] = inner
				continue
			}
			all[rename(key)] = renamedIn(inner, rename)
		}
		return all
	}
	return value
}

// renameOwners puts a hostile text behind the names of owner references, which the API server does not restrict.
func renameOwners(value any, hostile string) {
	switch v := value.(type) {
	case []any:
		for _, inner := range v {
			renameOwners(inner, hostile)
		}
	case map[string]any:
		owners, _ := v["ownerReferences"].([]any)
		for _, owner := range owners {
			if o, is := owner.(map[string]any); is {
				o["name"], o["kind"] = fmt.Sprint(o["name"], hostile), fmt.Sprint("Custom", hostile)
			}
		}
		for _, inner := range v {
			renameOwners(inner, hostile)
		}
	}
}

// refusingServer answers with errors whose text is hostile.
func refusingServer(t *testing.T, hostile string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/version" {
			_ = json.NewEncoder(w).Encode(map[string]string{"gitVersion": "v1" + hostile})
			return
		}
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "no" + hostile, "reason": "Forbidden", "code": http.StatusForbidden})
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func checkJSON(t *testing.T, where, content string) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(content))
	var answer, more any
	if err := decoder.Decode(&answer); err != nil {
		t.Errorf("%s: %v in %s", where, err, content)
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		t.Errorf("%s: something follows the answer: %v", where, more)
	}
}

// checkKinds looks for objects that come from a hostile text.
func checkKinds(t *testing.T, where, content string) {
	t.Helper()
	for _, document := range documentsOf(t, content) {
		if object, is := document.(map[string]any); is {
			if kind := object["kind"]; kind != nil && kind != "WorkloadProfile" && kind != "NodeProfile" {
				t.Errorf("%s: there is a %v in\n%s", where, kind, content)
			}
		}
	}
}

// checkFiles looks at the files that were written.
func checkFiles(t *testing.T, where, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		where := where + ": " + entry.Name()
		switch filepath.Ext(entry.Name()) {
		case ".svg":
			checkSVG(t, where, content)
		case ".html":
			checkPage(t, where, content)
		case ".csv":
			checkCSV(t, where, content)
		case ".yaml":
			checkKinds(t, where, string(content))
		}
	}
}

func checkSVG(t *testing.T, where string, content []byte) {
	t.Helper()
	for decoder := xml.NewDecoder(bytes.NewReader(content)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Errorf("%s: %v", where, err)
			return
		}
		if element, is := token.(xml.StartElement); is && (element.Name.Local == "script" || element.Name.Local == "img" || element.Name.Local == "foreignObject") {
			t.Errorf("%s: there is a %s", where, element.Name.Local)
		}
	}
}

func checkPage(t *testing.T, where string, content []byte) {
	t.Helper()
	if shown := strings.ReplaceAll(strings.ReplaceAll(string(content), "\n", ""), "\t", ""); text.Printable(shown) != shown {
		t.Errorf("%s: there is what cannot be seen", where)
	}
	root, err := html.Parse(bytes.NewReader(content))
	if err != nil {
		t.Errorf("%s: %v", where, err)
		return
	}
	for node := range root.Descendants() {
		if node.Type == html.CommentNode || node.Type == html.ElementNode && slices.Contains([]string{"script", "img", "iframe", "object", "foreignobject"}, strings.ToLower(node.Data)) {
			t.Errorf("%s: there is a %q", where, node.Data)
		}
		for _, attribute := range node.Attr {
			if strings.HasPrefix(strings.ToLower(attribute.Key), "on") {
				t.Errorf("%s: there is an %s", where, attribute.Key)
			}
		}
	}
}

func checkCSV(t *testing.T, where string, content []byte) {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(content)).ReadAll()
	if err != nil {
		t.Errorf("%s: %v", where, err)
	}
	for _, row := range rows {
		for _, cell := range row {
			_, noNumber := strconv.ParseFloat(cell, 64)
			if noNumber != nil && strings.IndexAny(cell, "=+-@\t\r") == 0 {
				t.Errorf("%s: %q is a formula", where, cell)
			}
		}
	}
}
