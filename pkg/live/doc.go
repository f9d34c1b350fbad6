// Package live serves the live page of a cluster: who slows whom, what would help, each pod and each node, and where a manifest would go.
//
// A [Server] looks at a cluster, through a [Source], as long as pages of it are open, and answers with pages of package page, made by the
// same functions as the answers of the command line: numbers on a page are those of kubectl loadline who at the same moment. Pages hear by
// server-sent events that there is something new.
//
// Who may see a page, and what of it, an [Access] says: [Own] for a page that one user opens on the own machine, and [Accounts] for one that
// many open, of which each sees the names of the pods that the API server would let them list.
//
// Nothing from the cluster is trusted: pages escape what they show, and each request is bounded in what it costs. Nothing from other sites
// is trusted either: no other page can read an answer, post a form, or frame a page.
package live
