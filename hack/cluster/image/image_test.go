package image_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"loadline.dev/loadline/hack/cluster/image"
)

func TestAnImageHoldsTheProgramForAUserWhoIsNobody(t *testing.T) {
	t.Parallel()
	program := checkout(t).build(t, "amd64")
	var archive bytes.Buffer
	if err := image.Write(&archive, "loadline/probe:dev", program); err != nil {
		t.Fatal(err)
	}
	files := contents(t, archive.Bytes())

	var manifest []struct {
		Config   string
		RepoTags []string
		Layers   []string
	}
	decode(t, files["manifest.json"], &manifest)
	if len(manifest) != 1 || len(manifest[0].Layers) != 1 || strings.Join(manifest[0].RepoTags, " ") != "loadline/probe:dev" {
		t.Fatalf("manifest: %s", files["manifest.json"].body)
	}
	layer := decompress(t, files[manifest[0].Layers[0]].body)

	var config v1.ConfigFile
	decode(t, files[manifest[0].Config], &config)
	if config.Config.User != "65532:65532" || strings.Join(config.Config.Entrypoint, " ") != "/usr/local/bin/probe" || strings.Join(config.Config.Env, " ") != "PATH=/usr/local/bin" {
		t.Errorf("config: %s", files[manifest[0].Config].body)
	}
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256(layer)); len(config.RootFS.DiffIDs) != 1 || config.RootFS.DiffIDs[0].String() != want {
		t.Errorf("diff_ids: %v, want the layer's, %s", config.RootFS.DiffIDs, want)
	}

	if end := make([]byte, 1024); len(layer)%512 != 0 || !bytes.HasSuffix(layer, end) {
		t.Errorf("the layer, of %d bytes, has no end: two blocks of zeros, which programs that read archives strictly expect", len(layer))
	}
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	inside := contents(t, layer)
	if held := inside["usr/local/bin/probe"]; !bytes.Equal(held.body, content) || held.Mode != 0o755 {
		t.Errorf("the program has mode %o and %d bytes, want 755 and %d", held.Mode, len(held.body), len(content))
	}
	if inside["tmp/"].Mode != 0o1777 {
		t.Errorf("/tmp has mode %o, want 1777", inside["tmp/"].Mode)
	}
	for name, file := range inside {
		if file.ModTime.Unix() != 0 || file.Uid != 0 || file.Gid != 0 {
			t.Errorf("%s is of %v and of user %d:%d, want no date and root", name, file.ModTime, file.Uid, file.Gid)
		}
	}
}

func TestTheSameCommitGivesTheSameImage(t *testing.T) {
	t.Parallel()
	var archives, layouts [2]string
	for i := range 2 {
		sources := checkout(t) // each in a folder of its own
		amd64, arm64 := sources.build(t, "amd64"), sources.build(t, "arm64")
		dir := t.TempDir()
		digest, err := image.WriteLayout(filepath.Join(dir, "probe"), amd64, arm64)
		if err != nil {
			t.Fatal(err)
		}
		layouts[i] = digest
		if err := image.WriteFile(filepath.Join(dir, "probe.tar"), "loadline/probe:dev", amd64); err != nil {
			t.Fatal(err)
		}
		archive, err := os.ReadFile(filepath.Join(dir, "probe.tar"))
		if err != nil {
			t.Fatal(err)
		}
		archives[i] = fmt.Sprintf("%x", sha256.Sum256(archive))
	}
	if layouts[0] != layouts[1] {
		t.Errorf("the digests are %s and %s", layouts[0], layouts[1])
	}
	if archives[0] != archives[1] {
		t.Errorf("the archives' sums are %s and %s", archives[0], archives[1])
	}
}

