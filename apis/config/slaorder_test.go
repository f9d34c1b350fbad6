package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"loadline.dev/loadline/apis/config"
)

func TestWhatTheUserLeavesOutOfSLAOrderArgsGetsItsDefault(t *testing.T) {
	t.Parallel()
	defaults := config.SLAOrderArgs{Discipline: config.PDP, MaxWaitSeconds: 600, WindowSeconds: 3600, SyncTimeoutSeconds: 30}
	tests := map[string]struct {
		args runtime.Object
		want config.SLAOrderArgs
	}{
		"no arguments": {nil, defaults},
		"only the type": {
			written(`{"apiVersion": "config.loadline.dev/v1alpha1", "kind": "SLAOrderArgs"}`), defaults,
		},
		"everything but the discipline": {
			written(`{"discipline": "HOL"}`),
			config.SLAOrderArgs{Discipline: config.HOL, MaxWaitSeconds: 600, WindowSeconds: 3600, SyncTimeoutSeconds: 30},
		},
		"nothing, and the smallest values": {
			written("discipline: PDP\nmaxWaitSeconds: 1\nwindowSeconds: 60\nsyncTimeoutSeconds: 0\n"),
			config.SLAOrderArgs{Discipline: config.PDP, MaxWaitSeconds: 1, WindowSeconds: 60},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := config.LoadSLAOrderArgs(test.args)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Errorf("unexpected arguments (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInvalidSLAOrderArgsAreRefusedByFieldValueAndRule(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		args runtime.Object
		want string // a part of the error
	}{
		"a discipline of replays": {
			written(`{"discipline": "FCFS"}`), `discipline: Unsupported value: "FCFS": supported values: "HOL", "PDP"`,
		},
		"a discipline in lower case": {written(`{"discipline": "pdp"}`), `discipline: Unsupported value: "pdp"`},
		"no wait":                    {written(`{"maxWaitSeconds": 0}`), "maxWaitSeconds: Invalid value: 0: must be at least 1"},
		"a negative wait":            {written(`{"maxWaitSeconds": -5}`), "maxWaitSeconds: Invalid value: -5: must be at least 1"},
		"a window of less than a minute": {
			written(`{"windowSeconds": 59}`), "windowSeconds: Invalid value: 59: must be at least 60",
		},
		"a negative timeout": {written(`{"syncTimeoutSeconds": -1}`), "syncTimeoutSeconds: Invalid value: -1: must be at least 0"},
		"several mistakes": {
			written(`{"maxWaitSeconds": 0, "windowSeconds": 0}`),
			"[maxWaitSeconds: Invalid value: 0: must be at least 1, windowSeconds: Invalid value: 0: must be at least 60]",
		},
		"an unknown field":             {written(`{"maxWait": 5}`), `maxWait: Forbidden: there is no such field`},
		"the arguments of the other":   {written(`{"kind": "DilationArgs", "syncTimeoutSeconds": 5}`), `kind: Unsupported value: "DilationArgs": supported values: "SLAOrderArgs"`},
		"another Go type":              {&corev1.Pod{}, "want args to be of type SLAOrderArgs, got *v1.Pod"},
		"a wait that is not an int32":  {written(`{"maxWaitSeconds": 2147483648}`), "maxWaitSeconds: Invalid value: 2147483648: is more than the field holds"},
		"a wait that is not a number":  {written(`{"maxWaitSeconds": "10m"}`), `maxWaitSeconds: Invalid value: "10m": is a string where the API wants a whole number`},
		"a discipline that is no text": {written(`{"discipline": 1}`), "discipline: Invalid value: 1: is a number where the API wants a string"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := config.LoadSLAOrderArgs(test.args)
			if err == nil {
				t.Fatalf("accepted as %+v", got)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error %q lacks %q", err, test.want)
			}
		})
	}
}
