package image_test

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"loadline.dev/loadline/hack/cluster/image"
)

func TestAnImageHoldsTheProgramForAUserWhoIsNobody(t *testing.T) {
	t.Parallel()
	archive := write(t, "probe", "the program")
	files := contents(t, archive)

	var manifest []struct {
		Config   string
		RepoTags []string
		Layers   []string
	}
	decode(t, files["manifest.json"], &manifest)
	if len(manifest) != 1 || len(manifest[0].Layers) != 1 || strings.Join(manifest[0].RepoTags, " ") != "loadline/probe:dev" {
		t.Fatalf("manifest: %s", files["manifest.json"].body)
	}
	layer := files[manifest[0].Layers[0]].body

	var config struct {
		Config struct {
			User            string
			Env, Entrypoint []string
		}
		RootFS struct {
			DiffIDs []string `json:"diff_ids"`
		} `json:"rootfs"`
	}
	decode(t, files[manifest[0].Config], &config)
	if config.Config.User != "65532:65532" || strings.Join(config.Config.Entrypoint, " ") != "/usr/local/bin/probe" || strings.Join(config.Config.Env, " ") != "PATH=/usr/local/bin" {
		t.Errorf("config: %s", files[manifest[0].Config].body)
	}
	if want := fmt.Sprintf("sha256:%x", sha256.Sum256(layer)); strings.Join(config.RootFS.DiffIDs, " ") != want {
		t.Errorf("diff_ids: %v, want the layer's, %s", config.RootFS.DiffIDs, want)
	}

	inside := contents(t, layer)
	if program := inside["usr/local/bin/probe"]; string(program.body) != "the program" || program.Mode != 0o755 {
		t.Errorf("the program is %q with mode %o", program.body, program.Mode)
	}
	if inside["tmp/"].Mode != 0o1777 {
		t.Errorf("/tmp has mode %o, want 1777", inside["tmp/"].Mode)
	}
}

func TestTheSameProgramGivesTheSameImage(t *testing.T) {
	t.Parallel()
	if !bytes.Equal(write(t, "probe", "the program"), write(t, "probe", "the program")) {
		t.Error("two archives differ")
	}
}

func TestAProgramThatIsNotThereIsNamed(t *testing.T) {
	t.Parallel()
	err := image.Write(io.Discard, "loadline/probe:dev", filepath.Join(t.TempDir(), "absent"))
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "image loadline/probe:dev: ") {
		t.Errorf("got %v", err)
	}
}

// write returns the archive of an image of a program with a content.
func write(t *testing.T, name, content string) []byte {
	t.Helper()
	binary := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(binary, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	if err := image.Write(&archive, "loadline/"+name+":dev", binary); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
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

func decode(t *testing.T, f file, into any) {
	t.Helper()
	if err := json.Unmarshal(f.body, into); err != nil {
		t.Fatal(err)
	}
}
