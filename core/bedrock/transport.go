package bedrock

import (
	"bufio"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/schemas"
	"github.com/aws/smithy-go/transport/http/protocol/restjson1"
)

// careful makes one call's HTTP client safe against answers that come very fast, as those of a model on the same
// machine do. The SDK closes the request's body as soon as an answer has begun; net/http may look once more whether the body
// has ended, by WriteTo, which on the SDK's closed body is an error, and for that error it closes the connection, in the middle of
// the answer. A body that can only be read says just that it has ended.
//
// The answer's body is read by the buffer: the SDK takes an event apart by a dozen reads of a few bytes, each of which passes the
// locks of net/http. A buffer gives what is there, so no event waits for the next.
//
// And each call has a codec of its own: the client's one keeps the buffers of the event that it takes apart, unguarded, so streams at
// the same time would race for them (aws/smithy-go#714).
func careful(o *bedrockruntime.Options) {
	if _, shared := o.Protocol.(*restjson1.Protocol); shared {
		o.Protocol = restjson1.New(schemas.AmazonBedrockFrontendService)
	}
	if o.HTTPClient != nil {
		o.HTTPClient = carefully{o.HTTPClient}
	}
}

type carefully struct{ bedrockruntime.HTTPClient }

// Do sends req with a body that can only be read and closed.
func (c carefully) Do(req *http.Request) (*http.Response, error) {
	if req.Body != nil && req.Body != http.NoBody {
		req.Body = struct{ io.ReadCloser }{req.Body}
	}
	res, err := c.HTTPClient.Do(req)
	if err == nil {
		res.Body = buffered{bufio.NewReaderSize(res.Body, readAhead), res.Body}
	}
	return res, err
}

// readAhead is how much of an answer is read at once, in bytes: an event of a few tokens has 200 to 300.
const readAhead = 16 << 10

type buffered struct {
	io.Reader
	io.Closer
}
