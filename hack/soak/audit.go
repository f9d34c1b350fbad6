package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// requests counts what Loadline's service accounts have asked of the API server, by its audit log.
type requests struct {
	path   string
	offset int64
	counts map[string]float64 // by account and what was asked, since the beginning
	known  []revision         // in the order in which they were known, each higher than the one before
}

// revision is the highest resource version that was known at a time. All objects are in one etcd, whose revision it is.
type revision struct {
	at     time.Time
	number uint64
}

func newRequests(path string) *requests { return &requests{path: path, counts: map[string]float64{}} }

// follow counts what was written to the log since it was called last, up to the last whole line.
func (r *requests) follow() (err error) {
	file, err := os.Open(r.path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if _, err := file.Seek(r.offset, io.SeekStart); err != nil {
		return err
	}
	content, err := io.ReadAll(file)
	if err != nil {
		return err
	}
	whole := content[:bytes.LastIndexByte(content, '\n')+1]
	r.offset += int64(len(whole))
	return r.read(whole)
}

// read counts the events of whole lines.
func (r *requests) read(lines []byte) error {
	for line := range bytes.Lines(lines) {
		var event auditv1.Event
		if err := json.Unmarshal(line, &event); err != nil {
			return fmt.Errorf("the audit log has the line %.200q: %w", line, err)
		}
		if event.Stage == auditv1.StageResponseComplete || event.Stage == auditv1.StageResponseStarted && event.Verb == "watch" {
			if err := r.add(&event); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *requests) add(event *auditv1.Event) error {
	part := partOf(event.User.Username)
	if event.Verb == "watch" && event.Stage != auditv1.StageResponseStarted {
		return nil // it has ended; it was counted when it began
	}
	what := asked(event)
	r.counts[name(part, "", "requests: "+what)]++
	r.counts[name(part, "", "all requests")]++
	if event.ResponseStatus != nil && event.ResponseStatus.Code >= 400 {
		r.counts[name(part, "", fmt.Sprintf("failed: %d %s", event.ResponseStatus.Code, what))]++
		return nil
	}
	if event.ResponseObject == nil {
		return nil
	}
	number, err := revisionOf(event.ResponseObject.Raw)
	if err != nil || number == 0 {
		return err
	}
	if !dry(event) && r.knownAt(event.RequestReceivedTimestamp.Time) >= number {
		r.counts[name(part, "", "changes nothing: "+what)]++
	}
	if len(r.known) == 0 || r.known[len(r.known)-1].number < number {
		r.known = append(r.known, revision{event.StageTimestamp.Time, number})
	}
	return nil
}

// knownAt returns the highest revision that was known by a time. A write that is asked for later and answered with one that is not higher
// has changed nothing. It forgets what was known long before.
func (r *requests) knownAt(at time.Time) uint64 {
	i := sort.Search(len(r.known), func(i int) bool { return r.known[i].at.After(at) })
	if i == 0 {
		return 0
	}
	number := r.known[i-1].number
	const longest = 10000 // more than there are writes while a request is under way
	if len(r.known) > 2*longest {
		r.known = append([]revision(nil), r.known[len(r.known)-longest:]...)
	}
	return number
}

// revisionOf returns the resource version of an object as a number; 0 where it has none, as the Status that some requests are answered with.
func revisionOf(object []byte) (uint64, error) {
	var meta metav1.PartialObjectMetadata
	if err := json.Unmarshal(object, &meta); err != nil {
		return 0, fmt.Errorf("the answer %.200q: %w", object, err)
	}
	if meta.ResourceVersion == "" {
		return 0, nil
	}
	return strconv.ParseUint(meta.ResourceVersion, 10, 64)
}

// partOf returns which of Loadline's programs has a service account, such as manager for
// system:serviceaccount:loadline-system:loadline-manager.
func partOf(account string) string {
	return strings.TrimPrefix(account[strings.LastIndexByte(account, ':')+1:], release+"-")
}

// asked returns what was asked for, such as "patch pods/resize" or "get /healthz".
func asked(event *auditv1.Event) string {
	what := event.Verb + " "
	switch o := event.ObjectRef; {
	case o == nil:
		path, _, _ := strings.Cut(event.RequestURI, "?")
		return what + path
	case o.Subresource != "":
		what += o.Resource + "/" + o.Subresource
	default:
		what += o.Resource
	}
	if dry(event) {
		what += " (dry run)"
	}
	return what
}

// dry reports whether a write was only tried.
func dry(event *auditv1.Event) bool { return strings.Contains(event.RequestURI, "dryRun=") }
