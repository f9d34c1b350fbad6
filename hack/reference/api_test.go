package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"loadline.dev/loadline/hack/reference/markdown"
)

// ship is the Go type of the CRD in shipCRD.
type ship struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              shipSpec   `json:"spec"`
	Status            shipStatus `json:"status,omitzero"`
}

type shipSpec struct {
	Name   *string            `json:"name"`
	Flag   string             `json:"flag,omitempty"`
	Draft  *resource.Quantity `json:"draft,omitempty"`
	Masts  []mast             `json:"masts,omitempty"`
	Owners []string           `json:"owners,omitempty"`
}

type mast struct {
	Height *int64 `json:"height"`
}

type shipStatus struct {
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

const shipCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ships.sea.dev}
spec:
  group: sea.dev
  names: {kind: Ship, listKind: ShipList, plural: ships, singular: ship, shortNames: [sp]}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    additionalPrinterColumns:
    - {name: Draft, type: string, jsonPath: '.spec["draft"]'}
    - {name: Flag, type: string, jsonPath: .spec.flag, priority: 1}
    schema:
      openAPIV3Schema:
        description: |-
          Ship carries things. It floats.

          It is <large>.
        type: object
        properties:
          apiVersion: {type: string}
          kind: {type: string}
          metadata: {type: object}
          spec:
            description: spec says what ship.
            type: object
            required: [name]
            x-kubernetes-validations:
            - {rule: 'self.draft > 0', fieldPath: .draft, message: "a ship has draught: give draft"}
            properties:
              draft:
                anyOf: [{type: integer}, {type: string}]
                x-kubernetes-int-or-string: true
                pattern: ^x$
                description: draft is how deep it lies.
              flag:
                description: flag is what it flies.
                type: string
                enum: [red, white|blue]
                default: red
              masts:
                description: masts are its masts.
                type: array
                maxItems: 4
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [height]
                items:
                  description: A mast carries sails.
                  type: object
                  required: [height]
                  x-kubernetes-validations:
                  - {rule: 'self.height != 13'}
                  properties:
                    height:
                      description: height is how high it is.
                      type: integer
                      format: int64
                      minimum: 1
                      maximum: 1000000
              name:
                description: name is painted on it.
                type: string
                minLength: 1
                maxLength: 63
                pattern: '^[a-z|_]+$'
              owners:
                description: owners pay.
                type: array
                minItems: 1
                maxItems: 1
                x-kubernetes-list-type: set
                items: {type: string, maxLength: 9}
          status:
            description: status says how it is.
            type: object
            properties:
              conditions:
                description: conditions are Afloat.
                type: array
                maxItems: 8
                items:
                  description: Condition of a thing.
                  type: object
                  properties: {type: {type: string}}
`

func readShip(crd string) (*kind, error) {
	return readCRD([]byte(crd), func(schema.GroupVersionKind) (reflect.Type, error) { return reflect.TypeFor[*ship](), nil })
}

const shipConstants = `package v1

// Condition types and reasons of Ships.
const (
	// ConditionAfloat is True when it swims.
	ConditionAfloat = "Afloat"
	// ConditionSunk is True when it does not.
	ConditionSunk = "Sunk"

	// ReasonLoaded says that it is loaded to the line.
	ReasonLoaded = "Loaded"
	// ReasonLost says where it was last seen.
	ReasonLost = "Lost"
)
`

func TestAKindHasAPage(t *testing.T) {
	t.Parallel()
	k, err := readShip(shipCRD)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := parseConstants([]byte(shipConstants), []string{"Boat", "Ship"})
	if err != nil {
		t.Fatal(err)
	}
	want := markdown.Marker + `

# Ship

Ship carries things. It floats.

It is \<large>.

| apiVersion | Names for kubectl | Scope |
|---|---|---|
| ~sea.dev/v1~ | ~ships~, ~sp~ | namespace |

