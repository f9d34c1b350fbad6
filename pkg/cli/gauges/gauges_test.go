package gauges

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"loadline.dev/loadline/pkg/evaluate/installation"
	"loadline.dev/loadline/pkg/gauge/usage"
)

// endlessly writes a text again and again, until the reader has enough.
func endlessly(w io.Writer, text string) {
	chunk := []byte(strings.Repeat(text, 1+1<<16/len(text)))
	for {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

// lies are answers of the gauge of worker-1 by way of the proxy, by the error for each.
func lies() map[string]http.HandlerFunc {
	const head = `{"ageSeconds":0,"intervals":[{"node":"worker-1","seconds":10,"cpus":1,"pods":[`
	begins := func(text, more string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, text)
			endlessly(w, more)
		}
	}
	fails := func(contentType, text, more string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = io.WriteString(w, text)
			if more != "" {
				endlessly(w, more)
			}
		}
	}
	var fields strings.Builder
	for i := range 100 {
		fmt.Fprintf(&fields, `"x%d":0,`, i)
	}
	const escapes = "\x1b]0;pwned\x07\x1b[31mRED\x1b[2J\nOK: all well\n"
	return map[string]http.HandlerFunc{
		"the answer of its gauge is refused: intervals[0].pods[0].uid: is empty":              begins(head, `{},`),
		"the answer of its gauge is refused: intervals[1].node: is empty":                     begins(head+"]},", `{},`),
		"the answer of its gauge is refused: is too large: a value of it is longer than":      begins("", " "),
		"the answer of its gauge is refused: is too large: it has more than 100 fields":       begins("{"+fields.String(), `"x":[{}],`),
		"the answer of its gauge is refused: x: is there twice":                               begins("{", `"x":[{}],`),
		`the answer of its gauge is refused: intervals[0].pods[0].uid: "\x1b[2J" is not from`: begins(head+`{"uid":"\u001b[2J","threads":1,"dilation":1},`, " "),
		`the answer of its gauge is refused: intervals[0].node: "worker-2" is not the node`:   begins(strings.Replace(head, "worker-1", "worker-2", 1)+"]}]}", " "),
		"its gauge does not answer: an error on the server":                                   fails("text/plain", escapes, ""),
		"its gauge does not answer: an error on the server (":                                 fails("text/plain", escapes, "x"),
		`its gauge does not answer: \x1b]0;pwned`:                                             fails("application/json", `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"\u001b]0;pwned\u0007\nOK","reason":"InternalError","code":500}`, ""),
		`its gauge does not answer: an error on the server ("unknown")`:                       fails("application/json", `{"kind":"Status","message":"`, "x"),
	}
}

// This test is not parallel: it counts allocations.
func TestWhateverAGaugeAnswersItTakesLittleMemoryAndIsSaidInALine(t *testing.T) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "loadline-gauge", Name: "gauge", Annotations: map[string]string{installation.ReaderAnnotation: "reader"}},
		Spec:       corev1.PodSpec{NodeName: "worker-1"}, Status: corev1.PodStatus{Phase: corev1.PodRunning},
	}
	for want, lie := range lies() {
		server := httptest.NewServer(lie)
		a := &Asker{Config: &rest.Config{Host: server.URL}}
		if err := a.prepare(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		a.tokens = map[types.NamespacedName]token{{Namespace: "loadline-gauge", Name: "reader"}: {text: "token", expires: time.Now().Add(time.Hour)}}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		report, err := a.ask(t.Context(), pod, 6)
		runtime.ReadMemStats(&after)
		server.CloseClientConnections()
		server.Close()
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, %v, want %s…", report, err, want)
			continue
		}
		if text := err.Error(); len(text) > 2*usage.MaxExcerpt || strings.ContainsAny(text, "\x1b\x07\n") {
			t.Errorf("it is said as %q", text)
		}
		if refused := (*usage.RefusedError)(nil); errors.As(err, &refused) != strings.Contains(want, "is refused") {
			t.Errorf("%v is a refusal: %v", err, refused != nil)
		}
		const limit = 8 << 20 // with the output of the test's server
		if got := after.TotalAlloc - before.TotalAlloc; got > limit {
			t.Errorf("%s: %d MiB are allocated", want, got>>20)
		}
	}
}
