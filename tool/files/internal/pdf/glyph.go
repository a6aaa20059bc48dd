package pdf

import (
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// standard lists the differences of Adobe's standard encoding from Windows-1252.
var standard = map[int]string{
	0x27: "’", 0x60: "‘", 0xa4: "⁄", 0xa6: "ƒ", 0xa8: "¤", 0xa9: "'", 0xaa: "“", 0xac: "‹", 0xad: "›", 0xae: "fi", 0xaf: "fl",
	0xb1: "–", 0xb2: "†", 0xb3: "‡", 0xb4: "·", 0xb7: "•", 0xb8: "‚", 0xb9: "„", 0xba: "”", 0xbc: "…", 0xbd: "‰",
	0xd0: "—", 0xe1: "Æ", 0xe8: "Ł", 0xe9: "Ø", 0xea: "Œ", 0xf1: "æ", 0xf5: "ı", 0xf8: "ł", 0xf9: "ø", 0xfa: "œ", 0xfb: "ß",
}

// glyphs maps the common names of Adobe's list, except letters, letters with accents, and names with a number.
var glyphs = map[string]string{
	"space": " ", "exclam": "!", "quotedbl": "\"", "numbersign": "#", "dollar": "$", "percent": "%", "ampersand": "&",
	"quotesingle": "'", "parenleft": "(", "parenright": ")", "asterisk": "*", "plus": "+", "comma": ",", "hyphen": "-",
	"period": ".", "slash": "/", "zero": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6",
	"seven": "7", "eight": "8", "nine": "9", "colon": ":", "semicolon": ";", "less": "<", "equal": "=", "greater": ">",
	"question": "?", "at": "@", "bracketleft": "[", "backslash": "\\", "bracketright": "]", "asciicircum": "^",
	"underscore": "_", "grave": "`", "braceleft": "{", "bar": "|", "braceright": "}", "asciitilde": "~",
	"quoteleft": "‘", "quoteright": "’", "quotedblleft": "“", "quotedblright": "”", "quotesinglbase": "‚",
	"quotedblbase": "„", "guillemotleft": "«", "guillemotright": "»", "guilsinglleft": "‹", "guilsinglright": "›",
	"endash": "–", "emdash": "—", "minus": "−", "bullet": "•", "ellipsis": "…", "dagger": "†", "daggerdbl": "‡",
	"section": "§", "paragraph": "¶", "copyright": "©", "registered": "®", "trademark": "™", "degree": "°",
	"exclamdown": "¡", "questiondown": "¿", "cent": "¢", "sterling": "£", "yen": "¥", "Euro": "€", "currency": "¤",
	"fi": "fi", "fl": "fl", "ff": "ff", "ffi": "ffi", "ffl": "ffl", "AE": "Æ", "ae": "æ", "OE": "Œ", "oe": "œ",
	"Oslash": "Ø", "oslash": "ø", "germandbls": "ß", "Lslash": "Ł", "lslash": "ł", "dotlessi": "ı", "Eth": "Ð", "eth": "ð",
	"Thorn": "Þ", "thorn": "þ", "Dcroat": "Đ", "dcroat": "đ", "multiply": "×", "divide": "÷", "plusminus": "±",
	"logicalnot": "¬", "mu": "µ", "onesuperior": "¹", "twosuperior": "²", "threesuperior": "³", "onehalf": "½",
	"onequarter": "¼", "threequarters": "¾", "periodcentered": "·", "ordfeminine": "ª", "ordmasculine": "º",
	"brokenbar": "¦", "fraction": "⁄", "perthousand": "‰", "nbspace": " ", "sfthyphen": "-", "acute": "´", "dieresis": "¨",
	"Alpha": "Α", "Beta": "Β", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ",
	"Phi": "Φ", "Psi": "Ψ", "Omega": "Ω", "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε",
	"zeta": "ζ", "eta": "η", "theta": "θ", "iota": "ι", "kappa": "κ", "lambda": "λ", "nu": "ν", "xi": "ξ", "pi": "π",
	"rho": "ρ", "sigma": "σ", "tau": "τ", "upsilon": "υ", "phi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω",
	"infinity": "∞", "partialdiff": "∂", "summation": "∑", "product": "∏", "radical": "√", "integral": "∫",
	"approxequal": "≈", "notequal": "≠", "lessequal": "≤", "greaterequal": "≥", "arrowright": "→", "arrowleft": "←",
	"element": "∈", "universal": "∀", "existential": "∃", "emptyset": "∅", "intersection": "∩", "union": "∪",
}

// accents maps the names of marks that follow a letter.
var accents = map[string]string{
	"grave": "\u0300", "acute": "\u0301", "circumflex": "\u0302", "tilde": "\u0303", "macron": "\u0304", "breve": "\u0306",
	"dotaccent": "\u0307", "dieresis": "\u0308", "ring": "\u030a", "hungarumlaut": "\u030b", "caron": "\u030c",
	"cedilla": "\u0327", "ogonek": "\u0328", "commaaccent": "\u0326",
}

// glyph returns the text of a character by its name, or "".
func glyph(name string) string {
	name, _, _ = strings.Cut(name, ".") // "a.sc" is a small capital
	if s, ok := glyphs[name]; ok {
		return s
	}
	if len(name) == 1 {
		return name
	}
	for _, prefix := range []string{"uni", "u"} {
		digits, ok := strings.CutPrefix(name, prefix)
		if n, err := strconv.ParseUint(digits, 16, 21); ok && len(digits) >= 4 && err == nil {
			return string(rune(n))
		}
	}
	if name == "" {
		return ""
	}
	if accent, ok := accents[name[1:]]; ok {
		return norm.NFC.String(name[:1] + accent)
	}
	return ""
}
