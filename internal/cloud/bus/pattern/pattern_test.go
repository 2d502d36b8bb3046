package pattern_test

import (
	"strings"
	"testing"

	"github.com/steadfast-agents/steadfast/internal/cloud/bus/pattern"
)

// event has the shape of the notification that EventBridge's documentation matches against, with more fields to test on.
const event = `{
	"version": "0", "id": "6a7e8feb", "detail-type": "EC2 Instance State-change Notification", "source": "aws.ec2", "account": "111122223333",
	"time": "2017-10-02T16:00:00Z", "region": "us-west-2",
	"resources": ["arn:aws:ec2:us-west-2:111122223333:instance/i-abcd1111", "arn:aws:autoscaling:us-west-2:111122223333:group/x"],
	"detail": {
		"instance-id": "i-abcd1111", "state": "terminated", "c-count": 3, "d-count": 12, "x-limit": 3.018e2, "e-count": 300.0,
		"source-ip": "10.0.0.123", "ip6": "2001:db8::1", "FileName": "dir/photo.png", "empty": "", "none": null, "yes": true,
		"deep": {"name": "Lambda", "list": ["a", "b", 7]}, "rows": [{"k": "x", "n": 1}, {"k": "y", "n": 2}], "nothing": [], "star": "a*c"
	}}`

