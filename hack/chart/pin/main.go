// Command pin copies the Helm chart to a folder, with the registry and the digest of every image in its values:
//
//	go run ./hack/chart/pin REGISTRY DIGESTS FOLDER
//
// DIGESTS is a file that "make images" writes, with a digest and the name of its image per line. "make chart" packs the copy: what a
// released chart installs is what was released with it, whatever becomes of tags.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	if err := run("charts/loadline", os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pin:", err)
		os.Exit(1)
	}
}

// run copies a chart as the arguments say. A folder that is there already is replaced.
func run(chart string, args []string) error {
	if len(args) != 3 || args[0] == "" {
		return errors.New("want a registry, the file of digests, and the folder to write")
	}
	registry, folder := args[0], args[2]
	digests, err := readDigests(args[1])
	if err != nil {
		return err
	}
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.CopyFS(folder, os.DirFS(chart)); err != nil {
		return err
	}
	file := filepath.Join(folder, "values.yaml")
	values, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if values, err = pin(values, registry, digests); err != nil {
		return fmt.Errorf("values.yaml: %w", err)
	}
	return os.WriteFile(file, values, 0o644)
}

// readDigests returns the digests of images by their names.
func readDigests(file string) (map[string]string, error) {
	text, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return nil, err
	}
	form := regexp.MustCompile(`^(sha256:[a-f0-9]{64}) (\S+)\n?$`)
	digests := map[string]string{}
	for line := range strings.Lines(string(text)) {
		found := form.FindStringSubmatch(line)
		if found == nil {
			return nil, fmt.Errorf("%s: %q is no digest with the name of an image", file, strings.TrimSpace(line))
		}
		digests[found[2]] = found[1]
	}
	return digests, nil
}

// The lines of values.yaml that are written: they say what the chart in the repository has, which knows neither.
const (
	noRegistry = "\n  registry: \"\"\n"
	noDigest   = "    digest: \"\"\n"
	repository = "    repository: "
)

// pin sets the registry, and the digest of each image, whose repository stands before it. It keeps comments.
func pin(values []byte, registry string, digests map[string]string) ([]byte, error) {
	if bytes.Count(values, []byte(noRegistry)) != 1 {
		return nil, errors.New("want one image.registry, and that empty")
	}
	values = bytes.Replace(values, []byte(noRegistry), fmt.Appendf(nil, "\n  registry: %q\n", registry), 1)
	var pinned strings.Builder
	image := ""
	for line := range strings.Lines(string(values)) {
		if name, is := strings.CutPrefix(line, repository); is {
			if image != "" {
				return nil, fmt.Errorf("the image %s has no digest", image)
			}
			image = strings.TrimSpace(name)
		}
		if line == noDigest {
			digest := digests[path.Base(image)]
			if digest == "" {
				return nil, fmt.Errorf("there is no digest of the image %q", image)
			}
			line, image = fmt.Sprintf("    digest: %s\n", digest), ""
		}
		pinned.WriteString(line)
	}
	if image != "" {
		return nil, fmt.Errorf("the image %s has no digest", image)
	}
	return []byte(pinned.String()), nil
}
