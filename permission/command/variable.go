package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Variables that change the effects of programs, and harmless ones. Names that end in * are prefixes.
var (
	steering = strings.Fields(`LD_* DYLD_* GIT_* BASH_* GCONV_* MALLOC_* NODE_* PYTHON* PERL* RUBY* GEM_* BUNDLE_* GO* CGO_*
		CARGO* RUST* NPM_* npm_* YARN_* PNPM_* PIP_* UV_* JAVA_* MAVEN_* GRADLE_* LUA_* PHP* R_* DOCKER_* SSH_* SUDO_* CVS_*
		LESS* MAN* XDG_* COMP_* HIST* PATH ENV IFS SHELL SHELLOPTS CDPATH FPATH ZDOTDIR HOME PWD OLDPWD GLOBIGNORE EXECIGNORE FIGNORE
		FUNCNEST PROMPT_COMMAND PS0 PS1 PS2 PS3 PS4 TRAPDEBUG PAGER EDITOR VISUAL FCEDIT BROWSER TERMINFO TERMCAP LOCPATH NLSPATH
		RSYNC_* RIPGREP_CONFIG_PATH GREP_OPTIONS TAR_OPTIONS MAKEFLAGS MAKEFILES MFLAGS GNUMAKEFLAGS CC CXX CPP LD AR AS
		CFLAGS CXXFLAGS LDFLAGS CLASSPATH _JAVA_OPTIONS JDK_* OPENSSL_* CURL_HOME WGETRC INPUTRC TMPPREFIX POSTEDIT
		http_proxy https_proxy all_proxy ftp_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY FTP_PROXY NIX_* LIBRARY_PATH CPATH
		PKG_CONFIG* AWKPATH AWKLIBPATH AWK_* GCC_* COMPILER_PATH HOSTALIASES RES_OPTIONS RESOLV_* LOCALDOMAIN NSS_* KUBECONFIG
		AWS_* AZURE_* GOOGLE_* CLOUDSDK_* ANSIBLE_* VAGRANT_* TF_* EMACS* VIM* VIMINIT EXINIT MYVIMRC NVIM* TEXTDOMAIN* BAT_* ASAN_* UBSAN_* LSAN_* TSAN_*`)
	harmless = strings.Fields(`LANG LANGUAGE LC_* TZ COLUMNS LINES TERM COLORTERM NO_COLOR FORCE_COLOR CLICOLOR CLICOLOR_FORCE
		LS_COLORS GREP_COLOR GREP_COLORS QUOTING_STYLE TIME_STYLE BLOCK_SIZE POSIXLY_CORRECT CI DEBUG VERBOSE TMPDIR TMP TEMP
		GOOS GOARCH GOARM GOAMD64 CGO_ENABLED GOMAXPROCS GOGC GOMEMLIMIT GIT_PAGER_IN_USE GIT_OPTIONAL_LOCKS
		GIT_TERMINAL_PROMPT RUST_BACKTRACE RUST_LOG PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONIOENCODING PYTHONUTF8
		PYTHONHASHSEED NODE_ENV SOURCE_DATE_EPOCH DEBIAN_FRONTEND`)
)

func listed(name string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		if begin, ok := strings.CutSuffix(n, "*"); ok {
			return strings.HasPrefix(name, begin)
		}
		return n == name
	})
}

// named reports whether programs use the variable as a file name. Only a plain name is harmless.
func named(name string) bool { return name == "TERM" || listed(name, []string{"LANG*", "LC_*"}) }

