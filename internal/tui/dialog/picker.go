package dialog

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/internal/tui/complete"
	"github.com/tenon-agent/tenon/internal/tui/keys"
)

// Row is a row of a [Picker].
type Row[T any] struct {
	Value   T
	Section string   // heading; the rows of a section follow each other
	Cells   []string // one for each column
	Find    string   // further text that the filter searches
	Off     string   // the reason why it cannot be chosen; empty: it can
	Current bool     // it is in force
	Detail  string   // text next to the list, or instead of it
}

// Column is a column of a [Picker].
type Column struct {
	Head  string
	Right bool // to the right
	Drop  int  // a narrow list leaves out the columns with the highest number first; 0: it never does
}

// Key is an action of the owner on the chosen row, in addition to [keys.Accept].
type Key[T any] struct {
	Action  keys.Action
	Words   string
	Confirm func(T) string // returns a question that comes first; nil: none
	Input   func(T) string // returns a text for the person to change; nil: none
	Can     func(T) bool   // reports whether the row has the action; nil: each row
	Stay    bool           // the picker stays open
}

// List describes a [Picker].
type List[T any] struct {
	Title   string
	Columns []Column
	Accept  string // words for [keys.Accept]; empty: there is nothing to choose
	Stay    bool   // the picker stays open after [keys.Accept]
	Keys    []Key[T]
	Fixed   bool   // no filter: letters are keys
	Empty   string // words for a list without rows
	Head    func(width int) []string
	Moves   bool // the picker emits Moved and Filtered

	Row  func(T) Row[T]                               // makes the rows of Set
	Draw func(v T, width int) []string                // draws the detail of rows that have one; nil: as text
	pick func(k Key[T], value T, text string) tea.Cmd // instead of the outcome, for dialogs that contain a picker
}

// Picked is the outcome of a [Picker]: an action on a row, with the text that the person wrote for it.
type Picked[T any] struct {
	Dialog Dialog
	Value  T
	Action keys.Action
	Text   string
}

// Moved says that another row is in focus. The owner may show a preview, or load one and call [Picker.SetDetail].
type Moved[T any] struct {
	Dialog Dialog
	Value  T
}

// Filtered says that the person changed the filter. The owner may look for further rows and call [Picker.Also].
type Filtered[T any] struct {
	Dialog Dialog
	Text   func() string // the filter as it is at the time of the call
}

// Picker is a list in which a person types to filter and chooses a row.
type Picker[T any] struct {
	base
	list    List[T]
	rows    []Row[T]
	loading string // words; empty: all rows are there
	failed  string
	filter  field
	shown   []int        // indexes of rows
	hits    [][]int      // of the same rows: the matched bytes of the first cell, and of more text; not of those of also
	also    func(T) bool // the rows that the owner found for the filter
	at, top int          // of shown; of the lines
	grid    grid
	page    int
	tall    size // of the newest lines without a filter, so that the box does not shrink while the person types
	detail  bool // on a narrow screen the detail takes the place of the list
	pages   *pager
	ask     *Key[T] // a key that waits for its question or text
	input   field
	x, y    int
	typing  bool
	owner   Dialog // that contains the picker; nil: none
}

// NewPicker returns a picker that is loading until SetRows.
func NewPicker[T any](list List[T], o *Options) *Picker[T] {
	filter, input := newField(o, false, false), newField(o, false, false)
	return &Picker[T]{base: base{o: o, title: list.Title}, list: list, grid: grid{columns: list.Columns}, loading: "loading", filter: filter, input: input}
}

// newFilled returns a picker of some values.
func newFilled[T any](values []T, list List[T], o *Options) *Picker[T] {
	p := NewPicker(list, o)
	p.Set(values, "")
	return p
}

// Set is SetRows with the rows of some values.
func (p *Picker[T]) Set(values []T, failure string) tea.Cmd {
	rows := make([]Row[T], len(values))
	for i, v := range values {
		rows[i] = p.list.Row(v)
		rows[i].Value = v
	}
	return p.SetRows(rows, failure)
}

