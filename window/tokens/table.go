package tokens

// The tables of this file were fitted once, by least squares, to the o200k_base encoding over texts of many kinds. Numbers are in
// units: 64 of them are a token.

// Rows of follows other than those of the letters a to z, which are 1 to 26.
const (
	accented  = 27 // any other letter of the Latin script; also a column
	bare      = 28 // the word begins with a letter
	afterGap  = 29 // it has a space before it that is part of it
	afterMark = 30 // or some other mark
)

// follows says what a letter, the column, adds to a word when it comes after another, the row. Pairs that are common within the
// words of languages and of code are cheap, for a tokenizer has them in one piece. Column 0 is no letter.
var follows = [32][32]int8{
	'a' & 31:  {0, 24, 7, 13, -6, 42, 3, -16, 25, 22, 37, 11, -11, 0, 0, 36, -6, 42, -14, -4, -17, 25, 20, 20, 8, -17, 25, 37},
	'b' & 31:  {0, 5, 45, 43, 30, -7, 48, 18, 22, 35, -10, 28, -17, 20, 22, 4, 41, 40, -12, -20, 15, 3, 42, 29, 33, 3, 54, 58},
	'c' & 31:  {0, 11, 47, 8, 35, -20, 41, 55, -12, 11, 34, -9, -10, 4, 40, 1, 27, 38, -25, 29, -27, 15, 44, 28, 48, -1, 21, 37},
	'd' & 31:  {0, 27, 44, 44, 9, 1, 53, 50, 58, 39, 38, 19, 26, 20, 33, 29, 38, 26, 10, 6, 21, 49, 65, 36, 36, -3, 16, 78},
	'e' & 31:  {0, 24, 36, 30, 5, 30, 18, 13, 25, 47, 53, 51, 22, 28, 9, 43, 38, 28, 0, 3, 16, 35, 40, 7, 10, 9, 55, 61},
	'f' & 31:  {0, 14, 38, 49, 36, 0, 10, 9, 34, 12, 49, 30, 13, -8, 16, 16, 31, 20, -11, 27, 17, 14, 49, 28, 49, 5, 37, 53},
	'g' & 31:  {0, 46, 68, 54, 56, 5, 29, 21, 5, 38, 50, 39, 23, 32, 3, 40, 66, 28, -6, 18, 30, 34, 46, 38, 42, 31, 27, 70},
	'h' & 31:  {0, 20, 61, 28, 27, -1, 41, 26, 51, 28, 20, 39, 11, 35, -12, 17, 22, 33, -2, 45, -20, 21, 37, 56, 31, 26, 44, 55},
	'i' & 31:  {0, 8, -8, -8, -8, -6, -5, -14, 24, 39, 1, 8, -13, 8, -17, -31, -7, 29, -18, -15, -21, 34, 5, 17, 9, 7, -15, 33},
	'j' & 31:  {0, 20, 38, 41, 63, 11, 55, 24, 35, 21, 38, -27, 35, 53, 16, 22, 18, 40, 3, -5, 29, 23, 33, 24, 53, 31, 18, 15},
	'k' & 31:  {0, 27, 16, 32, -6, -2, 40, 3, 3, 46, 39, 34, 32, 27, 13, 42, 20, -8, 29, 11, 5, 42, 54, 10, 47, 42, 70, 41},
	'l' & 31:  {0, 27, 39, 34, 9, -1, 20, 4, 34, 26, 72, 40, 19, 59, 25, 21, 12, 87, 33, 6, 24, 29, 37, 24, 57, -2, 65, 50},
	'm' & 31:  {0, 14, -5, 46, 42, -14, 32, 23, 29, 30, 33, 76, 16, 12, 23, 2, -3, 36, 22, 9, 20, 25, 70, 39, 55, 32, 39, 27},
	'n' & 31:  {0, 33, 55, 14, -12, 15, 12, -4, 31, 42, 49, 26, 7, 39, 16, 39, 33, 58, 14, -2, -7, 42, 21, 18, 60, 29, 39, 51},
	'o' & 31:  {0, 26, 5, 7, 8, -3, -8, -7, 24, 30, -6, 12, 1, 14, -8, 7, 3, 46, -21, 4, -5, 13, 11, -4, 4, 1, 44, 42},
	'p' & 31:  {0, 12, 47, 15, 11, -14, 48, 20, 17, 41, 33, 34, -4, 21, 31, 2, 26, 27, -19, 15, 4, 16, 23, 26, 47, 5, 52, 54},
	'q' & 31:  {0, 22, 38, 23, 39, 19, 48, 23, 16, 37, 32, 39, -13, 26, 29, 24, 30, 34, 54, 14, 23, -5, 44, 84, 35, 17, 48, 16},
	'r' & 31:  {0, 37, 49, 37, 20, 17, 23, 1, 44, 44, 47, 37, 38, 20, 6, 29, 41, 49, 15, 15, 22, 56, 55, 36, 46, 6, 62, 62},
	's' & 31:  {0, 47, 57, 34, 29, 7, 37, 24, 17, 42, 79, 40, 48, 55, 31, 37, 25, 59, 9, 1, 5, 39, 45, 9, 47, 15, 50, 42},
	't' & 31:  {0, 31, 54, 28, 30, 7, 12, 35, -3, 28, 78, 11, 34, 35, 25, 28, 13, 94, -3, 16, 24, 47, 80, -20, 30, 7, 32, 46},
	'u' & 31:  {0, -3, 3, 5, -7, -16, 1, -4, 47, 10, 33, 21, -30, 3, -6, 33, -16, 41, -38, -10, -15, 37, 23, 14, -11, 1, 21, 27},
	'v' & 31:  {0, 12, 42, 36, 34, -25, 38, 5, 38, 15, 40, 29, 15, 2, 19, 7, 35, 73, 15, 34, 37, 48, 48, 13, 37, 24, 26, 50},
	'w' & 31:  {0, 29, 41, 69, 23, 10, 52, 53, 23, 38, 39, 37, 25, 33, -14, 8, 34, 43, -1, 1, 36, 61, 51, 16, 47, 55, 59, 71},
	'x' & 31:  {0, 37, 45, 16, 21, 10, 29, 67, 20, 39, 33, 37, 36, -13, 40, 48, 24, 41, 42, 14, 4, 56, 36, 39, 10, 6, 39, 36},
	'y' & 31:  {0, 61, 61, 73, 47, 42, 67, 47, 93, 64, 52, 32, 35, 52, 17, 40, 38, 38, 20, 10, 28, 54, 55, 20, 35, 32, 46, 56},
	'z' & 31:  {0, 11, 47, 18, 15, 3, 37, 28, 44, 43, 47, 41, 17, 39, 13, 33, 26, 37, 17, 26, 20, 23, 38, 15, 22, 13, 43, 37},
	accented:  {0, 14, -1, 4, 26, -1, -3, 1, -13, 36, 31, -18, -13, 7, -7, 16, 27, 0, -5, 10, 2, 30, 22, 39, 20, -23, 41, 4},
	bare:      {0, 10, 16, 11, -5, 5, 15, 12, 9, 24, 16, 18, 8, 4, 2, 30, 10, 28, -5, -10, 3, 26, 22, 9, 29, 8, 29, 85},
	afterGap:  {0, -3, 4, -4, -27, -15, 1, -15, -1, 5, 5, -11, -1, 0, -12, 10, 2, 15, -31, -24, -16, 4, 5, -30, 24, -41, 2, 36},
	afterMark: {0, 44, 43, 34, 17, 14, 29, 27, 22, 43, 33, 42, 35, 28, 23, 47, 40, 63, 10, 11, 22, 47, 41, 26, 53, 19, 46, 70},
}

