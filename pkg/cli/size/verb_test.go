package size_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"loadline.dev/loadline/pkg/cli/clitest"
	"loadline.dev/loadline/pkg/evaluate/pools"
)

// classes make flags of classes.
func classes(list ...string) []string {
	args := []string{"size"}
	for _, class := range list {
		args = append(args, "--class", class)
	}
	return slices.Clip(args) // so that tests that append do not share
}

// The classes of table 2 of Hu et al., CASCON 2009, of service rate 1.
var (
	tableCase1 = classes("name=a,rate=0.6,service=1s,within=3s,probability=0.8", "name=b,rate=3,service=1s,within=5s,probability=0.95")
	tableCase2 = classes("name=a,rate=0.6,service=1s,within=3s,probability=0.95", "name=b,rate=3.6,service=1s,within=5s,probability=0.8")
)

const checkoutPlan = `apiVersion: loadline.dev/v1alpha1
kind: PoolPlan
metadata: {name: shop}
spec:
  classes:
  - name: checkout
    profile: {namespace: shop, name: checkout}
    arrival: {query: 'sum(rate(requests[5m]))'}
  - name: search
    arrival: {ratePerSecond: "3.6"}
    service: {meanMillis: 1000}
    sla: {responseTimeMillis: 5000, probability: "0.8"}
`

const checkoutProfile = `---
apiVersion: loadline.dev/v1alpha1
kind: WorkloadProfile
metadata: {name: checkout, namespace: shop}
spec:
  selector: {matchLabels: {app: checkout}}
  resources: [{name: cpu, loading: "1"}]
  neutralMillis: 1000
  sla: {responseTimeMillis: 3000, probability: "0.95"}
`

// pools are a bound for each class of the plan.
const boundedPools = `  pools:
  - {name: web, classes: [checkout], maxServers: 3}
  - {name: find, classes: [search], maxServers: 3}
`

// sized runs a command that ends well and returns its answer.
func sized(t *testing.T, stdin string, args ...string) *pools.Answer {
	t.Helper()
	code, stdout, stderr := clitest.Run(t, stdin, append(args, "-o", "json")...)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	answer := &pools.Answer{}
	if err := json.Unmarshal([]byte(stdout), answer); err != nil {
		t.Fatalf("%v\n%s", err, stdout)
	}
	return answer
}

func TestSizeReproducesTheTableOfThePaper(t *testing.T) {
	t.Parallel()
	// Table 2 prints 5 and 6 for case 1 the wrong way round, and 8 and 7 for case 2, where Eq. (1) gives 8 and 10.
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"case 1": {tableCase1, `A shared pool, 5 servers: one fewer than dedicated.
POOL        CLASSES   SERVERS   SLA                 ATTAINED   WITH ONE FEWER
shared      a               5   80.0% within 3.0s      91.5%            62.0%
            b                   95.0% within 5.0s      98.7%            82.4%
dedicated   each            6   a 2, b 4
The answer holds while b stays under 3.64 requests/s (now 3.00) and a under 1.24 (now 0.60), if only one of them changes.
All rates may rise by 17.9%, or all services may take 13.3% longer, before a server is missing.
Jobs are taken to arrive at random (Poisson); where they come in bursts, it takes more servers.
`},
		"case 2": {tableCase2, `Dedicated pools, 8 servers: 2 fewer than shared.
POOL     CLASSES   SERVERS   SLA                 ATTAINED   WITH ONE FEWER
a        a               4   95.0% within 3.0s      95.0%            94.9%
b        b               4   80.0% within 5.0s      82.4%       overloaded
shared   both           10   a is the one that needs them
The answer holds while b stays under 3.631 requests/s (now 3.600) and a under 0.79 (now 0.60).
All rates may rise by 0.8%, or all services may take 0.09% longer, before a server is missing.
Jobs are taken to arrive at random (Poisson); where they come in bursts, it takes more servers.
`},
		"what the wider table adds": {append(classes("name=a,rate=0,service=250ms,within=1s"), "-o", "wide"), `One pool, 1 server.
POOL   CLASSES   SERVERS   SLA                 ATTAINED   WITH ONE FEWER   WITH ONE MORE   BUSY     RATE   ENOUGH UP TO   SERVICE
a      a               1   95.0% within 1.0s      98.2%                -           98.2%   0.0%   0.00/s              -     250ms
All services may take 33.5% longer, before a server is missing.
Jobs are taken to arrive at random (Poisson); where they come in bursts, it takes more servers.
`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := clitest.Run(t, "", c.args...)
			if code != 0 || stdout != c.want || stderr != "" {
				t.Errorf("exit code %d, errors %q, the output is\n%swant\n%s", code, stderr, stdout, c.want)
			}
		})
	}
}