func TestALayoutHasAnImageForEveryPlatformThatSaysWhatItIs(t *testing.T) {
	t.Parallel()
	sources := checkout(t)
	dir := filepath.Join(t.TempDir(), "probe")
	digest, err := image.WriteLayout(dir, sources.build(t, "amd64"), sources.build(t, "arm64"))
	if err != nil {
		t.Fatal(err)
	}
	images, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(images); err != nil {
		t.Error(err)
	}
	hash, err := v1.NewHash(digest)
	if err != nil {
		t.Fatal(err)
	}
	index, err := images.ImageIndex(hash)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"org.opencontainers.image.title":         "probe",
		"org.opencontainers.image.version":       "v1.2.3",
		"org.opencontainers.image.revision":      sources.commit,
		"org.opencontainers.image.created":       "2026-02-03T04:05:06Z",
		"org.opencontainers.image.source":        "https://loadline.dev/loadline",
		"org.opencontainers.image.documentation": "https://loadline.dev/docs",
		"org.opencontainers.image.licenses":      "Apache-2.0",
	}
	if diff := cmp.Diff(want, manifest.Annotations); diff != "" {
		t.Errorf("annotations of the index (-want +got):\n%s", diff)
	}
	var platforms []string
	for _, described := range manifest.Manifests {
		platforms = append(platforms, described.Platform.String())
		img, err := index.Image(described.Digest)
		if err != nil {
			t.Fatal(err)
		}
		own, err := img.Manifest()
		if err != nil {
			t.Fatal(err)
		}
		config, err := img.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, own.Annotations); diff != "" {
			t.Errorf("annotations for %s (-want +got):\n%s", described.Platform, diff)
		}
		if diff := cmp.Diff(want, config.Config.Labels); diff != "" {
			t.Errorf("labels for %s (-want +got):\n%s", described.Platform, diff)
		}
		if config.OS+"/"+config.Architecture != described.Platform.String() {
			t.Errorf("the image for %s is of %s/%s", described.Platform, config.OS, config.Architecture)
		}
	}
	if diff := cmp.Diff([]string{"linux/amd64", "linux/arm64"}, platforms); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
}

func TestALayoutTakesThePlaceOfAnEarlierOne(t *testing.T) {
	t.Parallel()
	sources := checkout(t)
	amd64, arm64 := sources.build(t, "amd64"), sources.build(t, "arm64")
	dir := filepath.Join(t.TempDir(), "probe")
	if _, err := image.WriteLayout(dir, amd64, arm64); err != nil {
		t.Fatal(err)
	}
	if _, err := image.WriteLayout(dir, arm64); err != nil {
		t.Fatal(err)
	}
	blobs, err := filepath.Glob(filepath.Join(dir, "blobs", "sha256", "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(blobs) != 4 {
		t.Errorf("there are %d blobs, want an index, a manifest, a configuration and a layer", len(blobs))
	}
}

func TestAPackedLayoutIsThatLayout(t *testing.T) {
	t.Parallel()
	sources := checkout(t)
	dir, archive, unpacked := filepath.Join(t.TempDir(), "probe"), filepath.Join(t.TempDir(), "probe.tar"), t.TempDir()
	digest, err := image.WriteLayout(dir, sources.build(t, "amd64"))
	if err != nil {
		t.Fatal(err)
	}
	if err := image.PackLayout(archive, dir); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), "tar", "-xf", archive, "-C", unpacked).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	images, err := layout.ImageIndexFromPath(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(images); err != nil {
		t.Error(err)
	}
	manifest, err := images.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Manifests) != 1 || manifest.Manifests[0].Digest.String() != digest {
		t.Errorf("it has %v, want the image %s", manifest.Manifests, digest)
	}
}

func TestAFolderThatIsNoLayoutIsNamed(t *testing.T) {
	t.Parallel()
	dir, archive := t.TempDir(), filepath.Join(t.TempDir(), "probe.tar")
	if err := image.PackLayout(archive, dir); err == nil || !strings.Contains(err.Error(), dir+" is no layout of an image") {
		t.Errorf("the error is %v", err)
	}
	if _, err := os.Stat(archive); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an archive is written all the same: %v", err)
	}
}

