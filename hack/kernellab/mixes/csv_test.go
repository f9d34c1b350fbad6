package mixes_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadline.dev/loadline/hack/kernellab/mixes"
)

func TestATableIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	rows := []mixes.Row{
		{Mix: "a", Seconds: 60, Pod: 1, Request: 100, Limit: 250, Spare: 20, Loading: 0.3, Burst: 0.2, Threads: 2, Kind: mixes.Constant, Seed: 7},
		{Mix: "a", Seconds: 60, Pod: 2, Loading: 1, Burst: 10, Threads: 1, Kind: mixes.Exponential, Forks: true},
	}
	rows[0].Result = mixes.Result{
		Kernel: "6.12", HZ: 250, Slice: 700000, Processors: 1, Cgroup: 2, Weight: 4, AloneSeconds: 20,
		Alone:    mixes.Account{Own: 19.5, Computed: 5.1, Bursts: 12, Run: 5.2, Wait: 0.1, Sleep: 14.7, Slices: 99, Periods: 7, Throttled: 3, Held: 0.05},
		Together: mixes.Account{Own: 40.25}, Dilation: 1.4534,
	}
	for name, test := range map[string]struct {
		write func(b *bytes.Buffer) error
		want  []mixes.Row
	}{
		"results": {func(b *bytes.Buffer) error { return mixes.WriteResults(b, rows) }, rows},
		"mixes":   {func(b *bytes.Buffer) error { return mixes.Write(b, rows) }, given(rows)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b bytes.Buffer
			if err := test.write(&b); err != nil {
				t.Fatal(err)
			}
			got, err := mixes.Read(&b)
			if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
				t.Errorf("it is read differently (-written +read), %v:\n%s", err, diff)
			}
		})
	}
}

// given returns rows without results.
func given(rows []mixes.Row) []mixes.Row {
	var without []mixes.Row
	for _, r := range rows {
		r.Result = mixes.Result{}
		without = append(without, r)
	}
	return without
}

func TestATableThatTheLabCannotRunIsRefused(t *testing.T) {
	t.Parallel()
	const header = "mix,seconds,pod,request,limit,spare,loading,burst_ms,threads,kind,forks,seed\n"
	for name, test := range map[string]struct{ table, want string }{
		"nothing":             {"", "line 1: EOF"},
		"an unknown column":   {"mix,colour\n", `line 1: there is no column "colour"`},
		"a column twice":      {"mix,mix\n", `line 1: the column "mix" is there twice`},
		"a missing column":    {"mix,seconds\n", `line 1: the column "pod" is missing`},
		"a name of two words": {header + "a b,60,1,100,0,0,0.5,1,1,exponential,false,1\n", `line 2: mix: "a b" is not a name without spaces, commas and slashes`},
		"no time":             {header + "a,0,1,100,0,0,0.5,1,1,exponential,false,1\n", "line 2: seconds: 0 is not above 0"},
		"not a number":        {header + "a,NaN,1,100,0,0,0.5,1,1,exponential,false,1\n", `line 2: seconds: "NaN" is not a finite number`},
		"half a pod":          {header + "a,60,1.5,100,0,0,0.5,1,1,exponential,false,1\n", `line 2: pod: "1.5" is not a whole number`},
		"a request below 0":   {header + "a,60,1,-1,0,0,0.5,1,1,exponential,false,1\n", "line 2: request: -1 is not at least 0"},
		"a tiny limit":        {header + "a,60,1,100,9,0,0.5,1,1,exponential,false,1\n", "line 2: limit: 9 is neither 0, for none, nor at least 10"},
		"more spare than due": {header + "a,60,1,100,50,51,0.5,1,1,exponential,false,1\n", "line 2: spare: 51 is not between 0 and the limit"},
		"no loading":          {header + "a,60,1,100,0,0,0,1,1,exponential,false,1\n", "line 2: loading: 0 is not above 0 and at most 1"},
		"no burst":            {header + "a,60,1,100,0,0,0.5,0,1,exponential,false,1\n", "line 2: burst_ms: 0 is not above 0"},
		"too many threads":    {header + "a,60,1,100,0,0,0.5,1,65,exponential,false,1\n", "line 2: threads: 65 is not between 1 and 64"},
		"another kind":        {header + "a,60,1,100,0,0,0.5,1,1,normal,false,1\n", "line 2: kind: normal is neither exponential nor constant"},
		"neither yes nor no":  {header + "a,60,1,100,0,0,0.5,1,1,constant,maybe,1\n", `line 2: forks: "maybe" is neither true nor false`},
		"a gap":               {header + "a,60,2,100,0,0,0.5,1,1,constant,false,1\n", "mix a: pod: 2 is not 1, the next one"},
		"two windows": {
			header + "a,60,1,100,0,0,0.5,1,1,constant,false,1\na,61,2,100,0,0,0.5,1,1,constant,false,1\n",
			"mix a: seconds: 61 is not 60, as for its first pod",
		},
		"a mix in two parts": {
			header + "a,60,1,100,0,0,0.5,1,1,constant,false,1\nb,60,1,100,0,0,0.5,1,1,constant,false,1\na,60,1,100,0,0,0.5,1,1,constant,false,1\n",
			"mix a: its rows do not follow each other",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := mixes.Read(strings.NewReader(test.table)); err == nil || err.Error() != test.want {
				t.Errorf("the error is %v, want %s", err, test.want)
			}
		})
	}
}
