package image

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime"
)

// user is the user id, and group id, that programs run as: distroless' "nonroot".
const user = 65532

// binDir is where the program is, and all of PATH.
const binDir = "/usr/local/bin"

// Write writes the archive of an image that runs the static program at the path binary, as PATH knows it by its file
// name. reference is what pods call the image, for example "loadline/loadline-probe:dev".
func Write(w io.Writer, reference, binary string) error {
	layer, err := layerOf(binary)
	if err != nil {
		return fmt.Errorf("image %s: %w", reference, err)
	}
	config, err := json.Marshal(configOf(layer, filepath.Base(binary)))
	if err != nil {
		return err
	}
	manifest, err := json.Marshal([]map[string]any{
		{"Config": "config.json", "RepoTags": []string{reference}, "Layers": []string{"layer.tar"}},
	})
	if err != nil {
		return err
	}
	archive := tar.NewWriter(w)
	for _, file := range []struct {
		name    string
		content []byte
	}{{"layer.tar", layer}, {"config.json", config}, {"manifest.json", manifest}} {
		if err := add(archive, tar.Header{Name: file.name, Mode: 0o644}, file.content); err != nil {
			return err
		}
	}
	return archive.Close()
}

// layerOf returns the archive of all files in the image.
func layerOf(binary string) ([]byte, error) {
	program, err := os.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	account := fmt.Appendf(nil, "root:x:0:0:root:/:\nnonroot:x:%[1]d:%[1]d:nonroot:/tmp:\n", user)
	group := fmt.Appendf(nil, "root:x:0:\nnonroot:x:%d:\n", user)

	var layer bytes.Buffer
	archive := tar.NewWriter(&layer)
	for _, file := range []struct {
		header  tar.Header
		content []byte
	}{
		{tar.Header{Name: "etc/", Mode: 0o755}, nil},
		{tar.Header{Name: "etc/passwd", Mode: 0o644}, account},
		{tar.Header{Name: "etc/group", Mode: 0o644}, group},
		{tar.Header{Name: "tmp/", Mode: 0o1777}, nil},
		{tar.Header{Name: "usr/", Mode: 0o755}, nil},
		{tar.Header{Name: "usr/local/", Mode: 0o755}, nil},
		{tar.Header{Name: "usr/local/bin/", Mode: 0o755}, nil},
		{tar.Header{Name: path.Join("usr/local/bin", filepath.Base(binary)), Mode: 0o755}, program},
	} {
		if err := add(archive, file.header, file.content); err != nil {
			return nil, err
		}
	}
	return layer.Bytes(), archive.Close()
}

// configOf returns what the image says of itself: see the OCI image configuration.
func configOf(layer []byte, program string) map[string]any {
	return map[string]any{
		"architecture": runtime.GOARCH,
		"os":           "linux",
		"config": map[string]any{
			"User":       fmt.Sprintf("%[1]d:%[1]d", user),
			"Env":        []string{"PATH=" + binDir},
			"Entrypoint": []string{path.Join(binDir, program)},
			"WorkingDir": "/",
		},
		"rootfs": map[string]any{
			"type":     "layers",
			"diff_ids": []string{fmt.Sprintf("sha256:%x", sha256.Sum256(layer))},
		},
	}
}

// add writes a file, or a folder when its name ends with a slash, of root and of no date.
func add(archive *tar.Writer, header tar.Header, content []byte) error {
	header.Typeflag = tar.TypeReg
	if header.Name[len(header.Name)-1] == '/' {
		header.Typeflag = tar.TypeDir
	}
	header.Size = int64(len(content))
	if err := archive.WriteHeader(&header); err != nil {
		return err
	}
	_, err := archive.Write(content)
	return err
}
