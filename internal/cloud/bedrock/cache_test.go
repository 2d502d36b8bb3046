package bedrock_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/steadfast-agents/steadfast/internal/cloud/bedrock"
)

// TestCacheFigures: a prefix before a cache point is written once and read by who sends it again; a short one is not kept, and
// another model's is another's.
func TestCacheFigures(t *testing.T) {
	c := client(t, bedrock.Offline{})
	long := strings.Repeat("be kind and brief. ", 300) // 5,700 bytes
	asks := func(model, system string, point bool, texts ...string) string {
		in := &bedrockruntime.ConverseInput{ModelId: &model, System: []types.SystemContentBlock{&types.SystemContentBlockMemberText{Value: system}}}
		if point {
			in.System = append(in.System, &types.SystemContentBlockMemberCachePoint{Value: types.CachePointBlock{Type: types.CachePointTypeDefault}})
		}
		for i, text := range texts {
			role := []types.ConversationRole{types.ConversationRoleUser, types.ConversationRoleAssistant}[i%2]
			in.Messages = append(in.Messages, types.Message{Role: role, Content: []types.ContentBlock{&types.ContentBlockMemberText{Value: text}}})
		}
		out, err := c.Converse(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		u := out.Usage
		if total := aws.ToInt32(u.InputTokens) + aws.ToInt32(u.CacheReadInputTokens) + aws.ToInt32(u.CacheWriteInputTokens) + aws.ToInt32(u.OutputTokens); total != *u.TotalTokens {
			t.Errorf("usage %+v does not add up", u)
		}
		return fmt.Sprintf("read %t written %t", aws.ToInt32(u.CacheReadInputTokens) > 1024, aws.ToInt32(u.CacheWriteInputTokens) > 1024)
	}
	nova := "us.amazon.nova-lite-v1:0"
	for i, tt := range []struct {
		model, system string
		point         bool
		want          string
	}{
		{nova, long, false, "read false written false"},
		{nova, "be kind", true, "read false written false"},
		{nova, long, true, "read false written true"},
		{nova, long, true, "read true written false"},
		{nova, long + "or not", true, "read false written true"},
		{"us.amazon.nova-pro-v1:0", long, true, "read false written true"},
	} {
		if got := asks(tt.model, tt.system, tt.point, "hello", "hi", fmt.Sprint(i)); got != tt.want {
			t.Errorf("request %d: %s, want %s", i, got, tt.want)
		}
	}
}
