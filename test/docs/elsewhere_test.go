package docs

// elsewhere are commands of kubectl, by page and beginning, that are not run here, with the reason. What can be checked of
// them is.
var elsewhere = []struct{ page, begins, why string }{
	{"docs/quickstart.md", "kubectl ", "needs nodes that run pods: test/install runs the page as it stands"},
	{"docs/measure.md", "kubectl get wlp -n etl -w", "watches until it is stopped"},
	{"docs/profiles.md", "kubectl apply -f profile.yaml", "is refused: test/integration has the message"},
	{"docs/replay.md", "kubectl wait ", "needs nodes that run pods: test/e2e"},
	{"docs/replay.md", "kubectl create configmap traces ", "needs a trace of the reader's"},
	{"docs/replay.md", "kubectl get configmap last-week-report ", "needs a replay that was carried out: test/e2e"},
	{"docs/who.md", "kubectl create token ", "needs the chart's service account: test/chart has it"},
	{"docs/install.md", "kubectl krew ", "needs krew, and a file of a release"},
	{"docs/install.md", "kubectl delete ", "would end the cluster for the pages behind it: test/install uninstalls"},
	{"docs/reference/traces.md", "kubectl loadline record ", "needs pods that have run: test/integration records such"},
	{"docs/share.md", "kubectl loadline share --node ", "needs a metrics server: pkg/cli tests it"},
	{"docs/troubleshooting.md", "kubectl loadline status", "needs programs that run: pkg/cli tests it"},
	{"docs/troubleshooting.md", "kubectl logs ", "needs nodes that run pods"},
	{"docs/troubleshooting.md", "kubectl -n loadline-system logs ", "needs nodes that run pods"},
	{"docs/upgrade.md", "kubectl diff -f next.yaml", "needs the manifest that helm makes before"},
	{"docs/upgrade.md", "kubectl delete ", "would end the cluster for the pages behind it: test/install uninstalls"},
}
