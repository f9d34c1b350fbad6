package usage_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"loadline.dev/loadline/pkg/gauge/usage"
)

// ofGauge bounds the tests' reading of a gauge.
func ofGauge() usage.Limits {
	return usage.Limits{Bytes: usage.MaxBytes, Intervals: 30, Objects: usage.MaxObjects}
}

func read(text string) (*usage.Report, error) {
	return usage.NewDecoder(strings.NewReader(text), ofGauge()).Report()
}

// inJSON is the text of a value.
func inJSON(t fataler, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// fataler is a test, or one of a property.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

// anyReport draws a report in which any field may be set.
func anyReport(t *rapid.T) usage.Report {
	amount := rapid.Float64Range(0, 1e6)
	times := func() usage.Times {
		return usage.Times{
			Run: amount.Draw(t, "run"), Unseen: amount.Draw(t, "unseen"), Wait: amount.Draw(t, "wait"), Throttled: amount.Draw(t, "throttled"), Blocked: amount.Draw(t, "blocked"),
		}
	}
	moment := func() time.Time { return time.Unix(rapid.Int64Range(0, 4e9).Draw(t, "time"), 0).UTC() }
	r := usage.Report{AgeSeconds: amount.Draw(t, "age"), Intervals: []usage.Interval{}}
	for range rapid.IntRange(0, 3).Draw(t, "intervals") {
		v := usage.Interval{
			Node: "worker-1.example", Start: moment(), End: moment(), Seconds: rapid.Float64Range(1, 100).Draw(t, "seconds"), CPUs: rapid.IntRange(1, 512).Draw(t, "cpus"),
			BusySeconds: amount.Draw(t, "busy"), StolenSeconds: amount.Draw(t, "stolen"), CgroupVersion: rapid.IntRange(0, 2).Draw(t, "version"),
			ExclusiveCPUs: rapid.Bool().Draw(t, "exclusive"), BlockedUnknown: rapid.Bool().Draw(t, "blocked unknown"), LeftOut: rapid.IntRange(0, 9).Draw(t, "left out"),
			Pods: []usage.Pod{}, DisksLeftOut: rapid.IntRange(0, 9).Draw(t, "disks left out"),
		}
		if rapid.Bool().Draw(t, "disks") {
			v.Disks = []usage.Disk{anyDisk(t, "vda"), anyDisk(t, "dm-0")}
		}
		for k := range rapid.IntRange(0, 3).Draw(t, "pods") {
			cpu := rapid.Float64Range(0, 1).Draw(t, "cpu")
			p := usage.Pod{
				UID: fmt.Sprintf("uid-%d", k), Seconds: amount.Draw(t, "pod's seconds"), Times: times(), Tasks: rapid.IntRange(0, 99).Draw(t, "tasks"),
				Threads: rapid.Float64Range(1, 99).Draw(t, "threads"), Dilation: rapid.Float64Range(1, 99).Draw(t, "dilation"), CPULoading: cpu, DiskLoading: (1 - cpu) / 2,
				BurstSeconds:  rapid.Float64Range(0, 99).Draw(t, "burst"),
				SlowedSeconds: amount.Draw(t, "slowed"), SlowedBefore: rapid.Bool().Draw(t, "before"),
			}
			p.BlockedBy = rapid.SampledFrom([]string{usage.ByTasks, usage.ByPressure}).Draw(t, "blocked by")
			if v.Disks != nil && rapid.Bool().Draw(t, "pod's disks") {
				some := amount.Draw(t, "some")
				p.DiskPressure, p.MemoryPressureSeconds = &usage.DiskPressure{SomeSeconds: some, FullSeconds: some / 2}, new(amount.Draw(t, "memory"))
				operations := rapid.Int64Range(0, 1e15)
				p.Disks = []usage.PodDisk{{Name: "vda"}, {
					Name: "dm-0", ReadOperations: operations.Draw(t, "reads"), ReadBytes: operations.Draw(t, "read"), WriteOperations: operations.Draw(t, "writes"),
					WriteBytes: operations.Draw(t, "written"), Limit: &usage.DiskLimit{ReadBytes: 1, WriteBytes: 2, ReadOperations: 3, WriteOperations: operations.Draw(t, "limit")},
				}}
			}
			if rapid.Bool().Draw(t, "known") {
				p.Namespace, p.Name, p.PressureSeconds = "shop", fmt.Sprintf("cart-%d", k), new(amount.Draw(t, "pressure"))
				p.Containers = []usage.Container{{ID: "c", Times: times()}}
				if rapid.Bool().Draw(t, "held back") {
					periods := rapid.Int64Range(0, 100).Draw(t, "periods")
					p.Containers[0].Threads, p.Containers[0].CPULoading = rapid.Float64Range(1, 99).Draw(t, "threads"), cpu
					p.Containers[0].Periods, p.Containers[0].ThrottledPeriods = periods, periods/2
					p.Containers[0].Dilation = rapid.Float64Range(1, 99).Draw(t, "container's dilation")
					p.Containers[0].BurstSeconds = rapid.Float64Range(0, 99).Draw(t, "container's burst")
					p.Containers[0].QuotaBurstSeconds = rapid.Float64Range(0, 99).Draw(t, "quota's burst")
				}
			}
			v.Pods = append(v.Pods, p)
		}
		r.Intervals = append(r.Intervals, v)
	}
	return r
}

// anyDisk draws a disk in which any field may be set.
func anyDisk(t *rapid.T, name string) usage.Disk {
	transfers := func() usage.Transfers {
		count := rapid.Int64Range(0, 1e15)
		return usage.Transfers{Operations: count.Draw(t, "operations"), Bytes: count.Draw(t, "bytes"), Seconds: rapid.Float64Range(0, 1e6).Draw(t, "in flight")}
	}
	d := usage.Disk{
		Name: name, Number: "254:0", Rotates: rapid.Bool().Draw(t, "rotates"), Scheduler: "mq-deadline", QueueDepth: rapid.IntRange(0, 4096).Draw(t, "depth"),
		Reads: transfers(), Writes: transfers(), BusySeconds: rapid.Float64Range(0, 1).Draw(t, "busy"), QueuedSeconds: rapid.Float64Range(0, 1e6).Draw(t, "queued"),
	}
	if rapid.Bool().Draw(t, "all of the disk") {
		d.Flushes, d.Beneath = new(transfers()), []string{"cciss/c0d0"}
		d.Service = []usage.DiskService{{Direction: usage.Read, Bytes: 4096, Seconds: 0.001, Spread: 0.0001, Intervals: 7}, {Direction: usage.Write, Bytes: 1 << 20, MeanBytes: 7e5, Intervals: 1, InFlight: 2}, {Direction: usage.Flush, Bytes: 4096, Intervals: 1}}
	}
	return d
}

// What is read is what package json makes of it, whatever the pieces that it arrives in: no field is forgotten.
func TestADecoderReadsWhatAGaugeWrites(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := anyReport(t)
		text := inJSON(t, want)
		for name, in := range map[string]io.Reader{"at once": strings.NewReader(text), "byte by byte": iotest.OneByteReader(strings.NewReader(text))} {
			got, err := usage.NewDecoder(in, usage.Limits{Bytes: int64(len(text)), Intervals: 3, Objects: 60, Known: true}).Report()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if diff := cmp.Diff(&want, got); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", name, diff)
			}
		}
	})
}

