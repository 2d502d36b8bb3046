package cloud

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/steadfast-agents/steadfast/internal/cloud/sam"
)

// Names of the local user pool and its one app client.
const (
	localPool   = "us-east-1_local"
	localClient = "steadfastdev"
)

// devParameters are the values of parameters that a template cannot have a default for.
func devParameters() map[string]string {
	return map[string]string{"CognitoUserPoolId": localPool, "CognitoClientId": localClient}
}

// issuerOf is the issuer that the template's authorizer expects, if that is one we can be.
func issuerOf(s *sam.Stack, base string) string {
	if s.HTTP != nil && strings.HasPrefix(s.HTTP.JWT.Issuer, base+"/") {
		return strings.TrimSuffix(s.HTTP.JWT.Issuer, "/")
	}
	return base + "/" + localPool
}

// clientOf is the app client whose tokens the authorizer takes.
func clientOf(s *sam.Stack) string {
	if s.HTTP != nil && len(s.HTTP.JWT.Audience) > 0 {
		return s.HTTP.JWT.Audience[0]
	}
	return localClient
}

func busOf(s *sam.Stack) string {
	if len(s.Rules) > 0 {
		return s.Rules[0].Bus
	}
	return "default"
}

// Variables are what each function's environment says, by the function's logical id: what its code reads, for a program that
// runs the function itself. `sam local invoke --env-vars` takes it as it is.
func (c *Cloud) Variables() map[string]map[string]string {
	out := map[string]map[string]string{}
	for _, f := range c.stack.Functions {
		out[f.LogicalID] = c.functions.Variables(f)
	}
	return out
}

// announce writes the files for programs outside, the info file last: whoever sees that can use both. Each appears whole.
func (c *Cloud) announce() error {
	return errors.Join(announce(c.options.EnvFile, c.Variables()), announce(c.options.InfoFile, c.info))
}

func announce(path string, what any) error {
	if path == "" {
		return nil
	}
	body, err := json.MarshalIndent(what, "", "  ")
	if err == nil {
		err = replaceFile(path, append(body, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write for programs outside: %w", err)
	}
	return nil
}

func replaceFile(path string, body []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // gone already when all went well
	_, err = f.Write(body)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
