package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// request is a line of the audit log: of a request that was received and answered at seconds of a minute.
func request(account, verb, uri, object string, received, answered, code int, revision string) string {
	answer := "null"
	if revision != "" {
		answer = fmt.Sprintf(`{"metadata":{"resourceVersion":%q}}`, revision)
	}
	stage := "ResponseComplete"
	if verb == "watch" {
		stage = "ResponseStarted"
	}
	return fmt.Sprintf(`{"stage":%q,"requestURI":%q,"verb":%q,"user":{"username":"system:serviceaccount:loadline-system:loadline-%s"},"objectRef":%s,"responseStatus":{"code":%d},`+
		`"responseObject":%s,"requestReceivedTimestamp":"2026-11-20T18:00:%02d.000000Z","stageTimestamp":"2026-11-20T18:00:%02d.500000Z"}`+"\n",
		stage, uri, verb, account, object, code, answer, received, answered)
}

const (
	lease  = `{"resource":"leases"}`
	status = `{"resource":"poolplans","subresource":"status"}`
)

func TestRequestsAreCountedByWhatTheyAskAndWhatTheyChange(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.log")
	r := newRequests(path)
	write := func(text string) {
		file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteString(text); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		if err := r.follow(); err != nil {
			t.Fatal(err)
		}
	}
	write(request("manager", "patch", "/x", status, 1, 1, 200, "100"))
	write(request("manager", "patch", "/x", status, 2, 2, 200, "100")) // nothing has changed since
	second := request("manager", "update", "/x", lease, 3, 3, 200, "101")
	write(second[:20]) // is being written
	write(second[20:])
	write(request("scheduler", "patch", "/x", status, 2, 4, 200, "101")) // as 101 was not known when it began
	write(request("scheduler", "patch", "/x", status, 5, 5, 200, "90"))  // an object that was last changed before
	write(request("scheduler", "patch", "/x?dryRun=All", status, 6, 6, 200, "90"))
	write(request("ui", "get", "/readyz?x", "null", 6, 6, 200, ""))
	write(request("ui", "patch", "/x", status, 7, 7, 409, "101"))
	write(request("manager", "watch", "/x", lease, 7, 7, 200, ""))
	want := map[string]float64{
		"manager||all requests": 4, "manager||requests: patch poolplans/status": 2, "manager||changes nothing: patch poolplans/status": 1,
		"manager||requests: update leases": 1, "manager||requests: watch leases": 1,
		"scheduler||all requests": 3, "scheduler||requests: patch poolplans/status": 2, "scheduler||changes nothing: patch poolplans/status": 1,
		"scheduler||requests: patch poolplans/status (dry run)": 1,
		"ui||all requests": 2, "ui||requests: get /readyz": 1, "ui||requests: patch poolplans/status": 1, "ui||failed: 409 patch poolplans/status": 1,
	}
	if diff := cmp.Diff(want, r.counts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestALineThatIsNoEventIsRefused(t *testing.T) {
	t.Parallel()
	if err := newRequests("").read([]byte("I0101 something\n")); err == nil {
		t.Error("it is taken")
	}
}

func TestRevisionsOfLongAgoAreForgotten(t *testing.T) {
	t.Parallel()
	r := newRequests("")
	begin := time.Unix(0, 0)
	for i := range 30000 {
		r.known = append(r.known, revision{begin.Add(time.Duration(i) * time.Second), uint64(i)})
		if got := r.knownAt(begin.Add(time.Duration(i) * time.Second)); got != uint64(i) {
			t.Fatalf("%d is known, want %d", got, i)
		}
	}
	if len(r.known) > 20000 {
		t.Errorf("%d are kept", len(r.known))
	}
}
