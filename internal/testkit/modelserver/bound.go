package modelserver

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"hash"

	"github.com/tenon-agent/tenon/llm"
)

// bound has, for each signature of thinking, the prefixes that preceded the thinking: all parts of the request and of the answer before it.
type bound map[string]map[string]bool

// checkBound refuses a request whose thinking follows another prefix than the one that preceded it when the server produced it, unless the
// request lets the server drop such thinking. The rules are those of Anthropic's models with preserved thinking.
func (s *Server) checkBound(r *Request) error {
	drop := bytes.Contains(r.Body, []byte(`"prefix_mismatch_behavior":"drop_block"`))
	h := r.head()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, m := range r.Messages {
		h.Write([]byte(m.Role))
		for _, p := range m.Content {
			if t, ok := p.(llm.Thinking); ok && t.Signature != "" {
				if known := s.bound[t.Signature]; known != nil && !known[string(h.Sum(nil))] {
					if !drop {
						return fmt.Errorf("messages.%d.content.0: Invalid `signature` in `thinking` block. The block is bound to a different "+
							"conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\"", i)
					}
					r.Dropped++
				}
			}
			add(h, p)
		}
	}
	return nil
}

// bind remembers where the thinking of an answer stands.
func (s *Server) bind(r *Request, answer llm.Content) {
	h := r.head()
	for _, m := range r.Messages {
		h.Write([]byte(m.Role))
		for _, p := range m.Content {
			add(h, p)
		}
	}
	h.Write([]byte(llm.RoleAssistant))
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range answer {
		if t, ok := p.(llm.Thinking); ok && t.Signature != "" {
			if s.bound[t.Signature] == nil {
				s.bound[t.Signature] = map[string]bool{}
			}
			s.bound[t.Signature][string(h.Sum(nil))] = true
		}
		add(h, p)
	}
}

// head begins the prefix with the system prompt and the tools.
func (r *Request) head() hash.Hash {
	h := sha256.New()
	h.Write([]byte(r.System))
	for _, t := range r.Tools {
		fmt.Fprintf(h, "%q%q%q", t.Name, t.Description, t.Schema)
	}
	return h
}

func add(h hash.Hash, p llm.Part) {
	data, err := json.Marshal(llm.Content{p})
	if err != nil {
		panic(err) // a part that was read can be written
	}
	h.Write(data)
}