// weigh returns the effects of setting a variable. Exported variables reach other programs.
func weigh(name string, value word, exported bool) (Does, string) {
	switch {
	case named(name) && (value.dynamic || strings.Contains(value.text, "/")):
		return Unknown, "sets " + name + ", by which programs find files"
	case listed(name, harmless):
		return 0, ""
	case name == "PAGER" || name == "GIT_PAGER" || name == "MANPAGER":
		if value.is("cat", "") {
			return 0, ""
		}
	case name == "GOFLAGS" && value.is("", "-mod=vendor", "-mod=readonly", "-count=1", "-v"):
		return 0, ""
	case name == "IFS" && (!exported || value.is("")) && value.known() && !strings.ContainsAny(value.text, "-/.abcdefghijklmnopqrstuvwxyz"):
		return 0, ""
	}
	if slices.Contains(numbers, name) && (value.dynamic || !isNumber(value.text)) {
		return Executes, "sets " + name + ", in whose value the shell may run commands"
	}
	if name == "" || listed(name, steering) || strings.HasPrefix(name, "BASH_FUNC") {
		return Executes, "sets " + shown(name) + ", which can change the programs that run"
	}
	if exported {
		return Unknown, "sets " + name + ", which may not be harmless"
	}
	return 0, ""
}

// assigned judges an assignment in this shell, and notes the value for arithmetic.
func (e expander) assigned(n syntax.Node, name string, value word) {
	e.a.taint(e.place.spot(n), name, value)
	e.a.splits(name, value)
	if _, loop := n.(*syntax.WordIter); !loop {
		e.a.set(name, e.any([]word{value}), false)
	}
	if does, why := weigh(name, value, false); does != 0 {
		e.a.emit(n, e.place, []word{{text: name + "=" + value.text, dynamic: value.dynamic}}, does, why)
	}
}

// variables are the variables of a line, as far as arithmetic needs them: bash evaluates their text.
type variables struct {
	tainted map[string]spot     // variables with unknown text, and the position of the assignment
	names   map[string][]string // the names in the text of a variable, which arithmetic evaluates too
	counted []use               // variables that arithmetic evaluates

	followed map[string]*variable // see names.go
	declares bool                 // the line declares a function

	// A part of the line relies on the output of a program or on the value of a variable. A later part can change that: then Tenon judges
	// the line again, and trusts none.
	relied, moved bool
}

// taint notes a value that may run commands in arithmetic.
func (v *variables) taint(at spot, name string, value word) {
	if value.dynamic && !value.number || value.glob || strings.ContainsAny(value.text, "[$`") {
		v.tainted[name] = at
	} else if value.text != "" && !isNumber(value.text) {
		v.names[name] = append(v.names[name], identifiers(value.text)...)
	}
}