// A decoder that is reset reads another input as a new one does, whatever became of the one before.
func TestADecoderIsReset(t *testing.T) {
	t.Parallel()
	d := &usage.Decoder{}
	rapid.Check(t, func(t *rapid.T) {
		first, second := anyReport(t), anyReport(t)
		text := inJSON(t, first)
		cut := rapid.IntRange(0, len(text)).Draw(t, "cut")
		d.Reset(strings.NewReader(text[:cut]+strings.Repeat(" ", rapid.IntRange(0, 9).Draw(t, "space"))), ofGauge())
		before, err := d.Report()
		if (err == nil) != (cut == len(text)) {
			t.Fatalf("of %d of %d bytes: %v", cut, len(text), err)
		}
		if diff := cmp.Diff(&first, before); cut == len(text) && diff != "" {
			t.Fatalf("the first (-want +got):\n%s", diff)
		}
		d.Reset(strings.NewReader(inJSON(t, second)), ofGauge())
		got, err := d.Report()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&second, got); diff != "" {
			t.Fatalf("-want +got:\n%s", diff)
		}
		if _, err := d.Report(); !errors.Is(err, io.EOF) {
			t.Fatalf("at the end: %v", err)
		}
	})
}

func TestADecoderThatIsResetUsesItsMemoryAgain(t *testing.T) {
	t.Parallel()
	d := &usage.Decoder{}
	read := func(pods int) *usage.Pod {
		t.Helper()
		v := interval()
		for v.Pods = v.Pods[:1]; len(v.Pods) < pods; {
			p := v.Pods[0]
			p.UID = fmt.Sprintf("uid-%d", len(v.Pods))
			v.Pods = append(v.Pods, p)
		}
		d.Reset(strings.NewReader(inJSON(t, usage.Report{Intervals: []usage.Interval{v}})), ofGauge())
		r, err := d.Report()
		if err != nil || len(r.Intervals) != 1 || len(r.Intervals[0].Pods) != pods {
			t.Fatalf("%+v, %v", r, err)
		}
		return &r.Intervals[0].Pods[0]
	}
	first := read(20)
	d.Reset(strings.NewReader(""), ofGauge())
	if diff := cmp.Diff(usage.Pod{}, *first); diff != "" {
		t.Errorf("what a report had is kept (-want +got):\n%s", diff)
	}
	if read(10) != first {
		t.Error("the list of a report is not used again")
	}
	if large := read(500); read(500) == large {
		t.Error("a large list is kept")
	}
}

