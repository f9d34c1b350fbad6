//go:build e2e

package install

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"loadline.dev/loadline/test/live"
)

// TestRelease verifies the files of a release and installs it from them, as its users do: the chart, which names its images by their digests, and
// the command line from its archive.
func TestRelease(t *testing.T) { //nolint:paralleltest // there is one cluster
	if *released == "" {
		t.Skip("there is no -released; make e2e-release gives it")
	}
	files := checkedFiles(t)
	isSigned(t, theOne(t, filepath.Join(*released, "release", "checksums.txt")))
	digests := digestsOf(t)
	plugin := unpacked(t, files, fmt.Sprintf(`^kubectl-loadline_.*_%s_%s\.tar\.gz$`, runtime.GOOS, runtime.GOARCH))
	isWhatItsBillSays(t, plugin, find(t, files, fmt.Sprintf(`^kubectl-loadline_.*_%s_%s\.cdx\.json$`, runtime.GOOS, runtime.GOARCH)))

	clearAway(t)
	makeNamespace(t)
	helm(t, "install", release, find(t, files, `^loadline-.*\.tgz$`), "--wait", "--timeout", "5m", "--values", "testdata/values.yaml")
	for _, name := range []string{manager, scheduler} {
		must(t, cluster.AwaitAvailable(t.Context(), operator, name))
	}
	for namespace, programs := range map[string][]string{operator: {manager, scheduler}, gauge: {gauge}} {
		for _, image := range imagesIn(t, namespace) {
			programs = slices.DeleteFunc(programs, func(p string) bool { return image == nameOf(p, digests) })
		}
		if len(programs) > 0 {
			t.Errorf("in namespace %s no pod has the image that was released of %s: %v", namespace, programs, imagesIn(t, namespace))
		}
	}
	helm(t, "test", release, "--timeout", "5m") // runs the command line from its image

	probe := *cluster
	probe.ProbeImage = nameOf("loadline-probe", digests)
	probe.RunPod(t, probe.ProbePod(cluster.NewNamespace(t), "probe", cluster.Workers[0].Name, "--version"))

	out, err := exec.CommandContext(t.Context(), plugin, "status", "--kubeconfig", kubeconfig()).CombinedOutput()
	t.Logf("kubectl loadline status\n%s", out)
	must(t, err)
	uninstall(t)
}

// theOne returns the only file whose path is of a form.
func theOne(t *testing.T, form string) string {
	t.Helper()
	files, err := filepath.Glob(form)
	must(t, err)
	if len(files) != 1 {
		t.Fatalf("found %q of the form %s, want one", files, form)
	}
	return files[0]
}

// checkedFiles returns the paths of all files of the release by their names: each is there once, and has the digest that checksums.txt says.
func checkedFiles(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(*released, "release", "checksums.txt"))
	must(t, err)
	files := map[string]string{}
	for line := range strings.Lines(string(text)) {
		digest, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		files[name] = theOne(t, filepath.Join(*released, "*", name))
		content, err := os.ReadFile(files[name])
		must(t, err)
		if is := sha256.Sum256(content); hex.EncodeToString(is[:]) != digest {
			t.Errorf("%s has the digest %x, and checksums.txt says %s", name, is, digest)
		}
	}
	t.Logf("%d files have the digests that checksums.txt says", len(files))
	return files
}

// find returns the path of the only file whose name is of a form.
func find(t *testing.T, files map[string]string, form string) (path string) {
	t.Helper()
	for name, at := range files {
		if matched, err := regexp.MatchString(form, name); err != nil || !matched {
			must(t, err)
			continue
		}
		if path != "" {
			t.Fatalf("%s and %s are both of the form %s", path, at, form)
		}
		path = at
	}
	if path == "" {
		t.Fatalf("there is no file of the form %s", form)
	}
	return path
}

