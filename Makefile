# Everything one does to Loadline, by name. `make` or `make help` lists it.
# Needed: Go, git, GNU make and a C compiler (for the race detector). Whatever else a target needs it builds, once, from Go modules.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# The modules that hold Go code of ours. hack/tools, hack/helm, hack/cosign, hack/prometheus, hack/trimaran, hack/descheduler, hack/kueue and the others in
# hack/cluster/binaries only pin versions.
MODULES := . hack/cluster hack/cluster/binaries/coredns hack/experiments hack/oldest hack/release

# Tools are pinned by hack/tools/go.mod and built into here when it changes.
TOOLS := $(CURDIR)/bin/tools

##@ Build

# Our version goes to `var version string` of package main where a command declares it. Commands that print
# component-base's version (Kubernetes components do) name the Kubernetes they are made of, and ours after the plus sign.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
COMMIT = $(shell git rev-parse HEAD 2>/dev/null || echo unknown)
COMMIT_DATE = $(shell TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd 2>/dev/null || echo 1970-01-01T00:00:00Z)
BUILT_WITH = $(shell go list -m -f '{{.Version}}' k8s.io/kubernetes)
BUILT_WITH_PARTS = $(subst ., ,$(BUILT_WITH:v%=%))

# What "build" builds.
PROGRAMS = $(addprefix bin/,$(notdir $(wildcard cmd/*)))

# What programs say they are: by themselves, of the Kubernetes in them, and as clients.
LDFLAGS = -s -w -X main.version=$(VERSION) $(foreach package,k8s.io/component-base/version k8s.io/client-go/pkg/version, \
	-X $(package).gitVersion=$(BUILT_WITH)+loadline-$(VERSION) \
	-X $(package).gitMajor=$(word 1,$(BUILT_WITH_PARTS)) \
	-X $(package).gitMinor=$(word 2,$(BUILT_WITH_PARTS)) \
	-X $(package).gitCommit=$(COMMIT) \
	-X $(package).buildDate=$(COMMIT_DATE))

GO_BUILD = CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)'

.PHONY: build
build: ## Build every command of cmd/ into bin/
	@mkdir -p bin
	$(GO_BUILD) -o bin/ ./cmd/...

# Images, and what else is released, come from the Go of .go-version, and say of which commit they are: every build has the same
# digests.
PLATFORMS ?= linux/$(shell go env GOARCH)
RELEASE_GO = GOTOOLCHAIN=go$(shell cat .go-version)

.PHONY: images
images: $(TOOLS)/cluster ## Make an image of every command, without Docker, in out/images (PLATFORMS='linux/amd64 linux/arm64')
	@mkdir -p out/images
	@for platform in $(PLATFORMS); do \
		mkdir -p "bin/$$platform"; \
		$(RELEASE_GO) GOOS=$${platform%/*} GOARCH=$${platform#*/} $(GO_BUILD) -buildvcs=auto -o "bin/$$platform/" ./cmd/...; \
	done
	$(TOOLS)/cluster image out/images $(foreach platform,$(PLATFORMS),$(PROGRAMS:bin/%=bin/$(platform)/%)) | tee out/images/digests.txt

.PHONY: clean
clean: ## Remove what the other targets make
	rm -rf bin out bench.txt

##@ Check

.PHONY: test
test: test-unit test-integration test-cluster ## Run all tests: unit, integration, and those of the local control plane

# Properties are tried on the same random inputs in every run, so that the run says something about the change and not about the draw.
# RAPID_SEED=0 draws others, and names the seed of what fails.
export RAPID_SEED ?= 1

UNIT = go list ./... | grep -vE '/(test|hack)/'
# The race detector watches everything but the model and the command line, which calls it: arithmetic, which it slows down
# tenfold; and but what starts the scheduler, for which it would have all of kube-scheduler compiled once more. Of the
# simulated measurements and of the random clusters of the plugin and of plans it watches a part; all of them run without it.
UNWATCHED = /pkg/(model|cli)/|/pkg/cli$$|/cmd/(kubectl-loadline|loadline-scheduler)$$
SIMULATED = /pkg/controllers/measurement$$|/pkg/plugins/dilation$$|/pkg/evaluate/plan$$

.PHONY: test-unit
test-unit: ## Run the tests that need no control plane
	$(UNIT) | grep -vE '$(UNWATCHED)' | xargs -r go test -race -timeout 20m
	$(UNIT) | grep -E '$(UNWATCHED)|$(SIMULATED)' | xargs -r go test -timeout 20m
	cd hack/experiments && go test -timeout 20m ./...
	cd hack/oldest && go test -timeout 20m ./...

# One package at a time: each starts a control plane of its own, the first of all builds it (some minutes).
.PHONY: test-integration
test-integration: chromium $(TOOLS)/prometheus $(TOOLS)/promtool $(TOOLS)/helm ## Run the tests against a real API server, started for them (KUBERNETES=1.35)
	export LOADLINE_KUBERNETES='$(KUBERNETES)'; go list ./... | sed -ne '\|/test/|p' -e '\|/hack/|p' | xargs -r go test -p 1 -parallel 4 -timeout 25m

# Debian's browser, and the font that pages are written in. Elsewhere, or without root, the tests say what is missing.
UI_PACKAGES := chromium fonts-liberation

.PHONY: chromium
chromium: ## Install Debian's Chromium, for the tests of pages
	@if [[ $$(id -u) == 0 ]] && command -v apt-get >/dev/null && ! dpkg -s $(UI_PACKAGES) >/dev/null 2>&1; then \
		apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $(UI_PACKAGES); fi
	@command -v chromium chromium-browser google-chrome >/dev/null || \
		echo 'test/ui is left out: there is no Chromium, which only root can install, on Debian' >&2

.PHONY: test-ui
test-ui: chromium ## Open every page in a real browser (ARGS='-screenshots out/ui')
	go test -count 1 -timeout 10m ./test/ui -args $(ARGS)

.PHONY: prometheus
prometheus: $(TOOLS)/prometheus ## Build the Prometheus that the integration tests ask

.PHONY: test-cluster
test-cluster: ## Run the tests of hack/cluster, the local control plane
	cd hack/cluster && go test -count 1 -p 1 -timeout 20m ./...

.PHONY: test-kueue
test-kueue: $(TOOLS)/kueue ## Run the test with Kueue, which it builds the first time (some minutes)
	go test -tags kueue -count 1 -timeout 20m ./test/kueue -kueue=$(TOOLS)/kueue

# The Debian packages that the plugin for Headlamp is built with.
HEADLAMP_PACKAGES := nodejs npm

.PHONY: headlamp-packages
headlamp-packages:
	@if [[ $$(id -u) == 0 ]] && command -v apt-get >/dev/null && ! { command -v node && command -v npm; } >/dev/null; then \
		apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $(HEADLAMP_PACKAGES); fi
	@{ command -v node && command -v npm; } >/dev/null || { echo 'node or npm is missing: please install Node.js 20.11 or later with npm' >&2; exit 1; }
	@node -e 'const [major, minor] = process.versions.node.split("."); process.exit(major > 20 || major == 20 && minor >= 11 ? 0 : 1)' || \
		{ echo "Node.js $$(node --version) is too old: please install 20.11 or later" >&2; exit 1; }

# It takes packages from an npm registry; "make test" does not.
.PHONY: test-headlamp
test-headlamp: headlamp-packages ## Lint, test and build the plugin for Headlamp in ui/headlamp
	cd ui/headlamp && npm ci && npm run format -- --check && npm run lint && npm run tsc && CI=true npm test && npm run build

# How long each fuzz target runs, which of them do, and the folder in which they are looked for.
FUZZTIME ?= 1m
FUZZ ?= .
FUZZ_IN ?= .

# The go command runs one target of one package at a time. The others run even when one before them has failed; the inputs that
# failed stay in testdata/fuzz of their packages, where "make test" runs them again.
.PHONY: fuzz
fuzz: ## Run every fuzz target, one after the other (FUZZTIME=10s FUZZ=ReadSWF)
	@targets=$$(grep -rEo --include='*_test.go' $(NOT_SOURCE:%=--exclude-dir=%) --exclude-dir=testdata '^func Fuzz\w*' '$(FUZZ_IN)' | sort | grep -E 'func .*($(FUZZ))') || \
		{ echo 'no fuzz target is called $(FUZZ)' >&2; exit 2; }; \
	failed=0; while IFS=: read -r file target; do \
		target=$${target#func }; echo "fuzz $$target of $$(dirname "$$file")"; \
		(cd "$$(dirname "$$file")" && go test -run '^$$' -fuzz "^$$target$$" -fuzztime '$(FUZZTIME)' . </dev/null) || failed=1; \
	done <<<"$$targets"; exit $$failed

# Every module is read even when one before it has failed.
LINT = run() { failed=0; for module in $(MODULES); do \
	echo "lint $$module"; (cd "$$module" && $(TOOLS)/golangci-lint run --config $(CURDIR)/.golangci.yml "$$@" ./...) || failed=1; \
	done; return $$failed; }; run

# The Debian packages that real nodes need. Elsewhere, or without root, the local cluster says what is missing.
NODE_PACKAGES := containerd runc containernetworking-plugins iptables iproute2

.PHONY: node-packages
node-packages: ## Install the Debian packages that real nodes need
	@if [[ $$(id -u) == 0 ]] && command -v apt-get >/dev/null && ! dpkg -s $(NODE_PACKAGES) >/dev/null 2>&1; then \
		apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $(NODE_PACKAGES); fi

.PHONY: test-nodes
test-nodes: node-packages ## Run the tests of real nodes, as root
	cd hack/cluster && go test -tags e2e -count 1 -timeout 15m -run Real .

# Helm installs Loadline, upgrades it and takes it away; then it stays for the end-to-end tests. Last, what it has asked of
# the API server in all of them says whether it has the rights that it needs, and no other.
# The cluster runs on cores that worker-1 has no part in, and so do the builds and tests that "run" runs.
.PHONY: e2e
e2e: node-packages $(TOOLS)/cluster $(TOOLS)/helm ## Run the end-to-end tests on real nodes of this machine, as root (ARGS='-run Replay' KUBERNETES=1.35)
	$(TOOLS)/cluster run --kubernetes '$(KUBERNETES)' --audit-log '$(AUDIT_LOG)' --real-nodes 2 $(MAKE) --no-print-directory e2e-on-nodes

AUDIT_LOG := $(CURDIR)/out/e2e/audit.log

# The minor version of the control plane and the nodes, of those in hack/cluster/binaries; empty for the one that ours are built with.
KUBERNETES ?=

# With ARGS, those tests alone.
.PHONY: e2e-on-nodes
e2e-on-nodes: build
	$(TOOLS)/cluster load $(PROGRAMS)
	$(if $(ARGS),$(APPLY),$(INSTALL) -run Installation)
	$(E2E) '-node-command=$(TOOLS)/cluster node'
	$(if $(ARGS),,$(INSTALL) -run Rights '-audit-log=$(AUDIT_LOG)')

# With localhost for the registry that the images are not pulled from: nodes have them already, by their digests.
.PHONY: e2e-release
e2e-release: export REGISTRY = localhost
e2e-release: node-packages $(TOOLS)/cluster $(TOOLS)/helm $(TOOLS)/cosign ## Make the files of a release, verify them and install it from them on real nodes of this machine, as root
	$(MAKE) --no-print-directory images
	$(MAKE) --no-print-directory release-snapshot
	$(TOOLS)/cluster run --real-nodes 2 $(MAKE) --no-print-directory e2e-release-on-nodes

.PHONY: e2e-release-on-nodes
e2e-release-on-nodes:
	$(TOOLS)/cluster load --registry $(REGISTRY) $(PROGRAMS:bin/%=out/images/%)
	$(INSTALL) -run Release '-cosign=$(TOOLS)/cosign' '-released=$(CURDIR)/out'

# The image of kind's nodes: one that is published, kind's own unless it is named, or "local", which is made here and needs no registry.
NODE_IMAGE ?=

# Where the latter's packages come from: the mirror that this machine's apt has, unless another is named.
DEBIAN_MIRROR ?=
KIND_NODE_IMAGE = $(TOOLS)/cluster kind-image --debian-mirror '$(DEBIAN_MIRROR)'

.PHONY: e2e-kind
e2e-kind: kind-parts ## Run the end-to-end tests on kind, which needs Docker; as root without a registry, too (ARGS='-run Replay' NODE_IMAGE=local)
	$(TOOLS)/cluster docker $(MAKE) --no-print-directory e2e-on-kind

.PHONY: kind-up
kind-up: kind-parts ## Start kind with Loadline's images in the foreground, until Ctrl-C (NODE_IMAGE=local)
	$(TOOLS)/cluster docker $(MAKE) --no-print-directory up-on-kind

.PHONY: kind-parts
kind-parts: $(if $(filter local,$(NODE_IMAGE)),kind-node-image,docker) $(TOOLS)/cluster $(TOOLS)/kind $(TOOLS)/helm images

.PHONY: e2e-on-kind up-on-kind
e2e-on-kind up-on-kind: export KUBECONFIG = $(CURDIR)/out/kind.kubeconfig

e2e-on-kind: build
	@mkdir -p $(dir $(AUDIT_LOG))
	$(START_KIND); \
	$(if $(ARGS),$(APPLY),$(INSTALL_ON_KIND) -run Installation); \
	$(E2E) '-node-command=$(TOOLS)/cluster kind-node'; \
	$(if $(ARGS),,docker exec loadline-e2e-control-plane cat /var/log/loadline/audit.log >'$(AUDIT_LOG)'; $(INSTALL_ON_KIND) -run Rights '-audit-log=$(AUDIT_LOG)')

up-on-kind:
	$(START_KIND); echo 'kind runs until Ctrl-C. In another terminal: export KUBECONFIG=$(KUBECONFIG)'; sleep infinity

# The control plane gets out of the way of a worker with which it shares a processor, and the network of pods leaves a worker's whole
# processor for pods to request.
START_KIND = $(if $(filter local,$(NODE_IMAGE)),archive=$$($(KIND_NODE_IMAGE)); docker load --quiet --input "$$archive";) \
	trap '$(TOOLS)/kind delete cluster --name loadline-e2e' EXIT; \
	$(TOOLS)/kind create cluster --config <($(TOOLS)/cluster kind-config) --wait 5m $(if $(NODE_IMAGE),--image '$(NODE_IMAGE:local=loadline/kind-node:dev)'); \
	docker update --cpu-shares 128 loadline-e2e-control-plane; \
	$(if $(filter local,$(NODE_IMAGE)),,$(KUBECTL) --namespace kube-system set resources daemonset kindnet --requests cpu=0;) \
	for program in $(PROGRAMS); do $(TOOLS)/kind load image-archive --name loadline-e2e out/images/$$(basename $$program).tar; done

.PHONY: docker
docker:
	@docker info >/dev/null 2>&1 || { echo 'kind needs Docker, and "docker info" fails; make e2e does without, and so does NODE_IMAGE=local' >&2; exit 1; }

# The Debian packages that make the image of a node here, and the Docker that runs it.
KIND_PACKAGES := debootstrap docker.io iptables

.PHONY: kind-node-packages
kind-node-packages:
	@if [[ $$(id -u) == 0 ]] && command -v apt-get >/dev/null && ! dpkg -s $(KIND_PACKAGES) >/dev/null 2>&1; then \
		apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $(KIND_PACKAGES); fi

.PHONY: test-docker
test-docker: kind-node-packages ## Run the tests of the Docker daemon that make e2e-kind starts where none answers, as root
	cd hack/cluster && go test -tags e2e -count 1 ./dockerd

.PHONY: kind-node-image
kind-node-image: kind-node-packages $(TOOLS)/cluster ## Make an image of kind's nodes of Debian's packages and Go modules, as root; no registry needed
	$(KIND_NODE_IMAGE)

# On the cluster that KUBECONFIG names. Tests wait for each other where they need the same node.
APPLY = base=default; \
	$(KUBECTL) get --raw /apis/admissionregistration.k8s.io/v1 | grep mutatingadmissionpolicies >/dev/null || base=without-pools; \
	$(KUBECTL) apply --server-side -k "$(CURDIR)/config/$$base"; \
	$(KUBECTL) apply --server-side -f "$(CURDIR)/config/remediation/remediator.yaml" -f "$(CURDIR)/config/remediation/binding.yaml"; \
	$(KUBECTL) --namespace loadline-system patch deployment loadline-manager --type json --patch "$(MANAGER_FOR_TESTS)"
# What config/remediation adds; and a worker of one core has room for such runs of replays beside its gauge.
MANAGER_FOR_TESTS = [{op: add, path: /spec/template/spec/containers/0/args/-, value: --remediation}, \
	{op: add, path: /spec/template/spec/containers/0/args/-, value: --replay-cpu=900m}]
E2E = go test -tags e2e -count 1 -timeout 90m -parallel 8 -v ./test/e2e $(ARGS)
HELM_TESTS = go test -tags e2e -count 1 -timeout 60m -v ./test/install '-helm=$(TOOLS)/helm'
INSTALL = $(HELM_TESTS) '-kubectl=$(TOOLS)/cluster kubectl'
INSTALL_ON_KIND = $(HELM_TESTS) '-kubectl=$(TOOLS)/cluster --kubeconfig=$(KUBECONFIG) kubectl'
KUBECTL = go -C hack/cluster/binaries/node tool kubectl

.PHONY: lint
lint: $(TOOLS)/golangci-lint lint-chart lint-rules lint-release lint-vulnerabilities ## Lint every module, the chart and its rules, and what releases are made with
	@$(LINT)

.PHONY: lint-chart
lint-chart: $(TOOLS)/helm ## Lint the chart with each of its values of charts/loadline/ci
	@echo "lint charts/loadline"; for values in charts/loadline/ci/*-values.yaml; do \
		$(TOOLS)/helm lint charts/loadline --strict --quiet --kube-version '$(BUILT_WITH:v%=%)' --values "$$values"; done

LINT_PACKAGES := shellcheck

.PHONY: lint-packages
lint-packages:
	@if [[ $$(id -u) == 0 ]] && command -v apt-get >/dev/null && ! dpkg -s $(LINT_PACKAGES) >/dev/null 2>&1; then \
		apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $(LINT_PACKAGES); fi
	@command -v shellcheck >/dev/null || { echo 'shellcheck is missing: please install it' >&2; exit 1; }

# Its tests read files outside of their module, which Go's cache of test results does not look at; so does one of hack/cluster.
.PHONY: lint-release
lint-release: lint-packages $(TOOLS)/actionlint ## Lint workflows, scripts, the Dockerfile and what GoReleaser reads
	$(TOOLS)/actionlint
	shellcheck .ci/run
	cd hack/release && go test -count 1 ./...

.PHONY: lint-rules
lint-rules: $(TOOLS)/promtool ## Lint the recording rules and alerts
	@$(TOOLS)/promtool check rules --lint=all --lint-fatal charts/loadline/rules/*.yaml

# The modules whose programs are released, in their folders cmd.
RELEASED ?= .

# The database of known vulnerabilities. Without it nothing is checked, which is an error where vulnerabilities are "required".
GOVULNDB ?= https://vuln.go.dev
VULNERABILITIES ?=

# The database is asked about a module first, whatever it answers: what fails after that is not for want of the database. The standard
# library that is checked is that of the Go which releases are made with.
GOVULNCHECK = $(TOOLS)/govulncheck -db '$(GOVULNDB)'

.PHONY: lint-vulnerabilities
lint-vulnerabilities: $(TOOLS)/govulncheck ## Look for known vulnerabilities in what is released (VULNERABILITIES=required GOVULNDB=file:///path)
	$(if $(filter-out required,$(VULNERABILITIES)),$(error VULNERABILITIES: "$(VULNERABILITIES)" is neither "required" nor empty))
	@if ! reason=$$(timeout 20 $(GOVULNCHECK) -json -mode query golang.org/x/vuln@v1.0.0 2>&1 >/dev/null); then \
		echo "vulnerabilities are not checked: the database at $(GOVULNDB) cannot be reached: $${reason:-no answer within 20 seconds}" >&2; \
		exit $(if $(VULNERABILITIES),1,0); \
	fi; \
	for module in $(RELEASED); do \
		echo "lint vulnerabilities of $$module"; (cd "$$module" && $(RELEASE_GO) $(GOVULNCHECK) ./cmd/...); \
	done

.PHONY: lint-fix
lint-fix: $(TOOLS)/golangci-lint ## Lint every module and repair what has one right repair
	@$(LINT) --fix

.PHONY: ci
ci: ## Run what continuous integration runs
	.ci/run

##@ Generate

# The generators never delete: a type or a command that is gone must not leave its CRD or its page behind.
.PHONY: generate
generate: $(TOOLS)/controller-gen ## Generate deep copies, CRDs, RBAC roles, what the chart takes from them, and reference pages
	rm -f config/crd/loadline.dev_*.yaml
	$(TOOLS)/controller-gen object paths=./apis/...
	$(TOOLS)/controller-gen crd output:crd:dir=config/crd paths=./apis/loadline/...
	$(TOOLS)/controller-gen rbac:roleName=loadline-manager output:rbac:dir=config/rbac paths=./pkg/controllers/... paths=./cmd/loadline-manager
	go run ./hack/chart
	go run ./hack/pictures
	grep -rlF 'Written by hack/reference' docs/reference | xargs rm -f
	go run ./hack/reference --out docs/reference

.PHONY: accuracy
accuracy: ## Measure all models on the public data sets, into docs/evidence/accuracy.md
	go run ./hack/accuracy

# Generates in a copy, so that neither a stale file nor work in progress is overwritten by asking.
.PHONY: verify-generate
verify-generate: $(TOOLS)/controller-gen ## Fail with a diff when a generated file is stale
	@copy=$$(mktemp -d); trap 'rm -rf "$$copy"' EXIT; \
	tar -c $(NOT_SOURCE:%=--exclude=./%) --exclude=node_modules . | tar -x -C "$$copy"; \
	$(MAKE) --no-print-directory -C "$$copy" generate TOOLS='$(TOOLS)' >/dev/null; \
	diff -ruN $(NOT_SOURCE:%=--exclude=%) . "$$copy" || { echo 'generated files are stale: run make generate' >&2; exit 1; }

NOT_SOURCE := .git bin out node_modules

##@ Release

# RELEASING.md says what a release contains. What signs is cosign, which must be on the PATH; so must be logged in to REGISTRY.
TAG = $(VERSION:v%=%)
RELEASE_URL ?= https://loadline.dev/releases/download

.PHONY: release-snapshot
release-snapshot: vex $(TOOLS)/goreleaser $(TOOLS)/cluster ## Make the files of a release in out/release, with the chart after "make images", and publish nothing
	@if [[ -f $(DIGESTS) ]]; then $(MAKE) --no-print-directory chart REGISTRY='$(or $(REGISTRY),localhost)'; fi
	$(GORELEASER) release --snapshot --clean --skip=sign

.PHONY: release
release: vex $(TOOLS)/goreleaser $(TOOLS)/cluster ## Publish the files of a release; the workflow does
	$(GORELEASER) release --clean

GORELEASER = $(RELEASE_GO) LDFLAGS='$(LDFLAGS)' RELEASE_URL='$(RELEASE_URL)' PATH="$(TOOLS):$$PATH" $(TOOLS)/goreleaser

VEX := $(CURDIR)/out/vex/loadline.openvex.json

.PHONY: vex
vex: ## Say what the vulnerabilities in security/vex.yaml mean for a release, in out/vex (VERSION=v1.2.3)
	@mkdir -p $(dir $(VEX))
	@cd hack/release && go run ./vex '$(CURDIR)/security/vex.yaml' '$(VERSION)' '$(COMMIT_DATE)' '$(VEX)'

.PHONY: push-images
push-images: registry $(TOOLS)/crane ## Push what "make images" made (REGISTRY=host/path VERSION=v1.2.3); the workflow does
	@for program in $(PROGRAMS:bin/%=%); do \
		$(TOOLS)/crane push out/images/$$program $(REGISTRY)/loadline/$$program:$(TAG); \
	done | tee out/images/pushed.txt

.PHONY: sign-images
sign-images: vex $(TOOLS)/crane
	@while read -r image; do \
		cosign sign --yes "$$image" </dev/null; \
		for platform in $(PLATFORMS); do \
			digest=$$($(TOOLS)/crane digest --platform "$$platform" "$$image"); \
			program=$${image%@*}; \
			cosign attest --yes --type cyclonedx --predicate "out/images/$${program##*/}_$${platform/\//_}.cdx.json" "$$program@$$digest" </dev/null; \
			cosign attest --yes --type openvex --predicate '$(VEX)' "$$program@$$digest" </dev/null; \
		done; \
	done <out/images/pushed.txt

# What "make images" says of them: a released chart names its images by these, whatever becomes of tags.
DIGESTS := out/images/digests.txt

.PHONY: chart
chart: registry $(TOOLS)/helm ## Pack the chart with the digests of what "make images" made, in out/charts (REGISTRY=host/path VERSION=v1.2.3)
	@test -f $(DIGESTS) || { echo 'no $(DIGESTS): run make images first' >&2; exit 2; }
	go run ./hack/chart/pin '$(REGISTRY)' $(DIGESTS) out/charts/loadline
	$(TOOLS)/helm package out/charts/loadline --destination out/charts $(if $(filter v%,$(VERSION)),--version $(TAG) --app-version $(TAG))

.PHONY: push-chart
push-chart: chart ## Push the chart; the workflow does
	$(TOOLS)/helm push out/charts/loadline-$(TAG).tgz oci://$(REGISTRY)/loadline/charts $(HELM_ARGS)

.PHONY: sign-chart
sign-chart: registry $(TOOLS)/crane
	@chart=$(REGISTRY)/loadline/charts/loadline; cosign sign --yes "$$chart@$$($(TOOLS)/crane digest "$$chart:$(TAG)")"

.PHONY: registry
registry:
	@test -n '$(REGISTRY)' || { echo 'which registry? Say REGISTRY=host/path' >&2; exit 2; }

##@ Measure

PKG ?= ./pkg/...
COUNT ?= 6
BASE ?= bench-base.txt

.PHONY: bench
bench: ## Run the benchmarks into bench.txt (PKG=./pkg/model/... COUNT=6)
	go test -run '^$$' -bench . -benchmem -count $(COUNT) -timeout 60m $(PKG) | tee bench.txt

.PHONY: bench-compare
bench-compare: $(TOOLS)/benchstat ## Compare bench.txt with an earlier run (BASE=bench-base.txt)
	@test -f '$(BASE)' || { echo 'no $(BASE): run make bench on the commit to compare with and keep its bench.txt, or name one with BASE=' >&2; exit 2; }
	$(TOOLS)/benchstat '$(BASE)' bench.txt

.PHONY: perf
perf: ## Measure what Loadline costs at scheduling time, in many hours (ARGS=-perf-quick, ARGS='-perf-topics SchedulingBasic')
	go test -tags perf -run '^$$' -bench . -timeout 48h ./test/perf $(if $(ARGS),-args $(ARGS))

.PHONY: demo-nodes
demo-nodes: build experiments $(TOOLS)/cluster ## Measure, predict and place jobs on real nodes; needs root, takes an hour or two (ARGS=--quick)
	$(TOOLS)/demonodes $(ARGS)

.PHONY: compare-nodes
compare-nodes: node-packages build experiments $(TOOLS)/cluster $(TOOLS)/trimaran ## Compare Loadline with other schedulers by real programs on real nodes; needs root and a quiet machine, takes half an hour (ARGS='--batches 2')
	$(TOOLS)/comparenodes --trimaran $(TOOLS)/trimaran $(ARGS)

# The emulator that the kernel lab boots kernels in, and what builds the program that runs there.
LAB_PACKAGES := qemu-system-x86 gcc libc6-dev

.PHONY: lab-packages
lab-packages: ## Install the Debian packages that the kernel lab needs
	@if [[ $$(id -u) == 0 ]] && command -v apt-get >/dev/null && ! dpkg -s $(LAB_PACKAGES) >/dev/null 2>&1; then \
		apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $(LAB_PACKAGES); fi

# One of those that "go run ./hack/kernellab kernels" lists, and a table of mixes of pods; without one they are drawn.
KERNEL ?= 6.12
PROCESSORS ?= 1
MIXES ?=

.PHONY: kernel-lab
kernel-lab: lab-packages ## Run mixes of pods on a real kernel in an emulator, and compare the model (KERNEL=6.1 PROCESSORS=4 MIXES=mixes.csv ARGS='--cgroup 1')
	@mkdir -p out/kernellab
	$(if $(MIXES),cp '$(MIXES)',go run ./hack/kernellab draw --processors '$(PROCESSORS)' >) out/kernellab/mixes.csv
	go run ./hack/kernellab run --kernel '$(KERNEL)' --processors '$(PROCESSORS)' $(if $(DEBIAN_MIRROR),--debian-mirror '$(DEBIAN_MIRROR)') $(ARGS) out/kernellab/mixes.csv >out/kernellab/results.csv
	go run ./hack/kernellab compare out/kernellab/results.csv

.PHONY: gauge-lab
gauge-lab: lab-packages ## Run a gauge beside mixes of pods in that emulator, and compare it with them (MIXES=mixes.csv KERNEL=6.1 ARGS='--cgroup-driver cgroupfs')
	$(GO_BUILD) -o out/kernellab/ ./cmd/loadline-gauge
	go run ./hack/kernellab gauge --gauge out/kernellab/loadline-gauge --kernel '$(KERNEL)' $(if $(DEBIAN_MIRROR),--debian-mirror '$(DEBIAN_MIRROR)') $(ARGS) '$(MIXES)'

.PHONY: test-lab
test-lab: lab-packages ## Run the tests of the kernel lab, with kernels
	$(GO_BUILD) -o out/kernellab/ ./cmd/loadline-gauge
	go test -count 1 ./hack/kernellab -kernels '$(CURDIR)/out/kernellab' -gauge '$(CURDIR)/out/kernellab/loadline-gauge'

.PHONY: disk-lab
disk-lab: ## Run pods that time themselves beside each other at the disk of this machine, and compare models of it; needs Linux and root, takes an hour or two (ARGS='--mixes 10 --dir /mnt/disk')
	$(GO_BUILD) -o out/disklab/ ./hack/disklab
	nice -n -20 out/disklab/disklab record -o out/disklab/recording.json.gz $(ARGS)
	out/disklab/disklab fit out/disklab/recording.json.gz

.PHONY: disk-quiet
disk-quiet: ## Count what is found wrongly at the disk of this machine while it is little used; needs Linux and root, takes ten minutes (ARGS='--intervals 1000')
	$(GO_BUILD) -o out/disklab/ ./hack/disklab
	nice -n -20 out/disklab/disklab quiet $(ARGS)

# The Debian packages of the programs that are run.
PROGRAM_PACKAGES := sqlite3 redis-server gcc libc6-dev

.PHONY: disk-programs
disk-programs: ## Run real programs beside each other at the disk of this machine, and compare what is said of them; needs Linux and root, takes a quarter of an hour
	@if command -v apt-get >/dev/null && ! dpkg -s $(PROGRAM_PACKAGES) >/dev/null 2>&1; then \
		apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $(PROGRAM_PACKAGES); fi
	$(GO_BUILD) -o out/disklab/ ./hack/disklab
	nice -n -20 out/disklab/disklab programs $(ARGS)

.PHONY: work-lab
work-lab: ## Run a web server beside a cache thrasher, and compare its inflation with a fixed piece of work; needs Linux, root and two idle processors, takes 40 minutes
	@mkdir -p out/worklab
	$(GO_BUILD) -o out/worklab/ ./hack/worklab
	nice -n -20 out/worklab/worklab -o out/worklab/recording.json.gz $(ARGS)

.PHONY: compare
compare: $(TOOLS)/trimaran ## Compare Loadline with other schedulers on a shared cluster that is made up (ARGS='--nodes 50 --seeds 1')
	go run ./hack/compare --trimaran $(TOOLS)/trimaran $(ARGS)

.PHONY: rebalance
rebalance: $(TOOLS)/descheduler ## Compare Loadline's plan with the descheduler over a day that is made up; takes an hour or two (ARGS='--nodes 50 --seeds 1')
	go run ./hack/rebalance --descheduler $(TOOLS)/descheduler $(ARGS)

.PHONY: scale
scale: ## Run Loadline on 1,000 nodes with 30,000 pods that KWOK plays, and show what each part takes (ARGS='--nodes 50 --keep')
	go run ./hack/scale $(ARGS)

.PHONY: chaos
chaos: ## Have everything around Loadline fail at random, and check what it promises; 20 seeds take half an hour (ARGS='--first 7 --seeds 1')
	go run ./hack/chaos $(ARGS)

# The audit policy has the answers to what Loadline writes, which say whether it changed anything.
SOAK_LOG := $(CURDIR)/out/soak/audit.log

.PHONY: soak
soak: node-packages $(TOOLS)/cluster $(TOOLS)/helm ## Run all of Loadline for two hours that are nearly a day, on real nodes and KWOK, as root, and say whether anything grows (ARGS='--for 15m --cycle 1m')
	$(TOOLS)/cluster run --audit-log '$(SOAK_LOG)' --audit-policy '$(CURDIR)/hack/soak/audit-policy.yaml' --nodes 1 --real-nodes 2 \
		$(MAKE) --no-print-directory soak-on-nodes

.PHONY: soak-on-nodes
soak-on-nodes: build
	$(TOOLS)/cluster load $(PROGRAMS)
	$(GO_BUILD) -o out/soak/ ./hack/soak
	out/soak/soak --audit-log '$(SOAK_LOG)' --helm $(TOOLS)/helm $(ARGS)

.PHONY: savings-map
savings-map: ## Find out where Loadline saves how much, by simulation, for kubectl loadline status and docs/comparison.md (ARGS='--pods 1200')
	go run ./hack/savingsmap $(ARGS)
	go run ./hack/pictures

.PHONY: experiments
experiments:
	@mkdir -p $(TOOLS)
	@cd hack/experiments && $(GO_BUILD) -o $(TOOLS)/ ./...

##@ Try

OUT ?= out/demo

.PHONY: demo
demo: ## Run the demonstration; its charts go to OUT=out/demo
	go run ./hack/demo --out '$(OUT)'

.PHONY: cluster-up
cluster-up: $(TOOLS)/cluster ## Start a local control plane in the foreground (ARGS='--nodes 100')
	$(TOOLS)/cluster up $(ARGS)

.PHONY: cluster-down
cluster-down: $(TOOLS)/cluster ## Stop the local control plane
	$(TOOLS)/cluster down

##@ Help

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^##@ / {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  %-20s %s\n", $$1, $$2}' Makefile

# Rules are for absolute paths, as recipes run in other folders. This one is for "make bin/tools/helm".
bin/tools/%: $(TOOLS)/% ;

$(TOOLS)/golangci-lint: TOOL = github.com/golangci/golangci-lint/v2/cmd/golangci-lint
$(TOOLS)/controller-gen: TOOL = sigs.k8s.io/controller-tools/cmd/controller-gen
$(TOOLS)/benchstat: TOOL = golang.org/x/perf/cmd/benchstat
$(TOOLS)/kind: TOOL = sigs.k8s.io/kind
$(TOOLS)/govulncheck: TOOL = golang.org/x/vuln/cmd/govulncheck

$(TOOLS)/golangci-lint $(TOOLS)/controller-gen $(TOOLS)/benchstat $(TOOLS)/kind $(TOOLS)/govulncheck: hack/tools/go.mod hack/tools/go.sum
	@echo "build $(@F) (the first time takes a minute)"
	@cd hack/tools && go build -o $@ $(TOOL)
	@touch $@

$(TOOLS)/actionlint: TOOL = github.com/rhysd/actionlint/cmd/actionlint
$(TOOLS)/crane: TOOL = github.com/google/go-containerregistry/cmd/crane
$(TOOLS)/goreleaser: TOOL = github.com/goreleaser/goreleaser/v2

$(TOOLS)/actionlint $(TOOLS)/crane $(TOOLS)/goreleaser: hack/release/go.mod hack/release/go.sum
	@echo "build $(@F) (goreleaser takes some minutes the first time)"
	@cd hack/release && go build -o $@ $(TOOL)
	@touch $@

$(TOOLS)/cosign: hack/cosign/go.mod hack/cosign/go.sum
	@echo "build cosign (the first time takes some minutes)"
	@cd hack/cosign && go build -o $@ github.com/sigstore/cosign/v3/cmd/cosign
	@touch $@

# Helm takes a cluster that it does not see for one of the Kubernetes that its Makefile, from its client-go, says here.
HELM_KUBERNETES = $(shell cd hack/helm && go list -m -f '{{.Version}}' k8s.io/client-go | cut -d. -f2)
HELM_LDFLAGS = -s -w $(foreach package,chartutil lint/rules,-X helm.sh/helm/v3/pkg/$(package).k8sVersionMajor=1 -X helm.sh/helm/v3/pkg/$(package).k8sVersionMinor=$(HELM_KUBERNETES))

$(TOOLS)/helm: hack/helm/go.mod hack/helm/go.sum
	@echo "build helm (the first time takes some minutes)"
	@cd hack/helm && go build -ldflags '$(HELM_LDFLAGS)' -o $@ helm.sh/helm/v3/cmd/helm
	@touch $@

# Ours, so the go command knows when it has changed.
.PHONY: $(TOOLS)/cluster
$(TOOLS)/cluster:
	@cd hack/cluster && go build -o $@ .

# The server and the tester alone: neither service discovery nor pages are of use to a test.
$(TOOLS)/prometheus: TOOL = github.com/prometheus/prometheus/cmd/prometheus
$(TOOLS)/promtool: TOOL = github.com/prometheus/prometheus/cmd/promtool

$(TOOLS)/prometheus $(TOOLS)/promtool: hack/prometheus/go.mod hack/prometheus/go.sum
	@echo "build $(@F) (the first time takes some minutes)"
	@cd hack/prometheus && go build -tags remove_all_sd -o $@ $(TOOL)
	@touch $@

$(TOOLS)/trimaran: hack/trimaran/go.mod hack/trimaran/go.sum
	@echo "build Trimaran's scheduler (the first time takes some minutes)"
	@cd hack/trimaran && CGO_ENABLED=0 go build -o $@ sigs.k8s.io/scheduler-plugins/cmd/scheduler
	@touch $@

$(TOOLS)/descheduler: hack/descheduler/go.mod hack/descheduler/go.sum
	@echo "build the descheduler (the first time takes some minutes)"
	@cd hack/descheduler && CGO_ENABLED=0 go build -o $@ sigs.k8s.io/descheduler/cmd/descheduler
	@touch $@

$(TOOLS)/kueue: hack/kueue/go.mod hack/kueue/go.sum
	@echo "build Kueue's manager (the first time takes some minutes)"
	@cd hack/kueue && CGO_ENABLED=0 go build -o $@ sigs.k8s.io/kueue/cmd/kueue
	@touch $@
