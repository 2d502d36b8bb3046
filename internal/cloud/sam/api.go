package sam

import (
	"fmt"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

type httpAPIProperties struct {
	CorsConfiguration cors `yaml:"CorsConfiguration"`
	Auth              struct {
		DefaultAuthorizer string                   `yaml:"DefaultAuthorizer"`
		Authorizers       map[string]jwtAuthorizer `yaml:"Authorizers"`
	} `yaml:"Auth"`
}

type jwtAuthorizer struct {
	IdentitySource   string `yaml:"IdentitySource"`
	JwtConfiguration struct {
		Issuer   string    `yaml:"issuer"`
		Audience oneOrMany `yaml:"audience"`
	} `yaml:"JwtConfiguration"`
}

// cors is how an HTTP API and a function URL say what pages of other origins may do.
type cors struct {
	AllowOrigins  oneOrMany `yaml:"AllowOrigins"`
	AllowMethods  oneOrMany `yaml:"AllowMethods"`
	AllowHeaders  oneOrMany `yaml:"AllowHeaders"`
	ExposeHeaders oneOrMany `yaml:"ExposeHeaders"`
	MaxAge        number    `yaml:"MaxAge"`
}

func (c cors) read() CORS {
	return CORS{Origins: c.AllowOrigins, Methods: c.AllowMethods, Headers: c.AllowHeaders, Expose: c.ExposeHeaders, MaxAge: int(c.MaxAge)}
}

const bearerSource = "$request.header.Authorization"

func (l *loader) httpAPI(res resource, n *yaml.Node) error {
	if l.stack.HTTP != nil {
		return fmt.Errorf("a second HttpApi is not supported, after %s", l.stack.HTTP.LogicalID)
	}
	var p httpAPIProperties
	if err := n.Decode(&p); err != nil {
		return err
	}
	api := &HTTPAPI{LogicalID: res.id, ID: res.ref, CORS: p.CorsConfiguration.read()}
	if name := p.Auth.DefaultAuthorizer; name != "" {
		authorizer, ok := p.Auth.Authorizers[name]
		if !ok {
			return fmt.Errorf("DefaultAuthorizer %q is not among Authorizers", name)
		}
		jwt := authorizer.JwtConfiguration
		if authorizer.IdentitySource != bearerSource || jwt.Issuer == "" || len(jwt.Audience) == 0 {
			return fmt.Errorf("authorizer %s: a JwtConfiguration with %s is needed", name, bearerSource)
		}
		api.JWT = JWT{Issuer: l.in.Rewrite(jwt.Issuer), Audience: jwt.Audience}
	}
	l.stack.HTTP = api
	return nil
}

type webSocketProperties struct {
	RouteSelectionExpression string `yaml:"RouteSelectionExpression"`
	StageName                string `yaml:"StageName"`
	Auth                     struct {
		AuthType       string    `yaml:"AuthType"`
		AuthArn        string    `yaml:"AuthArn"`
		IdentitySource oneOrMany `yaml:"IdentitySource"`
	} `yaml:"Auth"`
	Routes map[string]struct {
		FunctionArn        string `yaml:"FunctionArn"`
		IntegrationTimeout number `yaml:"IntegrationTimeout"` // ms
	} `yaml:"Routes"`
}

// maxIntegrationTimeout is API Gateway's limit for a WebSocket route, and its default.
const maxIntegrationTimeout = 29 * time.Second

func (l *loader) webSocket(res resource, n *yaml.Node) error {
	if l.stack.WebSocket != nil {
		return fmt.Errorf("a second WebSocketApi is not supported, after %s", l.stack.WebSocket.LogicalID)
	}
	var p webSocketProperties
	if err := n.Decode(&p); err != nil {
		return err
	}
	if p.RouteSelectionExpression == "" || len(p.Routes) == 0 {
		return fmt.Errorf("RouteSelectionExpression and Routes are needed")
	}
	api := &WebSocketAPI{
		LogicalID: res.id, ID: res.ref, Stage: p.StageName, RouteSelection: p.RouteSelectionExpression,
		IdentitySource: p.Auth.IdentitySource, Routes: map[string]string{}, Timeouts: map[string]time.Duration{},
	}
	if api.Stage == "" {
		api.Stage = "default"
	}
	switch p.Auth.AuthType {
	case "", "NONE":
	case "CUSTOM":
		api.Authorizer = functionOf(p.Auth.AuthArn)
	default:
		return fmt.Errorf("AuthType %q is not supported: NONE and CUSTOM are", p.Auth.AuthType)
	}
	for key, route := range p.Routes {
		timeout := time.Duration(route.IntegrationTimeout) * time.Millisecond
		if timeout == 0 {
			timeout = maxIntegrationTimeout
		}
		if timeout > maxIntegrationTimeout {
			return fmt.Errorf("route %s: IntegrationTimeout %v is over %v", key, timeout, maxIntegrationTimeout)
		}
		api.Routes[key], api.Timeouts[key] = functionOf(route.FunctionArn), timeout
	}
	l.stack.WebSocket = api
	return nil
}

// functionOf gives the name at the end of a function's ARN.
func functionOf(arn string) string {
	return arn[strings.LastIndex(arn, ":")+1:]
}

// checkTargets makes sure that everything that names a function names one that exists.
func (l *loader) checkTargets() error {
	names := map[string]bool{}
	for _, f := range l.stack.Functions {
		names[f.Name] = true
	}
	ws := l.stack.WebSocket
	if ws == nil {
		return nil
	}
	if ws.Authorizer != "" && !names[ws.Authorizer] {
		return fmt.Errorf("resource %s: the authorizer %q is no function of this template", ws.LogicalID, ws.Authorizer)
	}
	for key, name := range ws.Routes {
		if !names[name] {
			return fmt.Errorf("resource %s: route %s: %q is no function of this template", ws.LogicalID, key, name)
		}
	}
	return nil
}