// SetRows replaces the rows. A failure is an error of loading, in words. The focus stays, or goes to the current row. It is reported
// as [Moved].
func (p *Picker[T]) SetRows(rows []Row[T], failure string) tea.Cmd {
	first := p.loading != ""
	p.rows, p.loading, p.failed, p.ask = rows, "", failure, nil
	p.grid.measure(len(rows), func(i int) []string { return rows[i].Cells })
	at := p.at
	p.search()
	if p.at = max(min(at, len(p.shown)-1), 0); first && p.filter.Text() == "" {
		p.at = max(slices.IndexFunc(rows, func(r Row[T]) bool { return r.Current }), 0)
	}
	p.pages, p.tall = nil, size{}
	p.widen()
	return p.moved()
}

// Rows returns all rows.
func (p *Picker[T]) Rows() []Row[T] { return p.rows }

// SetDetail replaces the text next to the list for the rows that fit.
func (p *Picker[T]) SetDetail(text string, fits func(T) bool) {
	for i := range p.rows {
		if fits(p.rows[i].Value) {
			p.rows[i].Detail = text
		}
	}
	p.widen()
	p.pages = nil
}

// Also shows further rows after those that a filter matches, unless the filter is another one by now.
func (p *Picker[T]) Also(filter string, fits func(T) bool) tea.Cmd {
	if filter != p.filter.Text() {
		return nil
	}
	p.also = fits
	at, none := p.at, len(p.shown) == 0
	if p.search(); none {
		return p.moved()
	}
	p.at = at
	return nil
}

func (p *Picker[T]) search() {
	p.shown, p.hits, p.at, p.pages = p.shown[:0], p.hits[:0], 0, nil
	query := p.filter.Text()
	if query == "" {
		for i := range p.rows {
			p.shown = append(p.shown, i)
		}
		return
	}
	texts := make([]string, len(p.rows))
	for i, r := range p.rows {
		texts[i] = strings.Join(r.Cells, " ") + " " + r.Section + " " + r.Find
	}
	for _, found := range complete.Match(query, texts) {
		p.shown = append(p.shown, found.Index)
		p.hits = append(p.hits, found.Positions)
	}
	for i, r := range p.rows {
		if p.also != nil && p.also(r.Value) && !slices.Contains(p.shown[:len(p.hits)], i) {
			p.shown = append(p.shown, i)
		}
	}
}

// Focus returns the row in focus.
func (p *Picker[T]) Focus() (Row[T], bool) {
	if p.at < 0 || p.at >= len(p.shown) {
		return Row[T]{}, false
	}
	return p.rows[p.shown[p.at]], true
}

func (p *Picker[T]) Update(msg tea.Msg) tea.Cmd {
	if p.ask != nil {
		return p.asked(msg)
	}
	o := p.o
	row, focused := p.Focus()
	switch {
	case o.is(msg, keys.Up):
		return p.Move(-1)
	case o.is(msg, keys.Down):
		return p.Move(1)
	case o.is(msg, keys.Accept):
		if !focused || row.Off != "" || p.list.Accept == "" {
			return nil
		}
		return p.pick(Key[T]{Action: keys.Accept, Stay: p.list.Stay}, row.Value, "")
	case o.is(msg, keys.Cancel):
		return p.cancel()
	case o.is(msg, keys.Details) && row.Detail != "":
		p.detail = !p.detail
		return nil
	}
	for i, k := range p.list.Keys {
		if focused && o.is(msg, k.Action) && (k.Can == nil || k.Can(row.Value)) {
			p.ask = &p.list.Keys[i]
			switch {
			case k.Input != nil:
				p.input.Set(k.Input(row.Value))
			case k.Confirm == nil:
				return p.pick(k, row.Value, "")
			}
			return nil
		}
	}
	switch {
	case o.is(msg, keys.PageUp):
		return p.leaf(msg, -p.page)
	case o.is(msg, keys.PageDown):
		return p.leaf(msg, p.page)
	case p.list.Fixed:
		return nil
	}
	if wheel, ok := msg.(tea.MouseWheelMsg); ok {
		by := 3
		if wheel.Button == tea.MouseWheelUp {
			by = -3
		}
		return p.leaf(msg, by)
	}
	before := p.filter.Text()
	if p.filter.Update(msg) && p.filter.Text() != before {
		p.also = nil
		p.search()
		cmd := p.moved()
		if p.list.Moves {
			cmd = tea.Batch(cmd, emit(Filtered[T]{p.self(), p.filter.Text}))
		}
		return cmd
	}
	return nil
}

