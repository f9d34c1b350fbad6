package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"loadline.dev/loadline/apis/config"
)

const cargoSource = `package v1

// CargoArgs are the arguments.
//
// +kubebuilder:object:root=true
type CargoArgs struct {
	metav1.TypeMeta ` + "`json:\",inline\"`" + `

	// holds say where things go.
	// +optional
	Holds []Hold ` + "`json:\"holds,omitempty\"`" + `

	// loads is how many times to load. Defaults to 3.
	Loads *int32 ` + "`json:\"loads,omitempty\"`" + `
}

// Hold is a room.
type Hold struct {
	// volumes are <volumes>.
	Volumes []*resource.Quantity ` + "`json:\"volumes,omitempty\"`" + `
}
`

func TestArgumentsAreTakenFromTheirComments(t *testing.T) {
	t.Parallel()
	structs, err := parseStructs([]byte(cargoSource))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range structs {
		got = append(got, structs[i].render(structs))
	}
	want := []string{
		`CargoArgs are the arguments.

| Field | Type | What it means |
|---|---|---|
| <a id="cargoargs-holds"></a>` + "`holds`" + ` | list of [Hold](#hold) | ` + "`holds`" + ` say where things go. |
| <a id="cargoargs-loads"></a>` + "`loads`" + ` | integer | ` + "`loads`" + ` is how many times to load. Defaults to 3. |`,
		`Hold is a room.

| Field | Type | What it means |
|---|---|---|
| <a id="hold-volumes"></a>` + "`volumes`" + ` | list of [quantities](api.md#quantities) | ` + "`volumes`" + ` are \<volumes>. |`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestArgumentsWithoutACommentAreNamed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ old, want string }{
		"a field":   {"\t// loads is how many times to load. Defaults to 3.\n", "CargoArgs.Loads: want a name in JSON and a comment"},
		"a type":    {"// Hold is a room.\n", "Hold: the type does not say what it is"},
		"a name":    {" `json:\"volumes,omitempty\"`", "Hold.Volumes: want a name in JSON and a comment"},
		"a package": {"package v1", "expected 'package'"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(cargoSource, test.old) {
				t.Fatalf("the source does not have %q", test.old)
			}
			_, err := parseStructs([]byte(strings.Replace(cargoSource, test.old, "", 1)))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestTheExampleOfTheConfigurationIsTaken(t *testing.T) {
	t.Parallel()
	var example struct {
		Profiles []struct {
			PluginConfig []struct {
				Name string
				Args map[string]any
			}
		}
	}
	if err := yaml.Unmarshal([]byte(configurationExample), &example); err != nil {
		t.Fatal(err)
	}
	raw := map[string]runtime.Object{}
	for _, plugin := range example.Profiles[0].PluginConfig {
		text, err := yaml.Marshal(plugin.Args)
		if err != nil {
			t.Fatal(err)
		}
		raw[plugin.Name] = &runtime.Unknown{Raw: text}
	}
	args, err := config.LoadDilationArgs(raw["Dilation"])
	if err != nil {
		t.Fatal(err)
	}
	if len(args.Requests) != 2 || args.Requests[0].Utilization != 0.5 {
		t.Errorf("got %+v", args)
	}
	order, err := config.LoadSLAOrderArgs(raw["SLAOrder"])
	if err != nil {
		t.Fatal(err)
	}
	if order.Discipline != config.PDP || order.MaxWaitSeconds != 600 {
		t.Errorf("got %+v", order)
	}
}
