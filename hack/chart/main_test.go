package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const someValues = `# About this file.

# The operator.
manager:
  # -- How many run. One acts,
  # the others wait.
  replicas: 2
  # -- Flags.
  extraArgs: [--v=2]
scheduler:
  # -- How many run. One acts, the others wait.
  replicas: 1
`

const someSchema = `{
  "definitions": {"replicas": {"properties": {"replicas": {"maximum": 2147483647}}}},
  "properties": {
    "global": {},
    "manager": {"properties": {"extraArgs": {"description": "Old."}, "replicas": {"$ref": "#/definitions/count"}}},
    "scheduler": {"$ref": "#/definitions/replicas"}
  }
}`

func TestTheWordsAboveAValueAreItsDescription(t *testing.T) {
	t.Parallel()
	values, err := readValues([]byte(someValues))
	if err != nil {
		t.Fatal(err)
	}
	readme, err := insertTable([]byte("Before.\n"+tableBegin+"old\n"+tableEnd+"After.\n"), values)
	if err != nil {
		t.Fatal(err)
	}
	want := "Before.\n" + tableBegin + "| value | default | meaning |\n|---|---|---|\n" +
		"| `manager.replicas` | `2` | How many run. One acts, the others wait. |\n" +
		"| `manager.extraArgs` | `[\"--v=2\"]` | Flags. |\n" +
		"| `scheduler.replicas` | `1` | How many run. One acts, the others wait. |\n" +
		tableEnd + "After.\n"
	if diff := cmp.Diff(want, string(readme)); diff != "" {
		t.Errorf("unexpected README (-want +got):\n%s", diff)
	}
	schema, err := describe([]byte(someSchema), values)
	if err != nil {
		t.Fatal(err)
	}
	const wantSchema = `{
  "definitions": {
    "replicas": {
      "properties": {
        "replicas": {
          "description": "How many run. One acts, the others wait.",
          "maximum": 2147483647
        }
      }
    }
  },
  "properties": {
    "global": {},
    "manager": {
      "properties": {
        "extraArgs": {
          "description": "Flags."
        },
        "replicas": {
          "$ref": "#/definitions/count",
          "description": "How many run. One acts, the others wait."
        }
      }
    },
    "scheduler": {
      "$ref": "#/definitions/replicas"
    }
  }
}
`
	if diff := cmp.Diff(wantSchema, string(schema)); diff != "" {
		t.Errorf("unexpected schema (-want +got):\n%s", diff)
	}
}

func TestWhatIsNotDescribedOrNotInBothIsAnError(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ values, schema, want string }{
		"a value without words": {
			values: "manager:\n  replicas: 2\n",
			want:   `line 2: manager.replicas: say what it is for, in the lines above: "# -- ..."`,
		},
		"a value that the schema lacks": {
			values: "# -- Images.\nimage: x\n", schema: `{"properties": {}}`,
			want: `# has no property "image", which values.yaml has as image`,
		},
		"a property that the values lack": {
			values: "# -- Images.\nimage: x\n", schema: `{"properties": {"image": {}, "imgae": {}}}`,
			want: `# has a property "imgae" that values.yaml has not`,
		},
		"two values that share a property and differ in words": {
			values: "a:\n  # -- One.\n  x: 1\nb:\n  # -- Two.\n  x: 1\n",
			schema: `{"definitions": {"d": {"properties": {"x": {}}}}, "properties": {"a": {"$ref": "#/definitions/d"}, "b": {"$ref": "#/definitions/d"}}}`,
			want:   "a.x and b.x are described by the same words",
		},
		"a reference to nothing": {
			values: "a:\n  # -- One.\n  x: 1\n", schema: `{"properties": {"a": {"$ref": "#/definitions/d"}}}`,
			want: "#/a: there is no #/definitions/d",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values, err := readValues([]byte(test.values))
			if err == nil {
				_, err = describe([]byte(test.schema), values)
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got the error %v, want %s", err, test.want)
			}
		})
	}
}

func TestAReadmeWithoutAPlaceForTheTableIsAnError(t *testing.T) {
	t.Parallel()
	if _, err := insertTable([]byte("No table.\n"), nil); err == nil {
		t.Error("it was accepted")
	}
}
