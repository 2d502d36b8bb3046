package identity

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// keyFile is the key's name in the folder, readable by its owner alone.
const keyFile = "issuer-key.pem"

// openKey reads the key in dir and makes it if there is none. An empty dir gives a new key that is kept nowhere.
func openKey(dir string) (*rsa.PrivateKey, error) {
	if dir == "" {
		return newKey()
	}
	path := filepath.Join(dir, keyFile)
	key, err := readKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if key, err = newKey(); err != nil {
		return nil, err
	}
	if err := writeKey(path, key); err != nil {
		return nil, fmt.Errorf("keep issuer key: %w", err)
	}
	return readKey(path) // whoever was first
}

func newKey() (*rsa.PrivateKey, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, fmt.Errorf("make issuer key: %w", err)
	}
	return key, nil
}

func readKey(path string) (*rsa.PrivateKey, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(b)
	if block == nil {
		return nil, fmt.Errorf("issuer key %s: not a PEM file; remove it to get a new one", path)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("issuer key %s: %w; remove it to get a new one", path, err)
	}
	private, ok := key.(*rsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("issuer key %s: not an RSA key; remove it to get a new one", path)
	}
	return private, nil
}

// writeKey puts the whole key at path, or leaves the one that another process has put there meanwhile.
func writeKey(path string, key *rsa.PrivateKey) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), keyFile+".*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	err = errors.Join(
		pem.Encode(tmp, &pem.Block{Type: "PRIVATE KEY", Bytes: der}),
		tmp.Sync(),
		tmp.Close(),
	)
	if err != nil {
		return err
	}
	if err := os.Link(tmp.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// keyID names a key by its public half.
func keyID(key *rsa.PrivateKey) string {
	sum := sha256.Sum256(x509.MarshalPKCS1PublicKey(&key.PublicKey))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
