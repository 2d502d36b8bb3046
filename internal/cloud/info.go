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

// announce writes the info file. It appears whole: whoever sees it can use it.
func (c *Cloud) announce() error {
	if c.options.InfoFile == "" {
		return nil
	}
	body, err := json.MarshalIndent(c.info, "", "  ")
	if err == nil {
		err = replaceFile(c.options.InfoFile, append(body, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the info file: %w", err)
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
