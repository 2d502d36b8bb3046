package tool_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/steadfast-agents/steadfast/core/fault"
	"github.com/steadfast-agents/steadfast/core/model"
	"github.com/steadfast-agents/steadfast/core/tool"
)

func TestContent(t *testing.T) {
	empty := []model.ResultPart{{Text: "(no output)"}}
	tests := []struct {
		name   string
		output any
		want   []model.ResultPart
	}{
		{"text", "hello", []model.ResultPart{{Text: "hello"}}},
		{"nothing", nil, empty},
		{"empty text", "", empty},
		{"blank text", " \n\t\u00a0\u2003", empty},
		{"broken text", "a\xffb", []model.ResultPart{{Text: "a\uFFFDb"}}},
		{"struct", struct {
			A string `json:"a"`
		}{"<&>"}, []model.ResultPart{{JSON: json.RawMessage(`{"a":"<&>"}`)}}},
		{"map", map[string]int{"n": 1}, []model.ResultPart{{JSON: json.RawMessage(`{"n":1}`)}}},
		{"empty map", map[string]int{}, []model.ResultPart{{JSON: json.RawMessage(`{}`)}}},
		{"list", []int{1, 2}, []model.ResultPart{{Text: "[1,2]"}}},
		{"number", 42, []model.ResultPart{{Text: "42"}}},
		{"null pointer", (*int)(nil), []model.ResultPart{{Text: "null"}}},
		{"named text", model.User, []model.ResultPart{{Text: "user"}}},
		{"raw object keeps its digits", json.RawMessage(`{"n":9007199254740993,"m":1e400}`), []model.ResultPart{{JSON: json.RawMessage(`{"n":9007199254740993,"m":1e400}`)}}},
		{"raw text", json.RawMessage(`"x"`), []model.ResultPart{{Text: "x"}}},
		{"bytes that are text", []byte("plain"), []model.ResultPart{{Text: "plain"}}},
		{"bytes that are not", []byte{0xff, 0xfe}, []model.ResultPart{{Text: "[2 bytes of binary data left out]"}}},
		{"no bytes", []byte{}, empty},
		{"a part", model.ResultPart{Text: "p"}, []model.ResultPart{{Text: "p"}}},
		{"no parts", []model.ResultPart{}, empty},
		{"blank parts", []model.ResultPart{{Text: " "}, {JSON: json.RawMessage(`{}`)}}, []model.ResultPart{{Text: "(no output)"}, {JSON: json.RawMessage(`{}`)}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tool.Content(tt.output)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Content (-want +got):\n%s", diff)
			}
			checkResult(t, got)
		})
	}
}

func TestContentWithoutJSON(t *testing.T) {
	for name, output := range map[string]any{"a function": func() {}, "raw nonsense": json.RawMessage(`{"a"`), "nothing raw": json.RawMessage(nil)} {
		if got, err := tool.Content(output); !fault.Is(err, fault.Internal) {
			t.Errorf("%s: Content = %v, %v, want Internal", name, got, err)
		}
	}
}