func TestAProgramThatCannotBeInAnImageIsNamed(t *testing.T) {
	t.Parallel()
	sources := checkout(t)
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		program, want string
	}{
		"one that is not there":  {filepath.Join(t.TempDir(), "absent"), "no such file"},
		"one that is no program": {text, "unrecognized file format"},
		"one for another system": {sources.build(t, "amd64", "GOOS=windows"), "it is for windows; containers need a program for linux"},
		"one that is not static": {sources.build(t, "amd64", "GOFLAGS=-buildmode=pie"), "it is not static; build it with CGO_ENABLED=0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := image.Write(io.Discard, "loadline/probe:dev", test.program)
			for _, want := range []string{"image loadline/probe:dev: ", test.program, test.want} {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("the error %v lacks %q", err, want)
				}
			}
		})
	}
}

func TestProgramsThatAreNotOfOneImageAreNamed(t *testing.T) {
	t.Parallel()
	sources := checkout(t)
	amd64, arm64 := sources.build(t, "amd64"), sources.build(t, "arm64")
	other := filepath.Join(t.TempDir(), "gauge")
	if err := os.Link(arm64, other); err != nil {
		t.Fatal(err)
	}
	sources.git(t, "commit", "--allow-empty", "--message", "later")
	later := sources.build(t, "arm64")
	for name, test := range map[string]struct {
		programs []string
		want     string
	}{
		"none":               {nil, "there is no program"},
		"two for a platform": {[]string{amd64, amd64}, "are both for linux/amd64"},
		"two of two names":   {[]string{amd64, other}, "are different programs"},
		"two of two commits": {[]string{amd64, later}, "build both from one commit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := image.WriteLayout(filepath.Join(t.TempDir(), "probe"), test.programs...); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error %v lacks %q", err, test.want)
			}
		})
	}
}

// sources are a git repository with a program named probe.
type sources struct {
	dir, commit string
}

// checkout makes a repository of one commit, tagged v1.2.3. All that are made are equal.
func checkout(t *testing.T) *sources {
	t.Helper()
	s := &sources{dir: t.TempDir()}
	for name, content := range map[string]string{
		"go.mod":        "module example.com/module\n\ngo 1.26.0\n",
		"probe/main.go": "package main\n\nfunc main() {}\n",
	} {
		path := filepath.Join(s.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s.git(t, "init", "--quiet")
	s.git(t, "add", ".")
	s.git(t, "commit", "--quiet", "--message", "first")
	s.git(t, "tag", "v1.2.3")
	s.commit = s.git(t, "rev-parse", "HEAD")
	return s
}

// git runs git and returns what it says. It knows neither the machine's configuration nor its clock.
func (s *sources) git(t *testing.T, args ...string) string {
	t.Helper()
	git := exec.Command("git", args...)
	git.Dir = s.dir
	git.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_AUTHOR_DATE=2026-02-03T04:05:06Z",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com", "GIT_COMMITTER_DATE=2026-02-03T04:05:06Z")
	said, err := git.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, said)
	}
	return strings.TrimSpace(string(said))
}

// build builds the program for an architecture into a new folder and returns its path. env has more of the environment.
func (s *sources) build(t *testing.T, arch string, env ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "probe")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=true", "-ldflags=-s -w", "-o", program, "./probe")
	build.Dir = s.dir
	build.Env = append(append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch), env...)
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, said)
	}
	return program
}

// file is a file of an archive.
type file struct {
	*tar.Header
	body []byte
}

func contents(t *testing.T, archive []byte) map[string]file {
	t.Helper()
	files := map[string]file{}
	for reader := tar.NewReader(bytes.NewReader(archive)); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = file{header, body}
	}
}

func decompress(t *testing.T, compressed []byte) []byte {
	t.Helper()
	reader, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

func decode(t *testing.T, f file, into any) {
	t.Helper()
	if err := json.Unmarshal(f.body, into); err != nil {
		t.Fatal(err)
	}
}
