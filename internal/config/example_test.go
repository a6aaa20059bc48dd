package config_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tenon-agent/tenon/internal/config"
)

func Example() {
	dir, err := os.MkdirTemp("", "tenon")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	text := `{
		"model": "mine/qwen3",
		"providers": {"mine": {"base_url": "http://127.0.0.1:8000/v1", "api_key": "${MY_KEY:-none}"}}, // mine
	}`
	if err := os.WriteFile(filepath.Join(dir, "tenon.json"), []byte(text), 0o600); err != nil {
		fmt.Println(err)
		return
	}

	c, err := config.Load(config.Options{Dir: dir, Getenv: func(string) string { return "" }})
	if err != nil {
		fmt.Println(err)
		return
	}
	c.MaxTokens = 1000
	c.Record("max_tokens", c.MaxTokens, "--max-tokens")
	for _, o := range c.Origins() {
		fmt.Println(o.Key, o.Value, filepath.Base(o.Where))
	}
	key, err := c.Providers["mine"].APIKey.Get(context.Background())
	fmt.Println(key, err)
	// Output:
	// limits.cost 20 default
	// max_tokens 1000 --max-tokens
	// model mine/qwen3 tenon.json:2
	// permissions.mode ask default
	// providers.mine.api_key ${MY_KEY:-[hidden]} tenon.json:3
	// providers.mine.base_url http://127.0.0.1:8000/v1 tenon.json:3
	// sandbox.processes 4096 default
	// none <nil>
}