func TestFieldsOfLaterVersionsAreSkipped(t *testing.T) {
	t.Parallel()
	want := usage.Report{AgeSeconds: 3, Intervals: []usage.Interval{interval()}}
	later := strings.NewReplacer(
		`{"ageSeconds"`, `{"later":{"pods":[{},[[]],null]},"ageSeconds"`, `{"node"`, `{"devices":[1,{"node":"x"}],"node"`, `{"uid"`, `{"gpu":{"uid":7},"uid"`, `{"id"`, `{"image":null,"id"`,
	).Replace(inJSON(t, want))
	got, err := read(later)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	known := ofGauge()
	known.Known = true
	for want, text := range map[string]string{
		"later: is not a known field":                    `{"later":1}`,
		"intervals[0].devices: is not a known field":     report(`"devices":[],`, ""),
		"intervals[0].pods[0].gpu: is not a known field": report("", `{"gpu":{}}`),
	} {
		if _, err := usage.NewDecoder(strings.NewReader(text), known).Report(); err == nil || err.Error() != want {
			t.Errorf("where only known fields may be: %v, want %s", err, want)
		}
	}
}

// An empty list is null as Go writes it, and a gauge that has just started has one.
func TestAReportMayBeEmpty(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{}`, `{"ageSeconds":0,"intervals":null}`, `{"ageSeconds":0,"intervals":[]}`} {
		if r, err := read(text); err != nil || len(r.Intervals) != 0 {
			t.Errorf("of %s: %v, %v", text, r, err)
		}
	}
	if _, err := read(" "); !errors.Is(err, io.EOF) {
		t.Errorf("of nothing: %v", err)
	}
}

// report is the text of a report of an interval that begins with some fields, and has some pods.
func report(fields, pods string) string {
	return `{"intervals":[{` + fields + `"node":"n","seconds":1,"cpus":1,"pods":[` + pods + `]}]}`
}

func TestWhatIsNoReportIsRefusedByItsField(t *testing.T) {
	t.Parallel()
	const pod = `{"uid":"a","threads":1,"dilation":1}`
	long := strings.Repeat("x", 60_000)
	for want, text := range map[string]string{
		`begins with "["`:  `[]`,
		`begins with null`: `null`,
		`is no JSON at byte 1: invalid character '<'`:                              `<html>`,
		`ageSeconds: is string where a report has a number`:                        `{"ageSeconds":"x"}`,
		`ageSeconds: is number 1e999 where a report has a number`:                  `{"ageSeconds":1e999}`,
		`ageSeconds: -1 is not at least 0`:                                         `{"ageSeconds":-1}`,
		`ageSeconds: ends too early`:                                               `{"ageSeconds":`,
		`ends too early`:                                                           `{"ageSeconds":1`,
		`intervals: is there twice`:                                                `{"intervals":[],"intervals":[]}`,
		`intervals: begins with "{"`:                                               `{"intervals":{}}`,
		`intervals[0]: begins with "7"`:                                            `{"intervals":[7]}`,
		`intervals[0].node: is empty`:                                              `{"intervals":[{}]}`,
		`intervals[0].node: is number where a report has a string`:                 `{"intervals":[{"node":7}]}`,
		`intervals[0].node: "\x1b[2J" is not the name of a node`:                   `{"intervals":[{"node":"\u001b[2J"}]}`,
		`intervals[1].node: "m" is not that of the first`:                          `{"intervals":[{"node":"n","seconds":1,"cpus":1},{"node":"m","seconds":1,"cpus":1}]}`,
		`intervals[0].start: "xxxxxxxxxxxxxxx`:                                     report(`"start":"`+long+`",`, ""),
		`intervals[0].start: is number where a report has a time by RFC`:           report(`"start":7,`, ""),
		`intervals[0].pods[0].pressureSeconds: is string where a report has a num`: report("", `{"pressureSeconds":"x",`+pod[1:]),
		`intervals[0].pods[0].containers: is object where a report has a list`:     report("", `{"containers":{},`+pod[1:]),
		`intervals[0].pods[0].containers[1].id: is there twice`:                    report("", `{"containers":[{"id":"a"},{"id":"b","id":"c"}],`+pod[1:]),
		`ageSeconds: is list where a report has a number`:                          `{"ageSeconds":[1]}`,
		`intervals[0].pods: is there twice`:                                        report(`"pods":[],`, ""),
		`intervals[0].pods[0]: is string where a report has an object`:             report("", `"`+long+`"`),
		`intervals[0].pods[1].uid: is empty`:                                       report("", pod+`,{"threads":1,"dilation":1}`),
		`intervals[0].pods[1].uid: "a" is there twice`:                             report("", pod+","+pod),
		`intervals[0].pods[0].uid: "xxxxxxxxxxxx`:                                  report("", strings.Replace(pod, `"a"`, `"`+long+`"`, 1)),
		`intervals[0].pods[0].uid: "a/../b" is not from 1 to 64`:                   report("", strings.Replace(pod, `"a"`, `"a/../b"`, 1)),
		`intervals[0].pods[0].name: "Cart" in namespace "shop"`:                    report("", `{"namespace":"shop","name":"Cart",`+pod[1:]),
		`intervals[0].pods[0].name: "" in namespace "shop"`:                        report("", `{"namespace":"shop",`+pod[1:]),
		`intervals[0].pods[0].name: "cart" in namespace "a.b"`:                     report("", `{"namespace":"a.b","name":"cart",`+pod[1:]),
		`intervals[0].pods[0].name: "xxxxxx`:                                       report("", `{"namespace":"shop","name":"`+long+`",`+pod[1:]),
		`intervals[0].pods[0].threads: 0 is not at least 1`:                        report("", `{"uid":"a"}`),
		`intervals[0].pods[0].tasks: is number 1e9 where`:                          report("", `{"tasks":1e9,`+pod[1:]),
		`intervals[0].pods[0].containers[0].id: "" is not from`:                    report("", `{"containers":[{}],`+pod[1:]),
		`intervals[0].pods[0].containers[0].id: "\n" is not`:                       report("", `{"containers":[{"id":"\n"}],`+pod[1:]),
		`intervals[0].pods[0].containers: has more than 100 elements`:              report("", `{"containers":[{}`+strings.Repeat(",{}", 100)+`],`+pod[1:]),
		`intervals[0].pods[0]: is too large: a value of it is lo`:                  report("", `{"name":"`+long+long+`",`+pod[1:]),
		`intervals[30]: is too large: there are more than 30`:                      `{"intervals":[` + strings.Repeat(`{"node":"n","seconds":1,"cpus":1},`, 30) + `{}]}`,
		`later: is no JSON at byte`:                                                `{"later":` + strings.Repeat("[", 60_000),
		`later: is too large: a value of it is longer than`:                        `{"later":` + strings.Repeat(" ", 200_000),
		strings.Repeat("x", 200):                                                   `{"` + long + `":7,"` + long + `":`,
	} {
		r, err := read(text)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, %.400v, want %.100s…", r, err, want)
			continue
		}
		if got := err.Error(); len(got) > 4*usage.MaxExcerpt || got != strings.ToValidUTF8(got, "") || strings.ContainsAny(got, "\x1b\n\r") {
			t.Errorf("an error is not for a log: %.500q", got)
		}
	}
}