func TestMatch(t *testing.T) {
	tests := []struct {
		pattern string
		want    bool
	}{
		{`{"source":["aws.ec2"]}`, true},
		{`{"source":["aws.s3","aws.ec2"]}`, true},
		{`{"source":["aws.s3"]}`, false},
		{`{"source":["aws.ec2"],"detail-type":["EC2 Instance State-change Notification"],"detail":{"state":["running","terminated"]}}`, true},
		{`{"source":["aws.ec2"],"detail":{"state":["running"]}}`, false},
		{`{"missing":["x"]}`, false},
		{`{"resources":["arn:aws:ec2:us-west-2:111122223333:instance/i-abcd1111"]}`, true},
		{`{"resources":[{"prefix":"arn:aws:autoscaling"}]}`, true},
		{`{"time":[{"prefix":"2017-10-02"}]}`, true},
		{`{"time":[{"prefix":"2018"}]}`, false},
		{`{"detail":{"deep":{"name":[{"prefix":{"equals-ignore-case":"LAM"}}]}}}`, true},
		{`{"detail":{"FileName":[{"suffix":".png"}]}}`, true},
		{`{"detail":{"FileName":[{"suffix":".jpg"}]}}`, false},
		{`{"detail":{"FileName":[{"suffix":{"equals-ignore-case":".PNG"}}]}}`, true},
		{`{"detail":{"state":[{"anything-but":"initializing"}]}}`, true},
		{`{"detail":{"state":[{"anything-but":"terminated"}]}}`, false},
		{`{"detail":{"state":[{"anything-but":["stopped","terminated"]}]}}`, false},
		{`{"detail":{"c-count":[{"anything-but":[3,100]}]}}`, false},
		{`{"detail":{"c-count":[{"anything-but":100}]}}`, true},
		{`{"detail":{"missing":[{"anything-but":"x"}]}}`, false},
		{`{"detail":{"state":[{"anything-but":{"prefix":"init"}}]}}`, true},
		{`{"detail":{"state":[{"anything-but":{"prefix":["init","term"]}}]}}`, false},
		{`{"detail":{"FileName":[{"anything-but":{"suffix":".txt"}}]}}`, true},
		{`{"detail":{"FileName":[{"anything-but":{"suffix":[".png"]}}]}}`, false},
		{`{"detail":{"state":[{"anything-but":{"equals-ignore-case":"TERMINATED"}}]}}`, false},
		{`{"detail":{"FileName":[{"anything-but":{"wildcard":"*/photo*"}}]}}`, false},
		{`{"detail":{"c-count":[{"numeric":[">",0,"<=",5]}],"d-count":[{"numeric":["<",10]}]}}`, false},
		{`{"detail":{"c-count":[{"numeric":[">",0,"<=",5]}],"d-count":[{"numeric":[">=",12]}],"x-limit":[{"numeric":["=",301.8]}]}}`, true},
		{`{"detail":{"state":[{"numeric":[">",0]}]}}`, false},
		{`{"detail":{"c-count":[3]}}`, true},
		{`{"detail":{"e-count":[300]}}`, false},
		{`{"detail":{"e-count":[300.0]}}`, true},
		{`{"detail":{"c-count":["3"]}}`, false},
		{`{"detail":{"source-ip":[{"cidr":"10.0.0.0/24"}]}}`, true},
		{`{"detail":{"source-ip":[{"cidr":"10.0.1.0/24"}]}}`, false},
		{`{"detail":{"ip6":[{"cidr":"2001:db8::/32"}]}}`, true},
		{`{"detail":{"state":[{"exists":true}]}}`, true},
		{`{"detail":{"missing":[{"exists":true}]}}`, false},
		{`{"detail":{"missing":[{"exists":false}]}}`, true},
		{`{"detail":{"state":[{"exists":false}]}}`, false},
		{`{"detail":{"missing":{"deeper":[{"exists":false}]}}}`, true},
		{`{"detail":{"missing":[{"exists":false},"x"]}}`, true},
		{`{"detail":{"none":[{"exists":true}]}}`, true},
		{`{"detail":{"deep":[{"exists":true}]}}`, false},
		{`{"detail":{"none":[null]}}`, true},
		{`{"detail":{"empty":[null]}}`, false},
		{`{"detail":{"empty":[""]}}`, true},
		{`{"detail":{"nothing":[{"exists":false}]}}`, true},
		{`{"detail":{"yes":[true]}}`, true},
		{`{"detail":{"yes":["true"]}}`, false},
		{`{"detail-type":[{"equals-ignore-case":"ec2 instance state-change notification"}]}`, true},
		{`{"detail":{"FileName":[{"wildcard":"dir/*.png"}]}}`, true},
		{`{"detail":{"FileName":[{"wildcard":"*photo*"}]}}`, true},
		{`{"detail":{"FileName":[{"wildcard":"dir*/photo.png"}]}}`, true},
		{`{"detail":{"FileName":[{"wildcard":"photo*"}]}}`, false},
		{`{"detail":{"star":[{"wildcard":"a\\*c"}]}}`, true},
		{`{"detail":{"state":[{"wildcard":"termin\\*"}]}}`, false},
		{`{"detail":{"deep":{"list":["b"]}}}`, true},
		{`{"detail":{"deep":{"list":[{"numeric":["<",8]}]}}}`, true},
		{`{"detail":{"rows":{"k":["y"]}}}`, true},
		{`{"detail":{"rows":{"k":["x"],"n":[1]}}}`, true},
		{`{"detail":{"rows":{"k":["x"],"n":[2]}}}`, false},
		{`{"detail":{"$or":[{"c-count":[{"numeric":[">",100]}]},{"d-count":[12]}]}}`, true},
		{`{"detail":{"$or":[{"c-count":[{"numeric":[">",100]}]},{"d-count":[13]}]}}`, false},
		{`{"source":["aws.s3"],"$or":[{"region":["us-west-2"]},{"region":["us-east-1"]}]}`, false},
		{`{"source":["aws.ec2"],"$or":[{"region":["us-west-2"]},{"region":["us-east-1"]}]}`, true},
	}
	for _, tt := range tests {
		p, err := pattern.Compile([]byte(tt.pattern))
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		if got := p.MatchJSON([]byte(event)); got != tt.want {
			t.Errorf("%s matches: %v, want %v", tt.pattern, got, tt.want)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	tests := []struct{ pattern, want string }{
		{`{"source"`, "not valid JSON"},
		{`{} {}`, "more follows"},
		{`["x"]`, "JSON object is due"},
		{`{}`, "empty object"},
		{`{"source":"aws.ec2"}`, `"source": the value must be an object or an array`},
		{`{"detail":{"state":[]}}`, `"detail.state": an empty array`},
		{`{"detail":{"state":[["x"]]}}`, "array inside an array"},
		{`{"source":[{"prefix":1}]}`, "prefix takes a text"},
		{`{"source":[{"contains":"x"}]}`, `unrecognized operator "contains"`},
		{`{"source":[{"prefix":"a","suffix":"b"}]}`, "exactly one operator"},
		{`{"source":[{"exists":"true"}]}`, "true or false"},
		{`{"n":[{"numeric":[">"]}]}`, "numeric takes"},
		{`{"n":[{"numeric":["~",1]}]}`, "unrecognized comparison"},
		{`{"n":[{"numeric":[">","1"]}]}`, "is no number"},
		{`{"n":[{"numeric":[">",6000000000]}]}`, "between -5.0e9"},
		{`{"n":[{"cidr":"10.0.0.0"}]}`, "cidr"},
		{`{"n":[{"wildcard":"a**b"}]}`, "two * in a row"},
		{`{"n":[{"wildcard":"a\\b"}]}`, "after a backslash"},
		{`{"n":[{"anything-but":[]}]}`, "at least one value"},
		{`{"n":[{"anything-but":{"exists":true}}]}`, "takes a text"},
		{`{"n":[{"anything-but":{"contains":"x"}}]}`, `unrecognized operator "contains"`},
		{`{"$or":[{"a":["x"]}]}`, "two alternatives"},
	}
	for _, tt := range tests {
		if _, err := pattern.Compile([]byte(tt.pattern)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Compile(%s) = %v, want %q", tt.pattern, err, tt.want)
		}
	}
}

func TestOnlyObjectsMatch(t *testing.T) {
	p, err := pattern.Compile([]byte(`{"a":[{"exists":false}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for e, want := range map[string]bool{`{}`: true, `[]`: false, `"x"`: false, `{`: false} {
		if got := p.MatchJSON([]byte(e)); got != want {
			t.Errorf("%s matches: %v", e, got)
		}
	}
}
