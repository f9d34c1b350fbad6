package usage

// What a gauge and those who ask it for a report agree on: GET [Path] by HTTPS, with a bearer token.
const (
	// Path is the path of the URL. A caller needs the right to get it, as a non-resource URL.
	Path = "/v1/usage"
	// LastParameter is the parameter of the query for how many intervals to answer with, the last ones; without it a gauge
	// answers with the newest.
	LastParameter = "last"
	// TokenHeader is the header for the token of a request that comes by way of the API server's proxy, which keeps the
	// header Authorization for itself. A request that comes without a proxy may have either.
	TokenHeader = "Loadline-Token"
	// Audience is the audience that a token must be for, unless the gauge's flags say otherwise: no other server accepts it.
	Audience = "loadline-gauge"
	// Port is the port that gauges and the manager serve on, unless their flags say otherwise.
	Port = "8443"
)

// What the manager and those who ask it for the reports of all nodes agree on: GET [NodesPath], otherwise as a gauge is asked.
const (
	// NodesPath is the path of the URL. It takes the right to get [Path].
	NodesPath = "/v1/nodes/usage"
	// NodeParameter is the parameter of the query for the name of a node to answer about. It may be repeated; without it the
	// manager answers about all.
	NodeParameter = "node"
	// NotLeading is part of the answer, with 503, of a manager that does not collect because another replica leads.
	NotLeading = "another replica leads"
)
