package bedrock

import (
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
)

// careful makes one call's HTTP client safe against answers that come very fast, as those of a model on the same
// machine do. The SDK closes the request's body as soon as an answer has begun; net/http may look once more whether the body
// has ended, by WriteTo, which on the SDK's closed body is an error, and for that error it closes the connection, in the middle of
// the answer. A body that can only be read says just that it has ended.
func careful(o *bedrockruntime.Options) {
	if o.HTTPClient != nil {
		o.HTTPClient = readOnly{o.HTTPClient}
	}
}

type readOnly struct{ bedrockruntime.HTTPClient }

// Do sends req with a body that can only be read and closed.
func (c readOnly) Do(req *http.Request) (*http.Response, error) {
	if req.Body != nil && req.Body != http.NoBody {
		req.Body = struct{ io.ReadCloser }{req.Body}
	}
	return c.HTTPClient.Do(req)
}