// cancel clears the filter, or closes.
func (p *Picker[T]) cancel() tea.Cmd {
	if p.detail {
		p.detail = false
		return nil
	}
	if p.filter.Text() != "" {
		p.filter.Set("")
		p.search()
		return p.moved()
	}
	return closing(p.self(), nil)
}

// self is the dialog that the shell knows.
func (p *Picker[T]) self() Dialog {
	if p.owner != nil {
		return p.owner
	}
	return p
}

// leaf moves by some rows, or in the detail.
func (p *Picker[T]) leaf(msg tea.Msg, by int) tea.Cmd {
	if p.detail && p.pages != nil {
		p.pages.update(msg)
		return nil
	}
	return p.Move(by)
}

// Move moves the focus by some rows.
func (p *Picker[T]) Move(by int) tea.Cmd {
	to := max(min(p.at+by, len(p.shown)-1), 0)
	if to == p.at {
		return nil
	}
	p.at, p.pages = to, nil
	return p.moved()
}

func (p *Picker[T]) moved() tea.Cmd {
	if row, ok := p.Focus(); ok && p.list.Moves {
		return emit(Moved[T]{p.self(), row.Value})
	}
	return nil
}

func (p *Picker[T]) pick(k Key[T], value T, text string) tea.Cmd {
	p.ask = nil
	if p.list.pick != nil {
		return p.list.pick(k, value, text)
	}
	picked := Picked[T]{p.self(), value, k.Action, text}
	if k.Stay {
		return emit(picked)
	}
	return closing(p.self(), picked)
}

// asked handles the answer to a question or the text of a key.
func (p *Picker[T]) asked(msg tea.Msg) tea.Cmd {
	row, ok := p.Focus()
	switch {
	case !ok || p.o.is(msg, keys.Cancel):
		p.ask = nil
	case p.o.is(msg, keys.Accept):
		k := *p.ask
		if text := p.input.Text(); k.Input == nil || strings.TrimSpace(text) != "" {
			return p.pick(k, row.Value, text)
		}
	case p.ask.Input != nil:
		p.input.Update(msg)
	}
	return nil
}

func (p *Picker[T]) Hints() (hints []Hint) {
	o := p.o
	if p.ask != nil {
		return []Hint{o.hint(keys.Accept, p.ask.Words), o.hint(keys.Cancel, "keep")}
	}
	if p.list.Accept != "" {
		hints = append(hints, o.hint(keys.Accept, p.list.Accept))
	}
	row, ok := p.Focus()
	for _, k := range p.list.Keys {
		if ok && (k.Can == nil || k.Can(row.Value)) {
			hints = append(hints, o.hint(k.Action, k.Words))
		}
	}
	if ok && row.Detail != "" {
		hints = append(hints, o.hint(keys.Details, "details"))
	}
	return append(hints, o.hint(keys.Cancel, "close"))
}

// widen gives details a place next to the list.
func (p *Picker[T]) widen() {
	p.widest = 0
	if slices.ContainsFunc(p.rows, func(r Row[T]) bool { return r.Detail != "" }) {
		p.widest = widest
	}
}
