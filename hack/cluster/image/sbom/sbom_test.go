package sbom_test

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"loadline.dev/loadline/hack/cluster/image/sbom"
)

func TestABillListsTheProgramGoAndEveryModule(t *testing.T) {
	t.Parallel()
	program, info := build(t)
	bill := read(t, write(t, program))

	main := bill.Metadata.Component
	if main.Name != filepath.Base(program) || main.Type != cdx.ComponentTypeApplication {
		t.Errorf("the program is %s %s", main.Type, main.Name)
	}
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%x", sha256.Sum256(content)); (*main.Hashes)[0].Value != want {
		t.Errorf("the program's sum is %s, want %s", (*main.Hashes)[0].Value, want)
	}

	listed := map[string]cdx.Component{}
	for _, part := range *bill.Components {
		listed[part.Name+" "+part.Version] = part
	}
	if _, ok := listed["stdlib "+strings.TrimPrefix(runtime.Version(), "go")]; !ok {
		t.Errorf("Go %s is not listed", runtime.Version())
	}
	if len(info.Deps) == 0 {
		t.Fatal("the test has no modules, and so shows nothing")
	}
	for _, module := range info.Deps {
		part, ok := listed[module.Path+" "+module.Version]
		if !ok {
			t.Errorf("%s %s is not listed", module.Path, module.Version)
			continue
		}
		if want := "pkg:golang/" + module.Path + "@"; !strings.HasPrefix(part.PackageURL, want) {
			t.Errorf("the package URL of %s is %s", module.Path, part.PackageURL)
		}
		if part.Hashes == nil || len((*part.Hashes)[0].Value) != 2*sha256.Size {
			t.Errorf("%s has the checksum %v", module.Path, part.Hashes)
		}
	}
	if len(*bill.Components) != len(info.Deps)+1 {
		t.Errorf("%d parts, want %d modules and Go", len(*bill.Components), len(info.Deps))
	}
}

func TestABillIsWhatTheSpecificationAsksFor(t *testing.T) {
	t.Parallel()
	program, _ := build(t)
	decoded, err := jsonschema.UnmarshalJSON(bytes.NewReader(write(t, program)))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema(t).Validate(decoded); err != nil {
		t.Error(err)
	}
}

func TestABillRefersToNothingThatItDoesNotList(t *testing.T) {
	t.Parallel()
	program, _ := build(t)
	bill := read(t, write(t, program))
	references := map[string]bool{}
	for _, part := range append(*bill.Components, *bill.Metadata.Component) {
		if references[part.BOMRef] {
			t.Errorf("two parts are %s", part.BOMRef)
		}
		references[part.BOMRef] = true
	}
	for _, dependency := range *bill.Dependencies {
		if !references[dependency.Ref] {
			t.Errorf("%s depends on something, but is not listed", dependency.Ref)
		}
		if dependency.Dependencies == nil {
			continue
		}
		for _, reference := range *dependency.Dependencies {
			if !references[reference] {
				t.Errorf("%s depends on %s, which is not listed", dependency.Ref, reference)
			}
		}
	}
}

func TestTheSameProgramGivesTheSameBill(t *testing.T) {
	t.Parallel()
	program, _ := build(t)
	if first, second := write(t, program), write(t, program); !bytes.Equal(first, second) {
		t.Errorf("two bills differ:\n%s\n%s", first, second)
	}
}

func TestAProgramWithoutABillIsNamed(t *testing.T) {
	t.Parallel()
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for program, want := range map[string]string{text: "unrecognized file format", filepath.Join(t.TempDir(), "absent"): "no such file"} {
		err := sbom.WriteFile(filepath.Join(t.TempDir(), "bill.json"), program)
		if err == nil || !strings.Contains(err.Error(), program) || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s and %q", err, program, want)
		}
	}
}

// build builds a program that needs a module, and returns its path and what the go command has written into it.
func build(t *testing.T) (string, *buildinfo.BuildInfo) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "program")
	if said, err := exec.Command("go", "build", "-trimpath", "-o", program, "./testdata/program").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, said)
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	return program, info
}

// write writes a bill and returns it.
func write(t *testing.T, program string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bill.json")
	if err := sbom.WriteFile(path, program); err != nil {
		t.Fatal(err)
	}
	bill, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bill
}

// schema returns the JSON schema of CycloneDX 1.6, which stands beside the library that encodes it.
func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	for url, file := range map[string]string{
		"http://cyclonedx.org/schema/bom-1.6.schema.json":  "bom-1.6.schema.json",
		"http://cyclonedx.org/schema/spdx.schema.json":     "spdx.schema.json",
		"http://cyclonedx.org/schema/jsf-0.82.schema.json": "jsf-0.82.schemax.json",
	} {
		content, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "schema", file))
		if err != nil {
			t.Fatal(err)
		}
		decoded, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiler.AddResource(url, decoded); err != nil {
			t.Fatal(err)
		}
	}
	compiled, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func read(t *testing.T, encoded []byte) *cdx.BOM {
	t.Helper()
	var bill cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(encoded), cdx.BOMFileFormatJSON).Decode(&bill); err != nil {
		t.Fatal(err)
	}
	return &bill
}
