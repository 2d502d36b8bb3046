package bedrock_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"

	"github.com/steadfast-agents/steadfast/core/bedrock"
	"github.com/steadfast-agents/steadfast/core/model"
	wire "github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

// A model is asked over any endpoint that speaks Bedrock's wire; here, one on this machine.
func ExampleModel_Stream() {
	srv := httptest.NewServer(&wire.Server{Model: wire.Offline{}})
	defer srv.Close()
	lite := bedrock.Model{Client: bedrockruntime.New(bedrockruntime.Options{
		Region: bedrock.DefaultRegion, BaseEndpoint: &srv.URL, Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	})}
	request := model.Request{Messages: []model.Message{model.Text(model.User, "say 3 words")}, Temperature: new(0.2)}
	for event, err := range lite.Stream(context.Background(), request) {
		if err != nil {
			fmt.Println("failed:", err)
			return
		}
		switch e := event.(type) {
		case model.TextDelta:
			fmt.Printf("%q\n", e.Text)
		case model.Stop:
			fmt.Println("stopped:", e.Reason)
		}
	}
	// Output:
	// "word1"
	// " word2"
	// " word3"
	// stopped: end_turn
}