func TestTheServersAreEnoughUpToTheRateThatSizeSaysAndNoFurther(t *testing.T) {
	t.Parallel()
	answer := sized(t, "", append(tableCase1, "--strategy", "shared")...)
	for _, class := range answer.Pools[0].Classes {
		for factor, enough := range map[float64]bool{1 - 1e-6: true, 1 + 1e-6: false} {
			rate := class.Name + "=" + strconv.FormatFloat(*class.MaxArrival*factor, 'g', 15, 64)
			again := sized(t, "", append(tableCase1, "--strategy", "shared", "--rate", rate)...)
			if (again.Servers <= answer.Servers) != enough {
				t.Errorf("at a rate of %s it takes %d servers, %d before", rate, again.Servers, answer.Servers)
			}
		}
	}
}

func TestSizeReadsProfilesAndTakesMeasuredRatesFromFlags(t *testing.T) {
	t.Parallel()
	answer := sized(t, checkoutPlan+checkoutProfile, "size", "-f", "-", "--rate", "checkout=0.6")
	if answer.Servers != 8 || answer.Strategy != "dedicated" || answer.Alternatives[0].Servers != 10 {
		t.Errorf("the answer is %+v", answer)
	}
	answer = sized(t, checkoutPlan+checkoutProfile, "size", "-f", "-", "--rate", "checkout=0.6", "--service", "checkout=500ms")
	if input := answer.Inputs[0]; input.Service.Value != 0.5 || answer.Servers >= 8 {
		t.Errorf("with services half as long it takes %d servers; the input is %+v", answer.Servers, input)
	}
}

func TestOneOfSeveralPlansIsChosenByName(t *testing.T) {
	t.Parallel()
	other := strings.Replace(checkoutPlan, "name: shop}", "name: other}", 1)
	both := checkoutPlan + "---\n" + other + checkoutProfile
	if answer := sized(t, both, "size", "-f", "-", "--plan", "other", "--rate", "checkout=0.6"); answer.Name != "other" {
		t.Errorf("sized %q", answer.Name)
	}
}

func TestAnSLAThatCannotBeMetIsAnAnswerThatIsNo(t *testing.T) {
	t.Parallel()
	plan := clitest.WriteFile(t, "checkout.yaml", strings.Replace(checkoutPlan+checkoutProfile, `"0.95"`, `"0.9999"`, 1))
	const infeasible = `class "checkout": 99.99% within 3s cannot be met by any number of servers: with a mean service time of 1s even an idle server answers only 95.02% in time. Relax the SLA or make the service faster` + "\n"
	for name, c := range map[string]struct {
		stdin string
		args  []string
		want  string
	}{
		"in a file":       {"", []string{"size", "-f", plan, "--rate", "checkout=1"}, "Error: checkout.yaml: " + infeasible},
		"by flags":        {"", classes("name=checkout,rate=1,service=1s,within=3s,probability=0.9999"), "Error: " + infeasible},
		"with too little": {checkoutPlan + boundedPools + checkoutProfile, []string{"size", "-f", "-", "--rate", "checkout=0.6"}, `Error: PoolPlan "shop": pool "web" may have at most 3 servers and needs 4: checkout is answered within 3.0s only 94.9% of the time, not 95.0%; pool "find" may have at most 3 servers and needs 4: too few to keep up with the arrivals` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, _, stderr := clitest.Run(t, c.stdin, c.args...)
			if code != 1 || stderr != c.want {
				t.Errorf("exit code %d, errors\n%swant\n%s", code, stderr, c.want)
			}
		})
	}
}

