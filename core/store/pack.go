package store

import (
	"bytes"
	"compress/flate"
	"io"
	"strings"
	"sync"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// unitBytes is what one write unit holds: a row that fits costs the same whatever its form.
const unitBytes = 1024

// deflaters are spare compressors. They keep nothing of what they wrote.
var deflaters = sync.Pool{New: func() any {
	w, err := flate.NewWriter(io.Discard, flate.BestSpeed)
	if err != nil { // the level is one that exists
		panic(err)
	}
	return w
}}

// pack gives a body as an attribute of a row that has so many bytes beside it: readable while the row costs one write unit anyway,
// else deflated if that is shorter. A turn says the same text in several events, and conversations say much twice.
func pack(body string, beside int) types.AttributeValue {
	plain := &types.AttributeValueMemberS{Value: body}
	if len(body)+beside <= unitBytes {
		return plain
	}
	var b bytes.Buffer
	w := deflaters.Get().(*flate.Writer)
	defer deflaters.Put(w)
	w.Reset(&b)
	if _, err := io.WriteString(w, body); err != nil || w.Close() != nil || b.Len() >= len(body) {
		return plain
	}
	return &types.AttributeValueMemberB{Value: b.Bytes()}
}

// unpack gives a body that pack made; ok is false for an attribute of another kind.
func unpack(v types.AttributeValue) (body string, ok bool, err error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value, true, nil
	case *types.AttributeValueMemberB:
		var b strings.Builder
		_, err := io.Copy(&b, flate.NewReader(bytes.NewReader(v.Value)))
		return b.String(), true, err
	}
	return "", false, nil
}
