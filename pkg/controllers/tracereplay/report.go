package tracereplay

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"loadline.dev/loadline/pkg/evaluate/replays"
	"loadline.dev/loadline/pkg/report"
	"loadline.dev/loadline/pkg/report/page"
)

// The files of a report.
const (
	resultsFile = "results.json" // all numbers, as the command line prints them
	pageFile    = "report.html"  // the page to view
)

const (
	// maxPlain is the largest size, in bytes, of a file that is stored uncompressed.
	maxPlain = 250_000
	// maxReport is how many bytes a ConfigMap holds.
	maxReport = 1 << 20
)

// fullReport is the report of a replay that has ended.
type fullReport struct {
	// stored holds the files.
	stored *corev1.ConfigMap
	// results is the key of the results.
	results string
	// lacks names the omitted parts and the reasons, each with "; " before it.
	lacks string
}

// reportOn writes an answer down. A replay must come to an end, so what cannot
// be shown or does not fit is left out. 10 policies with 100 seeds fit: they take
// some 0.5 MB, and 0.8 MB if no two runs have a number in common.
func reportOn(in *input, answer *replays.Answer) (*fullReport, error) {
	var content bytes.Buffer
	noPage := ""
	if err := page.Encode(&content, report.ReplayPage(answer, "loadline-manager "+in.version)); err != nil {
		noPage = fmt.Sprintf("; there is no %s, for it cannot be drawn: %v", pageFile, err)
	}
	write := func(answer *replays.Answer) (*fullReport, error) {
		r := &fullReport{stored: &corev1.ConfigMap{ObjectMeta: metadata(in.replay, reportName(in.replay.Name))}}
		if in.report != nil {
			r.stored.ObjectMeta = *in.report.ObjectMeta.DeepCopy()
		}
		results, err := jsonOf(answer)
		if err != nil {
			return nil, err
		}
		if r.results, err = addFile(r.stored, resultsFile, results); err != nil {
			return nil, err
		}
		if noPage != "" {
			r.lacks = noPage
			return r, nil
		}
		_, err = addFile(r.stored, pageFile, content.Bytes())
		return r, err
	}
	r, err := write(answer)
	if err != nil || sizeOf(r.stored) <= maxReport {
		return r, err
	}
	if r, err = write(withoutRuns(answer)); err != nil {
		return nil, err
	}
	r.lacks += fmt.Sprintf("; %s lacks the single runs, with which it would be too large for a ConfigMap", resultsFile)
	return r, nil
}

// jsonOf returns an answer as the command line prints it.
func jsonOf(answer *replays.Answer) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(answer); err != nil {
		return nil, fmt.Errorf("writing %s: %w", resultsFile, err)
	}
	return text.Bytes(), nil
}

// withoutRuns returns an answer without its single runs: it has the same size
// for any number of seeds.
func withoutRuns(answer *replays.Answer) *replays.Answer {
	short := *answer
	short.Policies = slices.Clone(answer.Policies)
	for i := range short.Policies {
		short.Policies[i].Runs = []*replays.Result{}
	}
	return &short
}

// addFile adds a file to a ConfigMap and returns its key: the file's name, with
// .gz behind it when the file is so large that it is compressed.
func addFile(c *corev1.ConfigMap, name string, content []byte) (key string, err error) {
	if len(content) <= maxPlain {
		if c.Data == nil {
			c.Data = map[string]string{}
		}
		c.Data[name] = string(content)
		return name, nil
	}
	var compressed bytes.Buffer
	zipper := gzip.NewWriter(&compressed)
	if _, err := zipper.Write(content); err != nil {
		return "", fmt.Errorf("compressing %s: %w", name, err)
	}
	if err := zipper.Close(); err != nil {
		return "", fmt.Errorf("compressing %s: %w", name, err)
	}
	if c.BinaryData == nil {
		c.BinaryData = map[string][]byte{}
	}
	c.BinaryData[name+".gz"] = compressed.Bytes()
	return name + ".gz", nil
}

// sizeOf returns the bytes of a ConfigMap's entries.
func sizeOf(c *corev1.ConfigMap) int {
	size := 0
	for key, text := range c.Data {
		size += len(key) + len(text)
	}
	for key, content := range c.BinaryData {
		size += len(key) + len(content)
	}
	return size
}
