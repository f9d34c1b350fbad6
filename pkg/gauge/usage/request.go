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
	// Port is the port that a gauge serves on, unless its flags say otherwise.
	Port = "8443"
)
