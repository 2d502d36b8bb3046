package cloud

import (
	"net/http"

	"github.com/steadfast-agents/steadfast/internal/cloud/queue/awsjson"
)

// parametersTarget is the prefix of the X-Amz-Target header that belongs to the parameter store.
const parametersTarget = "AmazonSSM."

// LocalSecret is the value that the local parameter store has under every name: secrets of a deployment stay there.
func LocalSecret(name string) string { return "local secret of " + name }

// parameters is the local parameter store.
func parameters(w http.ResponseWriter, r *http.Request) {
	p := awsjson.Protocol{ContentType: "application/x-amz-json-1.1", MaxBody: 64 << 10}
	p.Serve(w, r, map[string]awsjson.Operation{"GetParameter": func(_ *http.Request, body []byte) (any, error) {
		var in struct{ Name string }
		if err := awsjson.Decode(body, &in); err != nil {
			return nil, err
		}
		if in.Name == "" {
			return nil, awsjson.Errorf("ValidationException", "a name is needed")
		}
		return map[string]any{"Parameter": map[string]any{"Name": in.Name, "Type": "SecureString", "Value": LocalSecret(in.Name), "Version": 1}}, nil
	}})
}