func TestABoundedPoolWithPrioritiesSaysWhichClassMissesItsSLA(t *testing.T) {
	t.Parallel()
	// Checkout is the stricter class, and comes second in the plan.
	const plan = `apiVersion: loadline.dev/v1alpha1
kind: PoolPlan
metadata: {name: shop}
spec:
  discipline: hol
  classes:
  - name: search
    arrival: {ratePerSecond: "3.7"}
    service: {meanMillis: 1000}
    sla: {responseTimeMillis: 5000, probability: "0.9"}
  - name: checkout
    arrival: {ratePerSecond: "1"}
    service: {meanMillis: 1000}
    sla: {responseTimeMillis: 3000, probability: "0.9"}
  pools:
  - {name: all, classes: [search, checkout], maxServers: 5}
`
	code, stdout, stderr := clitest.Run(t, plan, "size", "-f", "-")
	if code != 1 || strings.Index(stdout, "checkout") > strings.Index(stdout, "search") {
		t.Errorf("exit code %d, output\n%s", code, stdout)
	}
	if !strings.Contains(stderr, "search is answered within 5.0s only") || strings.Contains(stderr, "checkout is answered") {
		t.Errorf("errors %q", stderr)
	}
}

func TestSizeRefusesBadInput(t *testing.T) {
	t.Parallel()
	with := func(changes string) []string {
		class := "name=a,rate=0.6,service=1s,within=3s,probability=0.9"
		key, _, _ := strings.Cut(changes, "=")
		var kept []string
		for part := range strings.SplitSeq(class, ",") {
			if !strings.HasPrefix(part, key+"=") {
				kept = append(kept, part)
			}
		}
		return classes(strings.Join(append(kept, changes), ","))
	}
	never := filepath.Join(t.TempDir(), "never.svg")
	for name, c := range map[string]struct {
		stdin string
		args  []string
		want  string
	}{
		"no question":                {"", []string{"size"}, "give a PoolPlan, -f poolplan.yaml; or classes, --class name=checkout,rate=0.6"},
		"no plan in the files":       {checkoutProfile, []string{"size", "-f", "-"}, "there is no PoolPlan in the files: give"},
		"two plans":                  {checkoutPlan + "---\n" + checkoutPlan, []string{"size", "-f", "-"}, "there are 2 PoolPlans in the files: choose one, --plan shop"},
		"an unknown plan":            {checkoutPlan, []string{"size", "-f", "-", "--plan", "no"}, `there are 0 PoolPlans named "no" in the files, which have shop`},
		"a plan and classes":         {checkoutPlan, append(tableCase1, "-f", "-"), "leave out --class"},
		"a rate to be measured":      {checkoutPlan + checkoutProfile, []string{"size", "-f", "-"}, `class "checkout": its arrival rate is measured by a query, for which there is no cluster here: give it, --rate checkout=0.6`},
		"an unknown profile":         {checkoutPlan, []string{"size", "-f", "-", "--rate", "checkout=1"}, `spec.classes[0].profile: Invalid value: "shop/checkout": there is no such WorkloadProfile`},
		"an unknown class":           {"", append(tableCase1, "--rate", "c=1"), "--rate c=1: there is no such class (there are a, b)"},
		"a class twice":              {"", classes("name=a,rate=1,service=1s,within=3s,probability=0.9", "name=a,rate=1,service=1s,within=3s,probability=0.9"), `--class a: name: Duplicate value: "a"`},
		"a key twice":                {"", classes("name=a,rate=1,rate=2"), "rate: is given twice"},
		"an unknown key":             {"", with("speed=1"), "speed: is not one of name, rate, service, within, probability, scv, cost"},
		"a key too few":              {"", classes("name=a,rate=1,within=3s"), "service: is missing; write name=checkout,rate=0.6"},
		"no value":                   {"", classes("name"), "write NAME=VALUE, such as rate=0.6"},
		"a rate that is NaN":         {"", with("rate=NaN"), `rate: "NaN" is not a number such as 0.6`},
		"a negative rate":            {"", with("rate=-1"), `--class a: rate: Invalid value: "-1": must be a number from 0`},
		"more than can be served":    {"", with("rate=1e12"), `--class a: rate: Invalid value: "1000000000000"`},
		"no service":                 {"", with("service=0s"), "--class a: service: Invalid value: 0: a service time is at least 1 millisecond"},
		"a service of microseconds":  {"", with("service=1500us"), `service: "1500us" is not a whole number of milliseconds`},
		"a time without a unit":      {"", with("within=3"), `within: "3" is not a duration such as 1s or 250ms`},
		"no time at all":             {"", with("within=0s"), "--class a: within: Invalid value: 0: a response time is at least 1 millisecond"},
		"more than always":           {"", with("probability=1.2"), `--class a: probability: Invalid value: "1.2": a probability is above 0 and below 1`},
		"always":                     {"", with("probability=1"), `--class a: probability: Invalid value: "1"`},
		"never":                      {"", with("probability=0"), `--class a: probability: Invalid value: "0"`},
		"a negative variation":       {"", with("scv=-1"), `--class a: scv: Invalid value: "-1"`},
		"servers for nothing":        {"", with("cost=0"), `--class a: cost: Invalid value: "0": a cost is above 0`},
		"an unknown discipline":      {"", append(tableCase1, "--discipline", "lifo"), `--discipline: Unsupported value: "lifo"`},
		"an unknown strategy":        {"", append(tableCase1, "--strategy", "best"), `--strategy: Unsupported value: "best"`},
		"too short a simulation":     {"", append(tableCase1, "--replications", "1"), "simulation.replications: 1 is not between 8 and 4096"},
		"an unknown chart format":    {"", append(tableCase1, "--plot-map", "map.pdf"), "--plot-map: map.pdf: cannot draw .pdf"},
		"a map of one class":         {"", append(with("rate=1"), "--plot-map", never), "--plot-map: a map has two axes, and there are 1 classes: it takes two"},
		"hol with different service": {"", append(classes("name=a,rate=1,service=1s,within=9s", "name=b,rate=1,service=2s,within=9s"), "--discipline", "hol", "--strategy", "shared"), "HOL needs classes with one rate of exponential service times"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, _, stderr := clitest.Run(t, c.stdin, c.args...)
			if code != 2 || !strings.HasPrefix(stderr, "Error: ") || !strings.Contains(stderr, c.want) {
				t.Errorf("exit code %d, errors %q, want %q", code, stderr, c.want)
			}
		})
	}
	if _, err := os.Stat(never); err == nil {
		t.Error("a chart that cannot be drawn was written")
	}
}