// Shapes of words, the rows of lengths.
const (
	lower = iota // word
	title        // Word
	upper        // WORD
	mixed        // HTTPWord
)

// longest is the number of letters from which on the length says no more than the letters do.
const longest = 20

// lengths says what the number of letters adds to a word of a shape, or takes: a few letters more often make one token.
var lengths = [4][longest + 1]int16{
	lower: {0, -52, -58, -41, -44, -35, -38, -33, -28, -25, -24, -21, -18, -9, 1, 12, 30, 40, 48, 56, 58},
	title: {0, 14, -27, -25, -34, -28, -31, -28, -23, -22, -12, -10, 7, 14, 20, 26, 34, 42, 50, 56, 62},
	upper: {0, -23, -33, -19, -15, -6, -7, 3, 22, 36, 42, 48, 54, 58, 60, 62, 64, 64, 64, 64, 64},
	mixed: {0, 16, 16, 8, 7, 10, 18, 19, 41, 23, 20, 16, 14, 12, 10, 10, 10, 10, 10, 10, 10},
}

// script is how a tokenizer treats the letters of a script: what the first one of a word adds, and what each that follows.
type script struct {
	begin, more int16
}

var (
	han        = script{40, 47}
	rareHan    = script{64, 96}
	kana       = script{36, 36}
	hangul     = script{24, 24}
	cyrillic   = script{0, 11}
	greek      = script{-93, 35}
	arabic     = script{-55, 28}
	hebrew     = script{-32, 32}
	devanagari = script{-89, 38}
	indic      = script{-70, 58} // the other scripts of India
	thai       = script{19, 26}
	others     = script{0, 19}
)

// blocks are the scripts of the code points below 0x1000, 128 of them each.
var blocks = [32]*script{
	6: &greek, &greek, &cyrillic, &cyrillic, &cyrillic, &hebrew, &arabic, &arabic, &arabic,
	18: &devanagari, &indic, &indic, &indic, &indic, &indic, &indic, &indic, &indic, &indic, &thai, &thai,
}

func scriptOf(r rune) *script {
	switch {
	case r < 0x1000:
		if sc := blocks[r>>7]; sc != nil {
			return sc
		}
	case 0x4e00 <= r && r <= 0x9fff:
		return &han
	case 0x3040 <= r && r <= 0x30ff:
		return &kana
	case 0xac00 <= r && r <= 0xd7a3:
		return &hangul
	case 0x3400 <= r && r <= 0x4dbf, 0xf900 <= r && r <= 0xfaff, r >= 0x20000:
		return &rareHan
	}
	return &others
}