// isSigned signs a file as the release workflow does, but for the key, which is that workflow's identity there, and sees that this is verified of
// it, and of no other.
func isSigned(t *testing.T, file string) {
	t.Helper()
	folder := t.TempDir()
	key, bundle, other := filepath.Join(folder, "key"), "--bundle="+filepath.Join(folder, "signature"), filepath.Join(folder, "other")
	content, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(other, append(content, '\n'), 0o600))
	sign := func(args ...string) error {
		cmd := exec.CommandContext(t.Context(), *cosign, args...)
		cmd.Env = append(os.Environ(), "COSIGN_PASSWORD=", "COSIGN_YES=true")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("cosign %v: %w: %s", args, err, out)
		}
		return nil
	}
	must(t, sign("generate-key-pair", "--output-key-prefix="+key))
	must(t, sign("sign-blob", "--key="+key+".key", "--use-signing-config=false", "--tlog-upload=false", bundle, file))
	verify := []string{"verify-blob", "--key=" + key + ".pub", "--insecure-ignore-tlog", bundle}
	must(t, sign(append(verify, file)...))
	if sign(append(verify, other)...) == nil {
		t.Error("the signature is also that of a file with one more line")
	}
}

// unpacked returns the path of kubectl-loadline from its archive, of a form.
func unpacked(t *testing.T, files map[string]string, form string) (program string) {
	t.Helper()
	file, err := os.Open(find(t, files, form))
	must(t, err)
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	must(t, err)
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			t.Fatalf("%s has no kubectl-loadline", file.Name())
		}
		must(t, err)
		if header.Name != "kubectl-loadline" {
			continue
		}
		program = filepath.Join(t.TempDir(), header.Name)
		content, err := io.ReadAll(archive)
		must(t, err)
		must(t, os.WriteFile(program, content, header.FileInfo().Mode()))
		return program
	}
}

// isWhatItsBillSays sees that the bill of materials of a program has every module that it is made of, in its version.
func isWhatItsBillSays(t *testing.T, program, bill string) {
	t.Helper()
	info, err := buildinfo.ReadFile(program)
	must(t, err)
	text, err := os.ReadFile(bill)
	must(t, err)
	var materials struct {
		Components []struct{ Name, Version string }
	}
	must(t, json.Unmarshal(text, &materials))
	versions := map[string]string{}
	for _, c := range materials.Components {
		versions[c.Name] = c.Version
	}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		if versions[module.Path] != module.Version {
			t.Errorf("%s has %s in %s, and its bill has %q", program, module.Path, module.Version, versions[module.Path])
		}
	}
	t.Logf("%s is made of the %d modules that its bill has", filepath.Base(program), len(info.Deps))
}

// digestsOf returns the digests of the images of the release by their names.
func digestsOf(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(*released, "images", "digests.txt"))
	must(t, err)
	digests := map[string]string{}
	for line := range strings.Lines(string(text)) {
		digest, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		digests[name] = digest
	}
	return digests
}

// nameOf is what the released chart calls the image of a program.
func nameOf(program string, digests map[string]string) string {
	return "localhost/loadline/" + program + "@" + digests[program]
}

// imagesIn returns the images that the pods of a namespace run, once all of these are ready.
func imagesIn(t *testing.T, namespace string) (images []string) {
	t.Helper()
	live.Until(t, "all pods in "+namespace+" are ready", live.Patience, func(ctx context.Context) (bool, string, error) {
		var pods corev1.PodList
		if err := cluster.List(ctx, &pods, client.InNamespace(namespace)); err != nil {
			return false, "", err
		}
		images = images[:0]
		for i := range pods.Items {
			for _, c := range pods.Items[i].Status.ContainerStatuses {
				if !c.Ready {
					return false, fmt.Sprintf("%s is not: %s", pods.Items[i].Name, live.State(&pods.Items[i])), nil
				}
			}
			for _, c := range pods.Items[i].Spec.Containers {
				images = append(images, c.Image)
			}
		}
		return len(images) > 0, "there are none", nil
	})
	return images
}
