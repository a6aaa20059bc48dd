package web

import (
	"slices"
	"sync"
)

// maxPages is how many pages are kept to be shown in parts, so that the parts fit together and the page is asked for once.
const maxPages = 4

type pageKey struct {
	url string
	raw bool
}

type keptPage struct {
	key  pageKey
	page *page
}

// pages keeps the last long pages.
type pages struct {
	mu   sync.Mutex
	kept []keptPage
}

func (p *pages) get(key pageKey) (*page, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.kept, func(k keptPage) bool { return k.key == key })
	if i < 0 {
		return nil, false
	}
	return p.kept[i].page, true
}

func (p *pages) put(key pageKey, one *page) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.kept = slices.DeleteFunc(p.kept, func(k keptPage) bool { return k.key == key })
	if len(p.kept) == maxPages {
		p.kept = slices.Delete(p.kept, 0, 1)
	}
	p.kept = append(p.kept, keptPage{key, one})
}
