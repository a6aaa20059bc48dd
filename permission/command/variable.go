package command

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Variables that change what programs do, and those that are known not to. Names that end in * are beginnings.
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

// named reports whether programs make the name of a file of a variable, which is harmless as long as it is a plain name.
func named(name string) bool { return name == "TERM" || listed(name, []string{"LANG*", "LC_*"}) }

// weigh says what giving a variable a value means. Exported ones reach other programs.
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
	case name == "IFS" && !exported && value.known() && !strings.ContainsAny(value.text, "-/.abcdefghijklmnopqrstuvwxyz"):
		return 0, ""
	}
	if slices.Contains(numbers, name) && (value.dynamic || !isNumber(value.text)) {
		return Executes, "sets " + name + ", in whose value the shell may run commands"
	}
	if name == "" || listed(name, steering) || strings.HasPrefix(name, "BASH_FUNC") {
		return Executes, "sets " + shown(name) + ", which can change what programs run"
	}
	if exported {
		return Unknown, "sets " + name + ", which is not known to be harmless"
	}
	return 0, ""
}

// assigned judges that a variable gets a value in this shell, and notes the value for arithmetic.
func (a *analyzer) assigned(n syntax.Node, c place, name string, value word) {
	a.taint(a.spot(n, c), name, value)
	if does, why := weigh(name, value, false); does != 0 {
		a.emit(n, c, []word{{text: name + "=" + value.text, dynamic: value.dynamic}}, does, why)
	}
}

// taint notes a value that arithmetic would run commands from.
func (a *analyzer) taint(at spot, name string, value word) {
	if value.dynamic || value.glob || strings.ContainsAny(value.text, "[$`") {
		a.tainted[name] = at
	} else if value.text != "" && !isNumber(value.text) {
		a.names[name] = append(a.names[name], identifiers(value.text)...)
	}
}