func TestP27HugeResults(t *testing.T) {
	huge := "BEGIN" + strings.Repeat("naïve 🦊 text, ", 350_000) + "END🦊"
	image := fmt.Sprintf(`{"image":{"format":"png","source":{"bytes":"%s"}}}`, base64.StdEncoding.EncodeToString(make([]byte, 4<<20)))
	small := `{"image":{"format":"png","source":{"bytes":"AAAA"}}}`
	tests := []struct {
		name   string
		output any
		want   []string // pieces of the result's text
	}{
		{"5 MB of text", huge, []string{"BEGIN", "END🦊", "bytes cut"}},
		{"5 MB of JSON", map[string]string{"text": huge}, []string{`{"text":"BEGIN`, `END🦊"}`, "bytes cut"}},
		{"an image too large", model.ResultPart{Raw: json.RawMessage(image)}, []string{"[image left out: 5592"}},
		{"an unknown kind", model.ResultPart{Raw: json.RawMessage(`{"hologram":{}}`)}, []string{`unknown kind "hologram" left out`}},
		{"no JSON at all", model.ResultPart{Raw: json.RawMessage(`<xml/>`)}, []string{"unknown kind left out: 6 bytes"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			give := tool.New("give", "gives", func(tool.Context, struct{}) (any, error) { return tt.output, nil })
			output, err := tool.Limit(give, 0).Call(tool.Context{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := text(t, output)
			if len(got) > tool.DefaultMaxResult {
				t.Errorf("%d bytes are left, want at most %d", len(got), tool.DefaultMaxResult)
			}
			for _, w := range tt.want {
				if !strings.Contains(got, w) {
					t.Errorf("result %.80q... lacks %q", got, w)
				}
			}
			checkResult(t, output.([]model.ResultPart))
		})
	}
	give := tool.New("give", "gives", func(tool.Context, struct{}) (any, error) { return model.ResultPart{Raw: json.RawMessage(small)}, nil })
	output, err := tool.Limit(give, 10).Call(tool.Context{}, nil)
	if diff := cmp.Diff([]model.ResultPart{{Raw: json.RawMessage(small)}}, output); err != nil || diff != "" {
		t.Errorf("a small image does not stay (-want +got):\n%s%v", diff, err)
	}
}

func TestLimitSharesAmongParts(t *testing.T) {
	long := strings.Repeat("x", 300)
	give := tool.New("give", "gives", func(tool.Context, struct{}) (any, error) {
		return []model.ResultPart{{Text: long}, {JSON: json.RawMessage(`{"a":"` + long + `"}`)}, {Text: "last"}}, nil
	})
	output, err := tool.Limit(give, 400).Call(tool.Context{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	parts := output.([]model.ResultPart)
	if parts[0].Text != long || len(parts[1].Text) > 100 || !strings.Contains(parts[1].Text, "bytes cut") || parts[2].Text != "last" && !strings.Contains(parts[2].Text, "cut") {
		t.Errorf("parts = %q", parts)
	}
}

// TestP27ManyParts: the limit also holds for a result of very many small parts, and of many media.
func TestP27ManyParts(t *testing.T) {
	image := model.ResultPart{Raw: json.RawMessage(`{"image":{"format":"png","source":{"bytes":"` + strings.Repeat("A", 2_000_000) + `"}}}`)}
	many := make([]model.ResultPart, 0, 100_010)
	for range 5 {
		many = append(many, image)
	}
	for i := range 100_000 {
		many = append(many, model.ResultPart{Text: fmt.Sprint(i)})
	}
	many = append(many, image, model.ResultPart{JSON: json.RawMessage(`{"the":"end"}`)})
	give := tool.New("give", "gives", func(tool.Context, struct{}) (any, error) { return many, nil })
	output, err := tool.Limit(give, 0).Call(tool.Context{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	media, size := 0, 0
	parts := output.([]model.ResultPart)
	for _, p := range parts {
		media, size = media+len(p.Raw), size+len(p.Text)+len(p.JSON)
	}
	if len(parts) > 64 || size > tool.DefaultMaxResult+2048 || media > 5_000_000 || media < 4_000_000 {
		t.Errorf("%d parts, %d bytes of text and %d of media are left", len(parts), size, media)
	}
	told := fmt.Sprint(parts[2:])
	for _, w := range []string{"bytes cut", "[image left out", `{"the":"end"}`} {
		if !strings.Contains(told, w) {
			t.Errorf("the result lacks %q", w)
		}
	}
	checkResult(t, parts[2:])
}

func TestLimitOnce(t *testing.T) {
	wide := tool.Limit(named("a")[0], 100_000)
	if got := tool.Limit(tool.Timeout(wide, 1), 0).Spec().MaxResult; got != 100_000 {
		t.Errorf("the default limit replaced a wider one: MaxResult = %d", got)
	}
	if got := tool.Limit(wide, 10).Spec().MaxResult; got != 10 {
		t.Errorf("MaxResult = %d, want the limit that was asked for", got)
	}
	failing := tool.New("f", "fails", func(tool.Context, struct{}) (string, error) { return "", fault.New(fault.NotFound, "no such order") })
	if _, err := tool.Limit(failing, 0).Call(tool.Context{}, nil); !fault.Is(err, fault.NotFound) {
		t.Errorf("Call = %v, want the tool's own error", err)
	}
}

func TestCut(t *testing.T) {
	tests := []struct {
		name, in string
		max      int
		want     string
	}{
		{"short", "abc", 3, "abc"},
		{"exact note", strings.Repeat("a", 100), 40, "aaaaaaaa\n[... 85 bytes cut ...]\naaaaaaa"},
		{"no room", strings.Repeat("a", 100), 5, "[... 100 bytes cut ...]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tool.Cut(tt.in, tt.max); got != tt.want {
				t.Errorf("Cut = %q, want %q", got, tt.want)
			}
		})
	}
}

func FuzzCut(f *testing.F) {
	f.Add("🦊🦊🦊🦊🦊🦊🦊🦊🦊🦊🦊🦊🦊", 41)
	f.Add(strings.Repeat("é", 60), 50)
	f.Fuzz(func(t *testing.T, s string, max int) {
		s = strings.ToValidUTF8(s, "")
		got := tool.Cut(s, max)
		if !utf8.ValidString(got) {
			t.Fatalf("Cut(%q, %d) = %q is no UTF-8", s, max, got)
		}
		if max >= 60 && len(got) > max {
			t.Fatalf("Cut(%q, %d) has %d bytes", s, max, len(got))
		}
		var n int
		if head, rest, cut := strings.Cut(got, "\n[... "); cut && s != got && max >= 60 {
			if _, err := fmt.Sscanf(rest, "%d bytes cut ...]", &n); err != nil {
				t.Fatalf("Cut(%q, %d) = %q has no note: %v", s, max, got, err)
			}
			_, tail, _ := strings.Cut(rest, " bytes cut ...]\n")
			if !strings.HasPrefix(s, head) || !strings.HasSuffix(s, tail) || n != len(s)-len(head)-len(tail) {
				t.Fatalf("Cut(%q, %d) = %q miscounts", s, max, got)
			}
		}
	})
}

// checkResult puts parts into a request and has the service's rules applied to it.
func checkResult(t *testing.T, parts []model.ResultPart) {
	t.Helper()
	use := model.ToolUse{ID: "c1", Name: "a", Input: json.RawMessage(`{}`)}
	err := model.Check(model.Request{
		Tools: []model.ToolSpec{named("a")[0].Spec().Model()},
		Messages: []model.Message{
			model.Text(model.User, "go"),
			{Role: model.Assistant, Content: []model.Block{{ToolUse: &use}}},
			{Role: model.User, Content: []model.Block{{ToolResult: &model.ToolResult{ID: "c1", Status: model.Success, Content: parts}}}},
		},
	})
	if err != nil {
		t.Errorf("the result is refused: %v", err)
	}
}

// As many parts as may be stay what they are, the last one too.
func TestP27JustEnoughParts(t *testing.T) {
	all := make([]model.ResultPart, 64)
	for i := range all {
		all[i] = model.ResultPart{Text: fmt.Sprint(i)}
	}
	all[63] = model.ResultPart{Raw: json.RawMessage(`{"image":{"format":"png","source":{"bytes":"AAAA"}}}`)}
	output, err := tool.Limit(tool.New("give", "gives", func(tool.Context, struct{}) (any, error) { return all, nil }), 0).Call(tool.Context{}, nil)
	if diff := cmp.Diff(any(all), output); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}
