package command

import (
	"slices"
	"strings"
)

// connection judges programs that talk to other machines.
func (c *call) connection(by, name string, g *arguments) bool {
	switch by {
	case "ssh":
		c.ssh(g)
	case "copy":
		c.copy(name, g)
	case "download":
		c.download(name, g)
	case "packages":
		c.packages(g)
	default:
		return false
	}
	return true
}

// host notes whom an address names: a URL, or a host as scp and git write it.
func (c *call) host(w word) {
	if h, known := hostOf(w); !known {
		c.reaches("")
	} else if h != "" {
		c.reaches(h)
	}
}

// reaches notes a host, "" for one that is not known.
func (c *call) reaches(h string) {
	if !slices.Contains(c.cmd.Hosts, h) {
		c.cmd.Hosts = append(c.cmd.Hosts, h)
	}
}

// hostOf returns the host of an address, "" for a place on this machine, and whether that is known: programs differ in what they
// make of strange signs in an address.
func hostOf(w word) (host string, known bool) {
	s := w.text
	scheme, rest, url := strings.Cut(s, "://")
	switch {
	case !url:
		rest = s
	case strings.EqualFold(scheme, "file"):
		return "", true
	}
	end := strings.IndexAny(rest, "/?#")
	switch {
	case end >= 0:
		rest = rest[:end]
	case w.dynamic:
		return "", false // the rest of the name is not known
	}
	if before, after, ok := strings.Cut(rest, ":"); ok && !url && !isNumber(after) && !strings.Contains(after, "]") {
		rest = before // what follows is a path
	}
	host = rest[strings.LastIndexByte(rest, '@')+1:]
	switch {
	case url && host == "", strings.Contains(rest, "\\"), strings.ContainsAny(host, "%{}*?,;'\"<>|^`"):
		return "", false
	case strings.Contains(host, "[") && !bracketed(host):
		return "", false
	case strings.ContainsAny(host, " \t\n"), !url && !strings.Contains(host, ".") && host != "localhost" && !strings.Contains(s, ":"):
		return "", true
	}
	return host, true
}

// ssh judges a command on another machine. It is shown; its paths are not ours.
func (c *call) ssh(g *arguments) {
	c.does(Network|Executes, "runs on another machine")
	if len(g.operands) == 0 {
		return
	}
	c.host(word{text: g.operands[0].text + ":", dynamic: g.operands[0].dynamic})
	in := c.place.inner("ssh")
	in.remote, in.dirs = true, []string{""}
	in.adds |= Network | Executes
	in.why = "on another machine"
	c.text(g.operands[1:], "ssh", in)
}

// copy judges scp, sftp and rsync: operands with a colon are on another machine.
func (c *call) copy(name string, g *arguments) {
	for i, w := range g.operands {
		before, _, far := strings.Cut(w.text, ":")
		switch last := i == len(g.operands)-1; {
		case far && before != "" && !strings.Contains(before, "/"):
			c.does(Network, "")
			c.host(w)
		case strings.Contains(w.text, "://"):
			c.does(Network, "")
			c.host(w)
		case last && len(g.operands) > 1 || w.splits:
			c.writes(w)
		default:
			c.reads(w)
		}
	}
	if name != "rsync" {
		c.does(Network, "")
	}
	g.operands = nil
}

// bracketed reports whether a host is an address in brackets, with a port or without: [::1]:80.
func bracketed(host string) bool {
	inner, port, ok := strings.Cut(strings.TrimPrefix(host, "["), "]")
	return ok && host[0] == '[' && !strings.Contains(inner, "[") && (port == "" || port[0] == ':')
}

// download judges curl and wget.
func (c *call) download(name string, g *arguments) {
	c.does(Network, "")
	for _, w := range g.operands {
		c.address(w)
	}
	for _, o := range g.options {
		switch {
		case o.name == "--url":
			c.address(o.text)
		case o.name == "-T" || o.name == "--upload-file":
			if strings.ContainsAny(o.text.text, "{[") { // which curl expands
				c.reads(word{dynamic: true})
			}
		default:
			c.sends(o)
		}
	}
	if g.has("-K", "--config", "-i", "--input-file", "-B", "--base", "-e", "--execute", "--resolve", "--connect-to") {
		c.reaches("")
	}
	if name == "wget" && !g.has("-O", "--output-document", "--spider", "-P", "--directory-prefix") {
		c.writes(word{text: "."})
	}
	g.operands = nil
}

// address judges what curl and wget fetch: a host that may come without a scheme, or a file of this machine.
func (c *call) address(w word) {
	scheme, rest, ok := strings.Cut(w.text, ":")
	rest = strings.TrimLeft(rest, "/")
	switch {
	case ok && strings.EqualFold(scheme, "file"):
		if after, far := strings.CutPrefix(w.text[len("file:"):], "//"); far { // what comes before the path is a host
			_, rest, _ = strings.Cut(after, "/")
		}
		c.reads(word{text: "/" + rest, dynamic: w.dynamic || strings.ContainsAny(rest, "%{[")})
	case ok && !isNumber(strings.SplitN(rest, "/", 2)[0]) && !strings.ContainsAny(scheme, ".@[/"):
		c.host(word{text: scheme + "://" + rest, dynamic: w.dynamic}) // any number of slashes will do
	default:
		c.host(word{text: "http://" + strings.TrimLeft(w.text, "/"), dynamic: w.dynamic})
	}
}

// Options of curl that send a file: one named after an @ at the start of their value, or after a name and an @.
var (
	sendsWhole = strings.Fields("-d --data --data-ascii --data-binary --json -H --header --proxy-header -w --write-out")
	sendsNamed = strings.Fields("--data-urlencode --url-query --variable")
)

// sends judges an option of curl whose value may name a file.
func (c *call) sends(o given) {
	text, form := o.text.text, o.name == "-F" || o.name == "--form"
	whole, named := slices.Contains(sendsWhole, o.name), slices.Contains(sendsNamed, o.name)
	switch {
	case !form && !whole && !named:
		return
	case o.text.dynamic:
		c.reads(word{dynamic: true})
	}
	at := strings.IndexByte(text, '@')
	switch {
	case form:
		c.form(text)
	case at == 0, named && at > 0 && !strings.Contains(text[:at], "="):
		c.reads(word{text: text[at+1:], dynamic: o.text.dynamic})
	case strings.Contains(text, "%output{"):
		c.writes(word{dynamic: true})
	}
}

// form reads name=@file,file;headers=<file of curl -F.
func (c *call) form(text string) {
	_, value, _ := strings.Cut(text, "=")
	file := false // what a comma separates are more files
	for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || r == ';' }) {
		if i := strings.IndexAny(part, "@<"); i == 0 || i > 0 && part[i-1] == '=' {
			part, file = part[i+1:], true
		} else if strings.Contains(part, "=") {
			continue
		}
		if file {
			c.reads(word{text: strings.Trim(part, `"`)})
		}
	}
}

// packages notes the addresses among the names of packages.
func (c *call) packages(g *arguments) {
	for _, w := range g.operands {
		if strings.Contains(w.text, "://") {
			c.host(w)
		}
	}
	g.operands = nil
}
