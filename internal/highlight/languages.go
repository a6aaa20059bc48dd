package highlight

// languages returns the tables of all languages.
func languages() []*language {
	double := quote{open: `"`, end: `"`, kind: String}
	single := quote{open: `'`, end: `'`, kind: String}
	char := quote{open: `'`, end: `'`, kind: String, short: true}
	block := quote{open: "/*", end: "*/", kind: Comment, raw: true, multi: true}
	triple := quote{open: `"""`, end: `"""`, kind: String, multi: true}
	triples := quote{open: "'''", end: "'''", kind: String, multi: true}
	back := quote{open: "`", end: "`", kind: String, multi: true}
	long := func(q quote) quote { q.multi = true; return q }
	raw := func(q quote) quote { q.raw = true; return q }
	return []*language{
		{
			names: "go golang", line: "//", quotes: []quote{block, double, char, raw(back)},
			keywords: "break case chan const continue default defer else fallthrough for func go goto if import interface map package range return select struct switch type var nil true false iota",
			types:    "any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr",
		},
		{
			names: "python py python3 pyi", line: "#", quotes: []quote{triple, triples, double, single}, capital: true,
			keywords: "and as assert async await break case class continue def del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return try while with yield None True False self",
			types:    "bool bytes dict float frozenset int list object set str tuple type",
		},
		{
			names: "javascript js mjs cjs jsx typescript ts tsx mts node", line: "//", quotes: []quote{block, double, single, back}, word: "$", capital: true,
			keywords: "abstract as async await break case catch class const continue debugger declare default delete do else enum export extends finally for from function get if implements import in instanceof interface keyof let namespace new of private protected public readonly return satisfies set static super switch this throw try type typeof var void while with yield null undefined true false NaN",
			types:    "any bigint boolean never number object string symbol unknown",
		},
		{
			names: "rust rs", line: "//", quotes: []quote{block, long(double), char}, capital: true,
			keywords: "as async await break const continue crate dyn else enum extern fn for if impl in let loop match mod move mut pub ref return self static struct super trait type unsafe use where while true false",
			types:    "bool char f32 f64 i8 i16 i32 i64 i128 isize str u8 u16 u32 u64 u128 usize Self",
		},
		{
			names: "c h", line: "//", quotes: []quote{block, double, single}, word: "#",
			keywords: "#define #elif #else #endif #error #if #ifdef #ifndef #include #pragma #undef auto break case const continue default do else enum extern for goto if inline register restrict return sizeof static struct switch typedef union volatile while NULL true false",
			types:    "bool char double float int int8_t int16_t int32_t int64_t long short signed size_t ssize_t uint8_t uint16_t uint32_t uint64_t unsigned void FILE",
		},
		{
			names: "c++ cpp cc cxx hpp hh hxx", line: "//", quotes: []quote{block, double, single}, word: "#",
			keywords: "#define #elif #else #endif #error #if #ifdef #ifndef #include #pragma #undef alignas alignof and auto break case catch class co_await co_return co_yield concept const consteval constexpr const_cast continue decltype default delete do dynamic_cast else enum explicit export extern final for friend goto if inline mutable namespace new noexcept not operator or override private protected public reinterpret_cast requires return sizeof static static_assert static_cast struct switch template this throw try typedef typeid typename union using virtual volatile while nullptr true false",
			types:    "bool char char8_t char16_t char32_t double float int int8_t int16_t int32_t int64_t long short signed size_t string string_view uint8_t uint16_t uint32_t uint64_t unsigned vector void wchar_t",
		},
		{
			names: "java", line: "//", quotes: []quote{block, triple, double, single}, word: "@", capital: true,
			keywords: "abstract assert break case catch class const continue default do else enum extends final finally for goto if implements import instanceof interface native new package permits private protected public record return sealed static strictfp super switch synchronized this throw throws transient try var void volatile while yield null true false",
			types:    "boolean byte char double float int long short",
		},
		{
			names: "kotlin kt kts", line: "//", quotes: []quote{block, triple, double, single}, word: "@", capital: true,
			keywords: "abstract actual as break by class companion const constructor continue crossinline data do else enum expect external final finally for fun get if import in infix init inline inner interface internal is lateinit noinline null object open operator out override package private protected public reified return sealed set super suspend tailrec this throw try typealias val var vararg when where while true false",
		},
		{
			names: "swift", line: "//", quotes: []quote{block, triple, double}, word: "@#", capital: true,
			keywords: "actor as associatedtype async await break case catch class continue convenience default defer deinit didSet do else enum extension fallthrough fileprivate final for func get guard if import in indirect init inout internal is lazy let mutating nil nonisolated open operator override private protocol public repeat required rethrows return self set some static struct subscript super switch throw throws try typealias unowned var weak where while willSet true false",
		},
		{
			names: "ruby rb", line: "#", quotes: []quote{long(double), long(single)}, word: "@?", capital: true, spaced: true,
			keywords: "alias and begin break case class def defined? do else elsif end ensure for if in module next nil not or private protected public raise redo require require_relative rescue retry return self super then undef unless until when while yield true false attr_accessor attr_reader attr_writer",
		},
		{
			names: "php", line: "// #", quotes: []quote{block, long(double), long(single)}, word: "$", capital: true,
			keywords: "abstract and array as break callable case catch class clone const continue declare default do echo else elseif empty enum extends final finally fn for foreach function global goto if implements include include_once instanceof insteadof interface isset list match namespace new null or print private protected public readonly require require_once return static switch throw trait try unset use var while xor yield true false",
			types:    "bool float int iterable mixed object string void",
		},
		{
			names: "bash sh shell zsh console shellscript", line: "#", quotes: []quote{long(double), long(raw(single))}, word: "$", spaced: true,
			keywords: "alias break case cd continue declare do done echo elif else esac eval exec exit export fi for function if in local printf read readonly return select set shift source then trap unset until wait while true false",
		},
		{
			names: "sql mysql postgresql sqlite psql", line: "--", quotes: []quote{block, long(raw(single)), raw(double)}, fold: true,
			keywords: "add all alter and as asc begin between by case check column commit constraint create cross default delete desc distinct drop else end except exists explain foreign from full group having if in index inner insert intersect into is join key left like limit not null offset on or order outer over partition primary references returning right rollback select set table then transaction trigger union unique update using values view when where with true false",
			types:    "bigint blob boolean char date decimal double float int integer json jsonb numeric real serial smallint text time timestamp timestamptz uuid varchar",
		},
		{names: "json jsonc json5 jsonl ndjson", line: "//", quotes: []quote{block, double}, keywords: "true false null", keys: `"`},
		{
			names: "yaml yml", line: "#", quotes: []quote{double, raw(single)}, keywords: "true false null yes no on off", word: "-.", spaced: true, keys: ":",
		},
		{names: "toml ini cfg conf properties", line: "# ;", quotes: []quote{triple, triples, double, raw(single)}, keywords: "true false", word: "-.", spaced: true, keys: "=]"},
		{names: "html htm xml svg xhtml vue svelte plist", quotes: []quote{{open: "<!--", end: "-->", kind: Comment, raw: true, multi: true}}, scan: markup},
		{
			names: "css scss less sass", line: "//", quotes: []quote{block, double, single}, word: "-@#.", keys: ":",
			keywords: "@media @import @keyframes @font-face @supports @layer @container @mixin @include @extend @use @charset @apply from to and not only important inherit initial unset none auto",
		},
		{names: "markdown md mdx", scan: prose},
		{names: "diff patch", scan: changes},
		{
			names: "dockerfile docker containerfile", line: "#", quotes: []quote{double, single}, word: "$", fold: true, spaced: true,
			keywords: "add arg as cmd copy entrypoint env expose from healthcheck label maintainer onbuild run shell stopsignal user volume workdir",
		},
		{
			names: "makefile make mk gnumakefile", line: "#", quotes: []quote{double, single}, word: "$-.", keys: ":=?+",
			keywords: "define else endef endif export ifdef ifeq ifndef ifneq include override unexport vpath .PHONY",
		},
		{
			names: "lua", line: "--", quotes: []quote{{open: "--[[", end: "]]", kind: Comment, raw: true, multi: true}, {open: "[[", end: "]]", kind: String, raw: true, multi: true}, double, single},
			keywords: "and break do else elseif end false for function goto if in local nil not or repeat return then true until while self",
		},
		{
			names: "csharp c# cs", line: "//", quotes: []quote{block, triple, double, single}, word: "#", capital: true,
			keywords: "abstract as async await base break case catch checked class const continue default delegate do else enum event explicit extern finally fixed for foreach get goto if implicit in init interface internal is lock namespace new null operator out override params partial private protected public readonly record ref return sealed set sizeof stackalloc static struct switch this throw try typeof unchecked unsafe using value var virtual void volatile when where while yield true false #if #else #endif #region #endregion",
			types:    "bool byte char decimal double dynamic float int long nint object sbyte short string uint ulong ushort",
		},
		{
			names: "haskell hs", line: "--", quotes: []quote{{open: "{-", end: "-}", kind: Comment, raw: true, multi: true}, double, char}, word: "'", capital: true,
			keywords: "case class data default deriving do else family forall foreign if import in infix infixl infixr instance let module newtype of qualified then type where",
		},
		{
			names: "elixir ex exs", line: "#", quotes: []quote{triple, long(double), single}, word: "@?!", capital: true,
			keywords: "after alias and case catch cond def defdelegate defexception defguard defimpl defmacro defmodule defp defprotocol defstruct do else end fn for if import in nil not or quote raise receive require rescue super try unless unquote use when with true false",
		},
	}
}