func TestASimulatedAnswerIsTheSameForASeedAndHasNoMap(t *testing.T) {
	t.Parallel()
	args := slices.Concat(tableCase1, []string{"--discipline", "pdp", "--strategy", "shared", "--seed", "7", "--replications", "8"})
	first, again := sized(t, "", args...), sized(t, "", args...)
	if first.Pools[0].Classes[0].HalfWidth == nil || first.Pools[0].Classes[0].Attained != again.Pools[0].Classes[0].Attained {
		t.Errorf("the answers are %+v and %+v", first.Pools[0], again.Pools[0])
	}
	code, stdout, stderr := clitest.Run(t, "", append(args, "--plot-map", filepath.Join(t.TempDir(), "map.svg"))...)
	if code != 2 || !strings.Contains(stdout, "Simulated; ± is the 99.0% confidence interval.") || !strings.Contains(stderr, "a map takes thousands of answers, and this discipline simulates each") {
		t.Errorf("exit code %d, output\n%s%s", code, stdout, stderr)
	}
}

func TestSizeDrawsItsCharts(t *testing.T) {
	t.Parallel()
	servers, dedicated := filepath.Join(t.TempDir(), "servers.svg"), filepath.Join(t.TempDir(), "map.svg")
	code, _, stderr := clitest.Run(t, "", append(tableCase2, "--plot-servers", servers, "--plot-map", dedicated)...)
	if want := "Wrote " + servers + ", " + dedicated + ".\n"; code != 0 || stderr != want {
		t.Errorf("exit code %d, errors %q, want %q", code, stderr, want)
	}
	for path, want := range map[string][]string{
		servers:   {">a, 95% within 3s<", ">3.600/s<", ">3.631/s<"},
		dedicated: {">dedicated pools need 2 servers fewer<", ">now<"},
	} {
		svg, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range want {
			if !strings.Contains(string(svg), text) {
				t.Errorf("%s has no %s", filepath.Base(path), text)
			}
		}
	}
}