- [At a glance](#at-a-glance)
- [spec](#spec)
  - [spec.masts\[\]](#spec-masts)
- [status](#status)
- [Conditions and reasons](#conditions-and-reasons)
- [Columns of kubectl get](#columns-of-kubectl-get)

## At a glance

~~~yaml
apiVersion: sea.dev/v1
kind: Ship
metadata:
  name: string
  namespace: string
spec:
  name: string  # required
  flag: red | white|blue  # defaults to red
  draft: quantity
  masts:
  - height: integer  # required
  owners: [string]
~~~

## spec

~spec~ says what ship.

What breaks a rule is refused with its message:

- ~draft~: “a ship has draught: give draft”

| Field | Type | What it means |
|---|---|---|
| <a id="spec-name"></a>~name~<br>*required* | string | ~name~ is painted on it.<br>• From 1 to 63 characters.<br>• Matches ~^[a-z\|_]+$~. |
| <a id="spec-flag"></a>~flag~ | string | ~flag~ is what it flies.<br>Defaults to ~red~.<br>• One of ~red~, ~white\|blue~. |
| <a id="spec-draft"></a>~draft~ | [quantity](../api.md#quantities) | ~draft~ is how deep it lies. |
| ~masts~ | list of [objects](#spec-masts) | ~masts~ are its masts.<br>• At most 4 items.<br>• No two with the same ~height~.<br>• ~self.height != 13~ |
| <a id="spec-owners"></a>~owners~ | list of strings | ~owners~ pay.<br>• Exactly 1 item.<br>• No two alike.<br>• Each at most 9 characters. |

### <a id="spec-masts"></a>spec.masts\[\]

A mast carries sails.

| Field | Type | What it means |
|---|---|---|
| <a id="spec-masts-height"></a>~height~<br>*required* | integer | ~height~ is how high it is.<br>• From 1 to 1,000,000. |

## status

~status~ says how it is.

| Field | Type | What it means |
|---|---|---|
| <a id="status-conditions"></a>~conditions~ | list of [conditions](../api.md#conditions) | ~conditions~ are Afloat. |

## Conditions and reasons

What [conditions](../api.md#conditions) say of a Ship.

Condition types and reasons of Ships.

| Condition | What it means |
|---|---|
| ~Afloat~ | True when it swims. |

| Reason | What it means |
|---|---|
| ~Loaded~ | It is loaded to the line. |
| ~Lost~ | Says where it was last seen. |

## Columns of kubectl get

| Column | What it shows | Shown |
|---|---|---|
| DRAFT | ~.spec["draft"]~ | always |
| FLAG | ~.spec.flag~ | with ~-o wide~ |
`
	if diff := cmp.Diff(strings.ReplaceAll(want, "~", "`"), renderKind(k, groups).String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, want := k.summary(), "Ship carries things."; got != want {
		t.Errorf("in short: %q, want %q", got, want)
	}
}

func TestABadCRDIsNamed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ old, spoiled, want string }{
		"a kind without a description":  {"Ship carries things. It floats.\n\n          It is <large>.", "", "Ship: the kind does not say what it is"},
		"a field without one":           {"description: flag is what it flies.", "description: ''", "spec.flag: the field does not say what it means"},
		"one in a list":                 {"description: height is how high it is.", "description: ''", "spec.masts[].height: the field does not say"},
		"a list without one":            {"description: owners pay.", "description: ''", "spec.owners: the field does not say"},
		"a field that Go does not have": {"              owners:", "              heirs:", "spec: the CRD has the fields [draft flag heirs masts name]"},
		"a keyword without words":       {"format: int64", "multipleOf: 2", "spec.masts[].height: the reference has no words for a keyword of its schema: multipleOf"},
		"a type without words":          {"type: string\n                enum", "type: \"null\"\n                enum", `spec.flag: no words for the type "null"`},
		"two versions":                  {"  - name: v1\n", "  - {name: v0, served: true, storage: false}\n  - name: v1\n", "shows one version of a kind, this has 2"},
		"no CRD":                        {"group: sea.dev", "grope: sea.dev", "unknown field"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(shipCRD, test.old) {
				t.Fatalf("the CRD does not have %q", test.old)
			}
			_, err := readShip(strings.ReplaceAll(shipCRD, test.old, test.spoiled))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestBadConstantsAreNamed(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ old, spoiled, want string }{
		"of no kind":        {"of Ships.", "of trains.", `the comment "Condition types and reasons of trains." names no kind`},
		"without a meaning": {"	// ReasonLost says where it was last seen.\n", "", "ReasonLost: want a comment that begins with the name"},
		"of another's name": {"// ReasonLost says", "// It says", "ReasonLost: want a comment that begins with the name"},
		"not a string":      {`= "Lost"`, "= 3", "ReasonLost: want a string"},
		"no Go":             {"package v1", "module v1", "expected 'package'"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parseConstants([]byte(strings.Replace(shipConstants, test.old, test.spoiled, 1)), []string{"Ship"})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestTheRealKindsReadWell(t *testing.T) {
	t.Parallel()
	kinds, err := readKinds(root)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := readConstants(root, kinds)
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range kinds {
		page := renderKind(k, groups).String()
		for _, want := range []string{"## spec\n", "## status\n", "## Conditions and reasons\n", "## Columns of kubectl get\n"} {
			if !strings.Contains(page, want) {
				t.Errorf("the page of %s has no %q", k.name, want)
			}
		}
	}
}