// identifiers returns the variables in an arithmetic text.
func identifiers(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// assigns judges assignments: in this shell, or exported to one program.
func (e expander) assigns(list []*syntax.Assign, exported bool) (does Does, why string, words []word) {
	for _, as := range list {
		if as.Name == nil {
			continue
		}
		v := e.assign(as)
		if exported { // for the program, not for its words
			e.a.set(as.Name.Value, word{}, false)
		}
		d, w := weigh(as.Name.Value, v, exported)
		if does |= d; w != "" && why == "" {
			why = w
		}
		words = append(words, word{text: as.Name.Value + "=" + v.text, dynamic: v.dynamic})
	}
	return does, why, words
}

// assign walks the value of one assignment and notes it for arithmetic.
func (e expander) assign(as *syntax.Assign) word {
	e.arithm(as.Index)
	v := e.value(as.Value)
	if as.Array != nil {
		for _, elem := range as.Array.Elems {
			e.arithm(elem.Index)
			if elem.Value != nil {
				for _, w := range e.fields(elem.Value) {
					e.a.taint(e.place.spot(as), as.Name.Value, w)
				}
			}
		}
		v = word{dynamic: true}
	} else if !as.Naked {
		if as.Append {
			v.dynamic = v.dynamic || !isNumber(v.text)
		}
		e.a.taint(e.place.spot(as), as.Name.Value, v)
	}
	if !as.Naked {
		e.a.splits(as.Name.Value, v)
		kept := e.any([]word{v})
		if as.Append || as.Array != nil || as.Index != nil {
			kept = word{}
		}
		e.a.set(as.Name.Value, kept, e.place.sure)
	}
	return v
}

// declaration judges export, declare, local, readonly, typeset and nameref.
func (a *analyzer) declaration(x *syntax.DeclClause, c place) int {
	words := []word{{text: x.Variant.Value}}
	var does Does
	var why string
	say := func(d Does, w string) {
		if does |= d; w != "" && why == "" {
			why = w
		}
	}
	exported := x.Variant.Value == "export"
	for _, as := range x.Args {
		if as.Name != nil {
			v := a.at(c).assign(as)
			if as.Naked && !exported {
				words = append(words, word{text: as.Name.Value})
				continue
			}
			say(weigh(as.Name.Value, v, exported))
			words = append(words, word{text: as.Name.Value + "=" + v.text, dynamic: v.dynamic})
			continue
		}
		for _, w := range a.at(c).fields(as.Value) {
			words = append(words, w)
			switch {
			case !w.known() || strings.ContainsAny(w.text, "[=$`"):
				say(Unknown, "declares a variable that cannot be determined in advance")
			case strings.HasPrefix(w.text, "-") && strings.ContainsAny(w.text, "nx"):
				exported = true
				if strings.Contains(w.text, "n") && x.Variant.Value != "export" {
					say(Unknown, "makes a name stand for another variable")
				}
			case strings.HasPrefix(w.text, "-") && strings.Contains(w.text, "i"):
				say(Unknown, "makes assignments arithmetic")
			}
		}
	}
	if x.Variant.Value == "nameref" {
		say(Unknown, "makes a name stand for another variable")
	}
	return a.emit(x, c, words, does, why)
}

// parameter walks an expansion: $a, ${a:=b}, ${a[i]}.
func (e expander) parameter(p *syntax.ParamExp) word {
	name := ""
	if p.Param != nil {
		name = p.Param.Value
	}
	if i, ok := p.Index.(*syntax.Word); !ok || i.Lit() != "@" && i.Lit() != "*" {
		e.arithm(p.Index)
	}
	if p.Slice != nil {
		e.arithm(p.Slice.Offset)
		e.arithm(p.Slice.Length)
	}
	if p.Repl != nil {
		e.value(p.Repl.Orig)
		e.value(p.Repl.With)
	}
	if p.Excl && p.Names == 0 || p.NestedParam != nil || p.Flags != nil {
		e.a.problem(e.place.spot(p), "an indirect expansion of a variable")
	}
	if p.Exp != nil {
		v := e.value(p.Exp.Word)
		switch p.Exp.Op {
		case syntax.AssignUnset, syntax.AssignUnsetOrNull:
			e.assigned(p, name, v)
		case syntax.OtherParamOps:
			if v.text == "P" || v.dynamic {
				e.a.problem(e.place.spot(p), "${%s@P} runs the commands in its value", name)
			}
		}
	}
	plain := !p.Excl && !p.Length && !p.Width && !p.IsSet && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Exp == nil
	switch {
	case p.Length || plain && (name == "#" || name == "?" || name == "$"):
		return number()
	case plain && name == "HOME" && e.a.options.Home != "" && !e.place.remote && !e.a.known(name):
		return word{text: e.a.options.Home}
	case plain && name == "PWD" && len(e.place.dirs) == 1 && e.place.dirs[0] != "" && !e.place.remote && !e.a.known(name):
		return word{text: e.place.dirs[0]}
	}
	if w, ok := e.a.value(name); ok && plain && !e.a.wary {
		return w
	}
	return word{dynamic: true, splits: true}
}

// known reports whether the line has set the variable so far.
func (a *analyzer) known(name string) bool {
	_, ok := a.tainted[name]
	return ok || slices.ContainsFunc(a.out.Commands, func(c Command) bool {
		return slices.ContainsFunc(c.Words, func(w string) bool { return w == name || strings.HasPrefix(w, name+"=") })
	})
}

// arithm walks arithmetic. Bash evaluates the text of variables in it again, and commands within that text.
func (e expander) arithm(x syntax.ArithmExpr) {
	switch x := x.(type) {
	case *syntax.BinaryArithm:
		if w, ok := x.X.(*syntax.Word); ok && strings.HasSuffix(x.Op.String(), "=") {
			switch x.Op {
			case syntax.Eql, syntax.Neq, syntax.Leq, syntax.Geq:
			default:
				e.assigned(x, w.Lit(), word{text: "0"})
			}
		}
		e.arithm(x.X)
		e.arithm(x.Y)
	case *syntax.UnaryArithm:
		e.arithm(x.X)
	case *syntax.ParenArithm:
		e.arithm(x.X)
	case *syntax.FlagsArithm:
		e.arithm(x.X)
	case *syntax.Word:
		e.operand(x)
	}
}

func (e expander) operand(w *syntax.Word) {
	if w == nil {
		return
	}
	at := e.place.spot(w)
	if len(w.Parts) == 1 {
		switch p := w.Parts[0].(type) {
		case *syntax.Lit:
			if !isNumber(p.Value) {
				e.a.counted = append(e.a.counted, use{p.Value, at})
			}
			if strings.ContainsAny(p.Value, "[`$") {
				e.a.problem(at, "arithmetic on text that the shell may run")
			}
			return
		case *syntax.ParamExp:
			if p.Param != nil && (syntax.ValidName(p.Param.Value) || strings.Contains("#?$!", p.Param.Value)) && p.Exp == nil && p.Repl == nil {
				e.parameter(p)
				e.a.counted = append(e.a.counted, use{p.Param.Value, at})
				return
			}
		}
	}
	v := e.value(w)
	if v.dynamic || strings.ContainsAny(v.text, "[$`=") {
		e.a.problem(at, "arithmetic on unknown text, which the shell may run")
	}
	for _, n := range identifiers(v.text) {
		e.a.counted = append(e.a.counted, use{n, at})
	}
}

// subscript judges the name of a variable in an argument of a builtin: the shell runs substitutions in a[...].
func (e expander) subscript(n syntax.Node, w word) {
	if !w.known() || strings.ContainsAny(w.text, "[$`") {
		e.a.problem(e.place.spot(n), "the name of a variable in which the shell may run commands")
	}
}

// fromLine are variables that the shell sets to texts from the line.
var fromLine = []string{
	"_", "OPTARG", "REPLY", "MAPFILE", "BASH_REMATCH", "BASH_COMMAND", "BASH_EXECUTION_STRING", "BASH_ARGV", "BASH_ARGV0", "BASH_SOURCE", "FUNCNAME",
	"COMP_LINE", "COMP_WORDS", "READLINE_LINE",
}

// numbers are variables whose values are arithmetic.
var numbers = []string{"OPTIND", "RANDOM", "SRANDOM", "SECONDS", "LINENO", "HISTCMD", "EPOCHSECONDS", "EPOCHREALTIME", "BASHPID", "TMOUT"}

// evaluated returns the variables with unknown text that arithmetic evaluates.
func (v *variables) evaluated() (unknown []use) {
	done := map[string]bool{}
	for i := 0; i < len(v.counted); i++ {
		u := v.counted[i]
		if done[u.name] {
			continue
		}
		done[u.name] = true
		for _, n := range v.names[u.name] {
			v.counted = append(v.counted, use{n, u.at})
		}
		if _, bad := v.tainted[u.name]; bad || slices.Contains(fromLine, u.name) {
			unknown = append(unknown, u)
		}
	}
	return unknown
}

func isNumber(s string) bool {
	for i := range len(s) {
		if (s[i] < '0' || s[i] > '9') && !(i == 0 && s[i] == '-') {
			return false
		}
	}
	return s != ""
}