// identifiers returns what arithmetic over a text takes for variables.
func identifiers(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// assigns judges assignments: of this shell, or, exported, of one program.
func (a *analyzer) assigns(list []*syntax.Assign, c place, exported bool) (does Does, why string, words []word) {
	for _, as := range list {
		if as.Name == nil {
			continue
		}
		v := a.assign(as, c)
		d, w := weigh(as.Name.Value, v, exported)
		if does |= d; w != "" && why == "" {
			why = w
		}
		words = append(words, word{text: as.Name.Value + "=" + v.text, dynamic: v.dynamic})
	}
	return does, why, words
}

// assign walks the value of one assignment and notes it for arithmetic.
func (a *analyzer) assign(as *syntax.Assign, c place) word {
	a.arithm(as.Index, c)
	v := a.value(as.Value, c)
	if as.Array != nil {
		for _, e := range as.Array.Elems {
			a.arithm(e.Index, c)
			if e.Value != nil {
				for _, w := range a.fields(e.Value, c) {
					a.taint(a.spot(as, c), as.Name.Value, w)
				}
			}
		}
		v = word{dynamic: true}
	} else if !as.Naked {
		if as.Append {
			v.dynamic = v.dynamic || !isNumber(v.text)
		}
		number := as.Value != nil && len(as.Value.Parts) == 1
		if number {
			_, number = as.Value.Parts[0].(*syntax.ArithmExp)
		}
		if !number {
			a.taint(a.spot(as, c), as.Name.Value, v)
		}
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
			v := a.assign(as, c)
			if as.Naked && !exported {
				words = append(words, word{text: as.Name.Value})
				continue
			}
			say(weigh(as.Name.Value, v, exported))
			words = append(words, word{text: as.Name.Value + "=" + v.text, dynamic: v.dynamic})
			continue
		}
		for _, w := range a.fields(as.Value, c) {
			words = append(words, w)
			switch {
			case !w.known() || strings.ContainsAny(w.text, "[=$`"):
				say(Unknown, "declares what is not known before it runs")
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
func (a *analyzer) parameter(p *syntax.ParamExp, c place) word {
	name := ""
	if p.Param != nil {
		name = p.Param.Value
	}
	if i, ok := p.Index.(*syntax.Word); !ok || i.Lit() != "@" && i.Lit() != "*" {
		a.arithm(p.Index, c)
	}
	if p.Slice != nil {
		a.arithm(p.Slice.Offset, c)
		a.arithm(p.Slice.Length, c)
	}
	if p.Repl != nil {
		a.value(p.Repl.Orig, c)
		a.value(p.Repl.With, c)
	}
	if p.Excl && p.Names == 0 || p.NestedParam != nil || p.Flags != nil {
		a.problem(a.spot(p, c), "an expansion of a variable that another one names")
	}
	if p.Exp != nil {
		v := a.value(p.Exp.Word, c)
		switch p.Exp.Op {
		case syntax.AssignUnset, syntax.AssignUnsetOrNull:
			a.assigned(p, c, name, v)
		case syntax.OtherParamOps:
			if v.text == "P" || v.dynamic {
				a.problem(a.spot(p, c), "${%s@P} runs the commands in its value", name)
			}
		}
	}
	plain := !p.Excl && !p.Length && !p.Width && !p.IsSet && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Exp == nil
	switch {
	case p.Length || name == "#" || name == "?" || name == "$":
		return word{dynamic: true}
	case plain && name == "HOME" && a.options.Home != "" && !c.remote && !a.known(name):
		return word{text: a.options.Home}
	case plain && name == "PWD" && len(c.dirs) == 1 && c.dirs[0] != "" && !c.remote && !a.known(name):
		return word{text: c.dirs[0]}
	}
	return word{dynamic: true, splits: true}
}

// known reports whether the line has given the variable a value so far.
func (a *analyzer) known(name string) bool {
	_, ok := a.tainted[name]
	return ok || slices.ContainsFunc(a.out.Commands, func(c Command) bool {
		return slices.ContainsFunc(c.Words, func(w string) bool { return w == name || strings.HasPrefix(w, name+"=") })
	})
}

// arithm walks arithmetic. Bash evaluates the text of variables in it again, and commands within that text.
func (a *analyzer) arithm(x syntax.ArithmExpr, c place) {
	switch x := x.(type) {
	case *syntax.BinaryArithm:
		if w, ok := x.X.(*syntax.Word); ok && strings.HasSuffix(x.Op.String(), "=") {
			switch x.Op {
			case syntax.Eql, syntax.Neq, syntax.Leq, syntax.Geq:
			default:
				a.assigned(x, c, w.Lit(), word{text: "0"})
			}
		}
		a.arithm(x.X, c)
		a.arithm(x.Y, c)
	case *syntax.UnaryArithm:
		a.arithm(x.X, c)
	case *syntax.ParenArithm:
		a.arithm(x.X, c)
	case *syntax.FlagsArithm:
		a.arithm(x.X, c)
	case *syntax.Word:
		a.operand(x, c)
	}
}

func (a *analyzer) operand(w *syntax.Word, c place) {
	if w == nil {
		return
	}
	at := a.spot(w, c)
	if len(w.Parts) == 1 {
		switch p := w.Parts[0].(type) {
		case *syntax.Lit:
			if !isNumber(p.Value) {
				a.counted = append(a.counted, use{p.Value, at})
			}
			if strings.ContainsAny(p.Value, "[`$") {
				a.problem(at, "arithmetic over text that the shell may run")
			}
			return
		case *syntax.ParamExp:
			if p.Param != nil && (syntax.ValidName(p.Param.Value) || strings.Contains("#?$!", p.Param.Value)) && p.Exp == nil && p.Repl == nil {
				a.parameter(p, c)
				a.counted = append(a.counted, use{p.Param.Value, at})
				return
			}
		}
	}
	v := a.value(w, c)
	if v.dynamic || strings.ContainsAny(v.text, "[$`=") {
		a.problem(at, "arithmetic over text that is not known, which the shell may run")
	}
	for _, n := range identifiers(v.text) {
		a.counted = append(a.counted, use{n, at})
	}
}

// subscript judges the name of a variable that a builtin is given: in a[...] the shell runs substitutions.
func (a *analyzer) subscript(n syntax.Node, c place, w word) {
	if !w.known() || strings.ContainsAny(w.text, "[$`") {
		a.problem(a.spot(n, c), "the name of a variable in which the shell may run commands")
	}
}

// fromLine is variables that the shell sets to texts from the line.
var fromLine = []string{
	"_", "OPTARG", "REPLY", "MAPFILE", "BASH_REMATCH", "BASH_COMMAND", "BASH_EXECUTION_STRING", "BASH_ARGV", "BASH_ARGV0", "BASH_SOURCE", "FUNCNAME",
	"COMP_LINE", "COMP_WORDS", "READLINE_LINE",
}

// numbers is variables whose values are arithmetic.
var numbers = []string{"OPTIND", "RANDOM", "SRANDOM", "SECONDS", "LINENO", "HISTCMD", "EPOCHSECONDS", "EPOCHREALTIME", "BASHPID", "TMOUT"}

// arithmetic tells, at the end, where it would evaluate text that is not known.
func (a *analyzer) arithmetic() {
	done := map[string]bool{}
	for i := 0; i < len(a.counted); i++ {
		u := a.counted[i]
		if done[u.name] {
			continue
		}
		done[u.name] = true
		for _, n := range a.names[u.name] {
			a.counted = append(a.counted, use{n, u.at})
		}
		if _, bad := a.tainted[u.name]; bad || slices.Contains(fromLine, u.name) {
			a.problem(u.at, "arithmetic over %s, whose text is not known and may be run", u.name)
		}
	}
}

func isNumber(s string) bool {
	for i := range len(s) {
		if (s[i] < '0' || s[i] > '9') && !(i == 0 && s[i] == '-') {
			return false
		}
	}
	return s != ""
}