func TestAnInputIsReadToItsLimitsAndNoFurther(t *testing.T) {
	t.Parallel()
	pods := func(n, containers int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{"uid":"%d","threads":1,"dilation":1,"containers":[%s]}`, i, strings.TrimSuffix(strings.Repeat(`{"id":"c"},`, containers), ",")))
		}
		return strings.Join(all, ",")
	}
	for want, test := range map[string]struct {
		in      io.Reader
		objects int
		large   bool
	}{
		"<nil>":                        {strings.NewReader(report("", pods(1000, 10))), 11_000, false},
		"intervals[0].pods[1000]: is ": {strings.NewReader(report("", pods(1001, 0))), 11_000, true},
		"intervals[0].pods[999]: is t": {strings.NewReader(report("", pods(1000, 10))), 10_999, true},
		"intervals[0].pods[100].conta": {strings.NewReader(report("", pods(101, 100))), 11_000, false},
		"is too large: it has more th": {io.MultiReader(strings.NewReader(`{`), &numbered{format: `"%d":1,`}), 11_000, true},
		"intervals[0]: is too large: ": {io.MultiReader(strings.NewReader(`{"intervals":[{`), &numbered{format: `"%d":1,`}), 11_000, true},
	} {
		limits := ofGauge()
		limits.Objects = test.objects
		_, err := usage.NewDecoder(test.in, limits).Report()
		if got := fmt.Sprint(err); !strings.HasPrefix(got, want) || errors.Is(err, usage.ErrTooLarge) != test.large {
			t.Errorf("got %v, want %s…", err, want)
		}
	}
	limits := ofGauge()
	limits.Bytes = 1000
	if _, err := usage.NewDecoder(strings.NewReader(report("", pods(20, 1))), limits).Report(); !errors.Is(err, usage.ErrTooLarge) {
		t.Errorf("of more bytes than are read: %v", err)
	}
}

// repeated is a text that begins again where it ends.
type repeated struct {
	text string
	at   int
}

func again(text string) io.Reader { return &repeated{text: text} }

func (r *repeated) Read(p []byte) (n int, _ error) {
	for n < len(p) {
		copied := copy(p[n:], r.text[r.at:])
		n, r.at = n+copied, (r.at+copied)%len(r.text)
	}
	return n, nil
}

// numbered is a text that begins again where it ends, with another number.
type numbered struct {
	format string
	n      int
	rest   []byte
}

func (r *numbered) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		r.rest = fmt.Appendf(nil, r.format, r.n)
		r.n++
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// liars are answers of a gauge that lies, each as long as is read of it.
func liars() map[string]io.Reader {
	head := `{"intervals":[{"node":"n","seconds":1,"cpus":1,"pods":[`
	return map[string]io.Reader{
		"empty pods":          io.MultiReader(strings.NewReader(head), again(`{},`)),
		"empty intervals":     io.MultiReader(strings.NewReader(`{"intervals":[`), again(`{},`)),
		"small intervals":     io.MultiReader(strings.NewReader(`{"intervals":[`), again(`{"node":"n","seconds":1,"cpus":1},`)),
		"empty containers":    io.MultiReader(strings.NewReader(head+`{"uid":"a","threads":1,"dilation":1,"containers":[`), again(`{},`)),
		"null containers":     io.MultiReader(strings.NewReader(head+`{"uid":"a","threads":1,"dilation":1,"containers":[`), again(`null,`)),
		"nested lists":        io.MultiReader(strings.NewReader(`{"x":`), again(`[`)),
		"nested pods":         io.MultiReader(strings.NewReader(head), again(`{"containers":[`)),
		"a long name":         io.MultiReader(strings.NewReader(head+`{"name":"`), again(`x`)),
		"a long field":        io.MultiReader(strings.NewReader(`{"`), again(`x`)),
		"a long number":       io.MultiReader(strings.NewReader(`{"ageSeconds":1`), again(`0`)),
		"only space":          again(` `),
		"unknown fields":      io.MultiReader(strings.NewReader(`{`), again(`"x":{"y":[1,2,{}]},`)),
		"many fields":         io.MultiReader(strings.NewReader(`{"x":{`), &numbered{format: `"%d":{"%[1]d":1},`}),
		"many fields of pod":  io.MultiReader(strings.NewReader(head+`{`), &numbered{format: `"%d":1,`}),
		"finished containers": strings.NewReader(head + `{"uid":"a","threads":1,"dilation":1,"containers":[{}` + strings.Repeat(",{}", 20_000) + `]}]}]}`),
		"the same field":      io.MultiReader(strings.NewReader(`{`), again(`"ageSeconds":1,`)),
		"the same node":       io.MultiReader(strings.NewReader(`{"intervals":[{`), again(`"node":"nnnnnnnnnnnnnnnnnnnnnnnnnnnnn",`)),
		"the same pod":        io.MultiReader(strings.NewReader(head), again(`{"uid":"a","threads":1,"dilation":1},`)),
		"escaped names":       io.MultiReader(strings.NewReader(head+`{"name":"`), again(`\u0000`)),
		"invalid text":        io.MultiReader(strings.NewReader(head+`{"name":"`), again("\xff")),
		"fields of a pod":     io.MultiReader(strings.NewReader(head+`{`), again(`"containers":[{"id":"a"},{"id":"b"}],"containers":null,`)),
		"empty disks":         io.MultiReader(strings.NewReader(`{"intervals":[{"disks":[`), again(`{},`)),
		"empty services":      io.MultiReader(strings.NewReader(`{"intervals":[{"disks":[{"service":[`), again(`{},`)),
		"names of disks":      io.MultiReader(strings.NewReader(`{"intervals":[{"disks":[{"beneath":[`), again(`"a",`)),
		"disks of a pod":      io.MultiReader(strings.NewReader(head+`{"uid":"a","threads":1,"dilation":1,"disks":[`), again(`{"limit":{}},`)),
		"pods, many times":    io.MultiReader(strings.NewReader(`{"intervals":[{`), again(`"pods":[{"uid":"a","threads":1,"dilation":1}],`)),
		"numbers too large":   io.MultiReader(strings.NewReader(`{"ageSeconds":`), again(`9`)),
	}
}

// allocated bounds the allocations for reading a refused answer, garbage included.
const allocated = 2 << 20

// This test is not parallel: it counts allocations.
func TestWhateverAnAnswerIsTheMemoryIsBounded(t *testing.T) {
	for name, in := range liars() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := usage.NewDecoder(in, ofGauge()).Report()
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: it is a report", name)
		}
		t.Logf("%-20s %8d kB allocated: %v", name, (after.TotalAlloc-before.TotalAlloc)>>10, err)
		if got := after.TotalAlloc - before.TotalAlloc; got > allocated {
			t.Errorf("%s: %d kB are allocated", name, got>>10)
		}
	}
}

// largest is the text of a report with all objects that there may be.
func largest() string {
	var pods []string
	for i := range usage.MaxPods {
		pods = append(pods, fmt.Sprintf(`{"uid":"%d","threads":1,"dilation":1,"containers":[{"id":"a"}]}`, i))
	}
	interval := `{"node":"n","seconds":1,"cpus":1,"pods":[` + strings.Join(pods, ",") + "]},"
	return `{"intervals":[` + strings.TrimSuffix(strings.Repeat(interval, 30), ",") + "]}"
}

func TestTheLargestReportIsBounded(t *testing.T) {
	text := largest()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r, err := read(text)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	got := int64(after.HeapAlloc) - int64(before.HeapAlloc)
	t.Logf("%d intervals, %d bytes of text, %d kB are kept", len(r.Intervals), len(text), got>>10)
	if limit := int64(3 * usage.MaxBytes); got > limit {
		t.Errorf("a report takes %d MiB", got>>20)
	}
	runtime.KeepAlive(r)
}

func TestAListOfReportsIsRead(t *testing.T) {
	t.Parallel()
	one := inJSON(t, usage.Report{AgeSeconds: 1, Intervals: []usage.Interval{interval()}})
	for text, want := range map[string]string{
		"[]":                        "0 <nil>",
		"[" + one + "]\n":           "1 <nil>",
		"[" + one + "," + one + "]": "2 <nil>",
		"":                          "0 ends too early",
		"[" + one:                   "0 ends too early",
		"[" + one + ",{":            "0 [1]: ends too early",
		"[{\"ageSeconds\":-1}]":     "0 [0].ageSeconds: -1 is not at least 0 and finite",
		"[] []":                     "0 goes on after the list",
		"[]]":                       "0 goes on after the list",
		one:                         `0 begins with "{", not with "["`,
	} {
		all, err := usage.NewDecoder(strings.NewReader(text), ofGauge()).List()
		if got := fmt.Sprint(len(all), " ", err); got != want {
			t.Errorf("of %.20s… %s, want %s", text, got, want)
		}
	}
}

func TestReportsFollowACollection(t *testing.T) {
	t.Parallel()
	want := usage.Collection{AgeSeconds: 4, Refused: []usage.Refusal{{Node: "worker-2", Reason: "intervals[0].seconds: 0 is not above 0 and finite"}}, RefusedBesides: 2}
	report := usage.Report{AgeSeconds: 1, Intervals: []usage.Interval{interval()}}
	d := usage.NewDecoder(strings.NewReader(inJSON(t, want)+"\n"+inJSON(t, report)+"\n"+inJSON(t, report)), ofGauge())
	got, err := d.Collection()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for range 2 {
		got, err := d.Report()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&report, got); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	if _, err := d.Report(); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
}

func TestAnExcerptIsOneShortLineOfWhatCanBePrinted(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                "",
		"cpus: 0 is less than 1 – „so“":   "cpus: 0 is less than 1 – „so“",
		"\x1b[2J\r\nok\u202e":             `\x1b[2J\r\nok\u202e`,
		strings.Repeat("x", 300):          strings.Repeat("x", 297) + "…",
		strings.Repeat("\x00", 1<<20):     strings.Repeat(`\x00`, 74) + "…",
		strings.Repeat("ä", 149) + "\xff": strings.Repeat("ä", 148) + "…",
	} {
		if got := usage.Excerpt(text); got != want {
			t.Errorf("of %.20q…: %q", text, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		once := usage.Excerpt(rapid.String().Draw(t, "text"))
		if twice := usage.Excerpt(once); twice != once || len(once) > usage.MaxExcerpt {
			t.Fatalf("%q becomes %q", once, twice)
		}
	})
}
