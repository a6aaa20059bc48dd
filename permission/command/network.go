package command

import (
	"slices"
	"strings"
)

// hostOf returns the host of an address, "" for a path on this machine, and whether it is known: programs parse unusual characters in
// an address differently.
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
		return "", false // the rest of the name is unknown
	}
	if before, after, ok := strings.Cut(rest, ":"); ok && !url && !isNumber(after) && !strings.Contains(after, "]") {
		rest = before // the rest is a path
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

// judgeSSH judges a command on another machine. The analysis lists it, but its paths are not ours.
func judgeSSH(c *call, _ string, g *arguments) {
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

// judgeCopy judges scp, sftp and rsync: operands with a colon are on another machine.
func judgeCopy(c *call, name string, g *arguments) {
	for i, w := range g.operands {
		before, _, far := strings.Cut(w.text, ":")
		switch last := i == len(g.operands)-1; {
		case far && before != "" && !strings.Contains(before, "/"), strings.Contains(w.text, "://"):
			c.does(Network, "")
			if c.host(w); last {
				c.does(Publishes, "copies files to another machine")
			}
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

// judgeDownload judges curl and wget.
func judgeDownload(c *call, name string, g *arguments) {
	c.does(Network, "")
	for _, w := range g.operands {
		fetched(c, w)
	}
	for _, o := range g.options {
		switch {
		case o.name == "--url":
			fetched(c, o.text)
		case o.name == "-T" || o.name == "--upload-file":
			if strings.ContainsAny(o.text.text, "{[") { // curl expands these
				c.reads(word{dynamic: true})
			}
		default:
			curlSends(c, o)
		}
	}
	if g.has("-K", "--config", "-i", "--input-file", "-B", "--base", "-e", "--execute", "--resolve", "--connect-to") {
		c.reaches("")
	}
	if sends(c, g) {
		c.does(Publishes, name+" sends data")
	}
	if name == "wget" && !g.has("-O", "--output-document", "--spider", "-P", "--directory-prefix") {
		c.writes(word{text: "."})
	}
	g.operands = nil
}

// sends reports whether curl or wget may send data to another machine: a body, a file, or with a method other than reading. Tenon does
// not know what an option without an entry sends. What stays on this machine does not count.
func sends(c *call, g *arguments) bool {
	body := g.strange != "" || g.has(strings.Fields(`-d --data --data-ascii --data-binary --data-raw --data-urlencode --json -F --form
		--form-string -T --upload-file -Q --quote -K --config --variable --post-data --post-file --body-data --body-file -e --execute`)...)
	if g.has("-G", "--get") && !g.has("-F", "--form", "-T", "--upload-file") {
		body = false
	}
	for _, o := range g.options {
		if o.name == "-X" || o.name == "--request" || o.name == "--method" {
			body = body || !o.text.is("GET", "HEAD", "OPTIONS")
		}
	}
	local := len(c.cmd.Hosts) > 0 && !g.has("-L", "--location", "--location-trusted", "-x", "--proxy", "--connect-to", "--resolve")
	for _, h := range c.cmd.Hosts {
		name, _, _ := strings.Cut(h, ":")
		local = local && (name == "localhost" || strings.HasPrefix(h, "127.0.0.1") && strings.Trim(name, decimals+".") == "" || strings.HasPrefix(h, "[::1]"))
	}
	return body && !local
}

// fetched judges the address for curl and wget: a host, perhaps without a scheme, or a file of this machine.
func fetched(c *call, w word) {
	scheme, rest, ok := strings.Cut(w.text, ":")
	rest = strings.TrimLeft(rest, "/")
	switch {
	case ok && strings.EqualFold(scheme, "file"):
		if after, far := strings.CutPrefix(w.text[len("file:"):], "//"); far { // a host comes before the path
			_, rest, _ = strings.Cut(after, "/")
		}
		c.reads(word{text: "/" + rest, dynamic: w.dynamic || strings.ContainsAny(rest, "%{[")})
	case ok && !isNumber(strings.SplitN(rest, "/", 2)[0]) && !strings.ContainsAny(scheme, ".@[/"):
		c.host(word{text: scheme + "://" + rest, dynamic: w.dynamic}) // curl accepts any number of slashes
	default:
		c.host(word{text: "http://" + strings.TrimLeft(w.text, "/"), dynamic: w.dynamic})
	}
}

// Options of curl that send a file: one named after an @ at the start of their value, or after a name and an @.
var (
	sendsWhole = strings.Fields("-d --data --data-ascii --data-binary --json -H --header --proxy-header -w --write-out")
	sendsNamed = strings.Fields("--data-urlencode --url-query --variable")
)

// curlSends judges an option of curl whose value may name a file.
func curlSends(c *call, o given) {
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
		curlForm(c, text)
	case at == 0, named && at > 0 && !strings.Contains(text[:at], "="):
		c.reads(word{text: text[at+1:], dynamic: o.text.dynamic})
	case strings.Contains(text, "%output{"):
		c.writes(word{dynamic: true})
	}
}

// curlForm reads name=@file,file;headers=<file of curl -F.
func curlForm(c *call, text string) {
	_, value, _ := strings.Cut(text, "=")
	file := false // a comma separates files
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

// judgePackages notes the addresses among the names of packages.
func judgePackages(c *call, _ string, g *arguments) {
	for _, w := range g.operands {
		if strings.Contains(w.text, "://") {
			c.host(w)
		}
	}
	g.operands = nil
}