// Jobs in fours have an index of dispersion of 4, and those one after the other none: of both there are two in a second.
func TestSizeTakesTheRateOfRecordedJobsAndWarnsOfBursts(t *testing.T) {
	t.Parallel()
	fours, regular := "#loadline-trace/v1\ntype,arrival\n", "#loadline-trace/v1\ntype,arrival\n"
	draw := rand.New(rand.NewPCG(1, 1))
	at := 0.0
	for i := range 4000 {
		if i%4 == 0 {
			at += 2 * draw.ExpFloat64()
		}
		fours += fmt.Sprintf("a,%.3f\n", at)
		regular += fmt.Sprintf("a,%.3f\n", 0.5*float64(i))
	}
	for name, test := range map[string]struct {
		trace string
		warn  bool
	}{"in fours": {fours, true}, "one after the other": {regular, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append(classes("name=a,rate=9,service=1s,within=10s"), "--arrivals", "a="+clitest.WriteFile(t, "jobs.csv", test.trace), "-o", "json")
			code, stdout, stderr := clitest.Run(t, "", args...)
			var answer pools.Answer
			if err := json.Unmarshal([]byte(stdout), &answer); code != 0 || err != nil {
				t.Fatalf("exit code %d: %s %v", code, stderr, err)
			}
			if rate := answer.Inputs[0].Arrival.Value; math.Abs(rate-2) > 0.2 { // three standard errors of 1,000 batches
				t.Errorf("the rate is %v, want 2", rate)
			}
			const bursts = "Warning: the arrivals of a come in bursts: how many there are in 10s varies "
			if warned := strings.HasPrefix(stderr, bursts); warned != test.warn || !warned && stderr != "" {
				t.Errorf("said %q", stderr)
			}
		})
	}
	for name, test := range map[string]struct{ arrivals, want string }{
		"another class": {"b=jobs.csv", "--arrivals b=jobs.csv: there is no such class (there are a)"},
		"no trace":      {"a=" + clitest.WriteFile(t, "few.csv", "#loadline-trace/v1\ntype,arrival\na,1\n"), "few.csv: there are too few arrivals to tell how they vary: give at least 20, at different times"},
		"no file":       {"a=none.csv", "--arrivals a=none.csv: open none.csv: no such file"},
	} {
		if code, _, stderr := clitest.Run(t, "", append(classes("name=a,rate=9,service=1s,within=10s"), "--arrivals", test.arrivals)...); code != 2 || !strings.Contains(stderr, test.want) {
			t.Errorf("%s: exit code %d: %s, want %s", name, code, stderr, test.want)
		}
	}
}
