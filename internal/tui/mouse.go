package tui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/tenon-agent/tenon/internal/tui/card"
	"github.com/tenon-agent/tenon/internal/tui/dialog"
	"github.com/tenon-agent/tenon/internal/tui/list"
)

// wheel is the lines that one step of the wheel scrolls.
const wheel = 3

// drag is a selection of text with the mouse.
type drag struct {
	from  list.Point
	moved bool
}

// mouse scrolls, folds and selects text. A release copies the selection.
func mouse(a *app, msg tea.MouseMsg) tea.Cmd {
	if d := a.top(); d != nil && !dialog.Leaves(d, msg) {
		return d.Update(msg)
	}
	m := msg.Mouse()
	y := m.Y - a.measure().top // of the transcript
	switch msg.(type) {
	case tea.MouseWheelMsg:
		switch m.Button {
		case tea.MouseWheelUp:
			a.pane.scrolled(a.list.Scroll(-wheel))
		case tea.MouseWheelDown:
			a.pane.scrolled(a.list.Scroll(wheel))
		}
	case tea.MouseClickMsg:
		r := a.measure()
		if prompt := m.Y - (a.height - r.status - r.editor); m.Button == tea.MouseLeft && prompt >= 0 && prompt < r.editor && m.X < r.width && !a.o.Config.Inline {
			a.browse(false)
			a.editor.Click(m.X, prompt)
			return nil
		}
		p, ok := a.list.PointAt(m.X, y)
		if m.Button != tea.MouseLeft || !ok || y < 0 || y >= r.transcript {
			return nil
		}
		a.drag = &drag{from: p}
		a.list.SelectText(p, p)
	case tea.MouseMotionMsg:
		if p, ok := a.list.PointAt(m.X, y); ok && a.drag != nil {
			a.drag.moved = true
			a.list.SelectText(a.drag.from, p)
		}
	case tea.MouseReleaseMsg:
		return release(a, y)
	}
	return nil
}

// release ends a selection: it copies the text, or folds the item that was only clicked.
func release(a *app, y int) tea.Cmd {
	d := a.drag
	if a.drag = nil; d == nil {
		return nil
	}
	if text := a.list.SelectedText(); d.moved && text != "" {
		a.say("copied")
		return tea.SetClipboard(text)
	}
	if i, _ := a.list.At(y); i >= 0 && i < a.list.Len() {
		if c, ok := a.list.Item(i).(*card.Card); ok {
			c.Toggle()
		}
	}
	return nil
}
