// Package sbom writes bills of materials of Go programs, in CycloneDX: of which modules, in which versions and with which
// checksums, a program was made, and by which Go. All of it is read from the program itself, where the go command has
// written it, so that a bill cannot be of another program; the same program gives the same bill.
//
// cyclonedx-go encodes it. The generator cyclonedx-gomod names a program by its module, which all programs here share, has the
// checksum of the program as a property only, gives neither a serial number nor a date, and needs go-git and a detector of
// licenses.
package sbom

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
	"github.com/google/uuid"
)

// WriteFile writes the bill of the program at the path binary, as JSON.
func WriteFile(path, binary string) error {
	bill, err := Of(binary)
	if err != nil {
		return fmt.Errorf("bill of materials %s: %w", path, err)
	}
	var encoded bytes.Buffer
	if err := cdx.NewBOMEncoder(&encoded, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bill, cdx.SpecVersion1_6); err != nil {
		return fmt.Errorf("bill of materials %s: %w", path, err)
	}
	return os.WriteFile(path, encoded.Bytes(), 0o644)
}

// FileName says what to call the bill of a program: for example "loadline-probe_linux_arm64.cdx.json".
func FileName(binary string) (string, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s_%s_%s.cdx.json", filepath.Base(binary), setting(info, "GOOS"), setting(info, "GOARCH")), nil
}

// Of returns the bill of the program at the path binary.
func Of(binary string) (*cdx.BOM, error) {
	content, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	info, err := buildinfo.Read(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", binary, err)
	}
	sum := sha256.Sum256(content)
	program := programOf(info, filepath.Base(binary), sum[:])
	parts := []cdx.Component{goOf(info)}
	for _, module := range info.Deps {
		part, err := moduleOf(module)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", binary, err)
		}
		parts = append(parts, part)
	}
	slices.SortFunc(parts, func(a, b cdx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })

	// Which module needs which, the program does not say: it needs them all.
	dependencies := []cdx.Dependency{{Ref: program.BOMRef, Dependencies: &[]string{}}}
	for _, part := range parts {
		*dependencies[0].Dependencies = append(*dependencies[0].Dependencies, part.BOMRef)
		dependencies = append(dependencies, cdx.Dependency{Ref: part.BOMRef})
	}
	bill := cdx.NewBOM()
	bill.SerialNumber = uuid.NewHash(sha256.New(), uuid.NameSpaceOID, sum[:], 8).URN()
	bill.Metadata = &cdx.Metadata{Timestamp: setting(info, "vcs.time"), Component: &program}
	bill.Components = &parts
	bill.Dependencies = &dependencies
	return bill, nil
}

// programOf describes the program itself.
func programOf(info *buildinfo.BuildInfo, name string, sum []byte) cdx.Component {
	reference := purl(info.Main.Path, info.Main.Version)
	if folder, ok := strings.CutPrefix(info.Path, info.Main.Path+"/"); ok {
		reference += "#" + folder
	}
	return cdx.Component{
		BOMRef: reference, Type: cdx.ComponentTypeApplication, Name: name, Version: info.Main.Version, PackageURL: reference,
		Hashes:     &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}},
		Licenses:   &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}},
		Properties: propertiesOf(info),
	}
}

// propertiesOf says how the program was built, by the names of CycloneDX's property taxonomy.
func propertiesOf(info *buildinfo.BuildInfo) *[]cdx.Property {
	var properties []cdx.Property
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS", "GOARCH", "CGO_ENABLED":
			properties = append(properties, cdx.Property{Name: "cdx:gomod:build:env:" + s.Key, Value: s.Value})
		case "vcs.revision", "vcs.modified":
			properties = append(properties, cdx.Property{Name: "cdx:gomod:build:" + strings.Replace(s.Key, ".", ":", 1), Value: s.Value})
		}
	}
	return &properties
}

// goOf describes Go's standard library.
func goOf(info *buildinfo.BuildInfo) cdx.Component {
	version, _, _ := strings.Cut(strings.TrimPrefix(info.GoVersion, "go"), " ") // without experiments
	reference := purl("stdlib", version)
	return cdx.Component{BOMRef: reference, Type: cdx.ComponentTypeLibrary, Name: "stdlib", Version: version, PackageURL: reference}
}

// moduleOf describes a module, or what replaces it.
func moduleOf(module *debug.Module) (cdx.Component, error) {
	if module.Replace != nil {
		module = module.Replace
	}
	reference := purl(module.Path, module.Version)
	part := cdx.Component{BOMRef: reference, Type: cdx.ComponentTypeLibrary, Name: module.Path, Version: module.Version, PackageURL: reference}
	// A checksum as go.sum has it: the SHA-256, not of a file, but of the list of the SHA-256s of the module's files.
	if sum, ok := strings.CutPrefix(module.Sum, "h1:"); ok {
		decoded, err := base64.StdEncoding.DecodeString(sum)
		if err != nil {
			return cdx.Component{}, fmt.Errorf("the checksum of %s, %q: %w", module.Path, module.Sum, err)
		}
		part.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: hex.EncodeToString(decoded)}}
	}
	return part, nil
}

// purl returns the package URL of a module.
func purl(path, version string) string {
	if version == "" {
		return "pkg:golang/" + path
	}
	return "pkg:golang/" + path + "@" + url.QueryEscape(version)
}

// setting returns what the go command was told, or "".
func setting(info *buildinfo.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
