package release_test

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goreleaser/goreleaser/v2/pkg/config"
)

// GoReleaser itself takes minutes to build; "make release-snapshot" runs it.
func TestGoReleaserTakesItsConfiguration(t *testing.T) {
	t.Parallel()
	project, err := config.Load(filepath.Join(root, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(project.Builds) != 1 {
		t.Fatalf("%d builds, want one", len(project.Builds))
	}
	build := project.Builds[0]
	if !slices.Equal(build.Goos, []string{"linux", "darwin", "windows"}) || !slices.Equal(build.Goarch, []string{"amd64", "arm64"}) {
		t.Errorf("it builds for %v on %v", build.Goos, build.Goarch)
	}
	if !slices.Equal(build.Ldflags, []string{"{{ .Env.LDFLAGS }}"}) || build.ModTimestamp != "{{ .CommitTimestamp }}" {
		t.Errorf("it links with %v, with dates of %q", build.Ldflags, build.ModTimestamp)
	}
	if len(project.Signs) != 1 || project.Signs[0].Artifacts != "checksum" {
		t.Errorf("it signs %+v, want the checksums", project.Signs)
	}
	if len(project.SBOMs) != 1 {
		t.Errorf("it makes %d kinds of bills of materials, want one", len(project.SBOMs))
	}
}

// What "make" has made beside it is published, and signed with the checksums.
func TestWhatAReleaseSaysOfItselfIsPublishedAndSigned(t *testing.T) {
	t.Parallel()
	project, err := config.Load(filepath.Join(root, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, made := range []string{"out/images/loadline-manager_linux_amd64.cdx.json", "out/vex/loadline.openvex.json", "out/charts/loadline-1.2.3.tgz"} {
		for list, files := range map[string][]config.ExtraFile{"checksum": project.Checksum.ExtraFiles, "release": project.Release.ExtraFiles} {
			if !slices.ContainsFunc(files, func(f config.ExtraFile) bool { matches, err := path.Match(f.Glob, made); return err == nil && matches }) {
				t.Errorf("%s: the extra files lack %s", list, made)
			}
		}
	}
}

// An image has the bill of materials of its program, and what vulnerabilities mean for it.
func TestReleasesMakeAndAttestTheOpenVEXDocument(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"release", "release-snapshot", "sign-images"} {
		if commands := dryRun(t, target); !regexp.MustCompile(`go run \./vex \S+/security/vex\.yaml' .*/out/vex/loadline\.openvex\.json'`).MatchString(commands) {
			t.Errorf("make %s does not make the OpenVEX document:\n%s", target, commands)
		}
	}
	if commands := dryRun(t, "sign-images"); !regexp.MustCompile(`cosign attest --yes --type openvex --predicate \S+/out/vex/loadline\.openvex\.json'`).MatchString(commands) {
		t.Errorf("make sign-images does not attest the OpenVEX document:\n%s", commands)
	}
}

// What krew's guide for plugin developers asks of a manifest and of the archives that it names.
func TestTheManifestForKrewIsAsKrewAsks(t *testing.T) {
	t.Parallel()
	project, err := config.Load(filepath.Join(root, ".goreleaser.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if len(project.Krews) != 1 || len(project.Archives) != 1 {
		t.Fatalf("%d manifests, %d kinds of archives, want one of each", len(project.Krews), len(project.Archives))
	}
	manifest, archive := project.Krews[0], project.Archives[0]
	if want := "kubectl-" + manifest.Name; project.Builds[0].Binary != want {
		t.Errorf("the plugin %s is the program %s, want %s", manifest.Name, project.Builds[0].Binary, want)
	}
	if !slices.Equal(manifest.IDs, []string{archive.ID}) {
		t.Errorf("the manifest is of the archives %v, want %s", manifest.IDs, archive.ID)
	}
	if short := manifest.ShortDescription; short == "" || len(short) > 50 || strings.HasSuffix(short, ".") {
		t.Errorf("the short description, %q, is not one of at most 50 characters and without a full stop", short)
	}
	for line := range strings.Lines(manifest.Description + manifest.Caveats) {
		if len(line) > 81 {
			t.Errorf("the line %q is longer than 80 characters", line)
		}
	}
	if manifest.Description == "" || !strings.HasPrefix(manifest.Homepage, "https://") {
		t.Errorf("the description is %q, the homepage %q", manifest.Description, manifest.Homepage)
	}
	formats := slices.Clone(archive.Formats)
	for _, override := range archive.FormatOverrides {
		formats = append(formats, override.Formats...)
	}
	if !slices.Equal(formats, []string{"tar.gz", "zip"}) {
		t.Errorf("the archives are %v, want tar.gz and zip, which krew reads", formats)
	}
	if !slices.ContainsFunc(archive.Files, func(f config.File) bool { return f.Source == "LICENSE" }) {
		t.Error("the archives lack the license")
	}
}
