package checkpoint_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/tenon-agent/tenon/workspace/checkpoint"
)

func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	s, err := checkpoint.Open(dir, checkpoint.Options{MaxFile: 20})
	if err != nil {
		panic(err)
	}
	defer s.Close()

	kept, err := s.Put(strings.NewReader("as it was"))
	if err != nil {
		panic(err)
	}
	data, err := s.Get(kept.Hash)
	fmt.Printf("%.12s: %s %v\n", kept.Hash, data, err)

	large, err := s.Put(strings.NewReader("this is more than twenty bytes"))
	fmt.Println(large.Lost, err)

	err = s.Sweep(func(hash string) bool { return false })
	fmt.Println(s.Has(kept.Hash), err)
	// Output:
	// 369b74f2003c: as it was <nil>
	// it is larger than 20 bytes <nil>
	// false <nil>
}
