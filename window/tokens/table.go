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
	'a' & 31:  {0, 25, 10, 13, -5, 46, 3, -18, 26, 20, 36, 13, -10, -1, -1, 34, -5, 38, -11, -2, -18, 25, 15, 18, 7, -15, 26, 39},
	'b' & 31:  {0, 4, 44, 41, 32, -5, 49, 17, 24, 35, -8, 29, -15, 23, 22, -1, 42, 39, -4, -20, 16, 1, 46, 31, 35, 6, 50, 55},
	'c' & 31:  {0, 12, 46, 10, 37, -21, 38, 57, -9, 9, 36, -10, -7, 4, 40, 0, 32, 38, -13, 26, -24, 12, 42, 27, 47, 1, 22, 39},
	'd' & 31:  {0, 25, 42, 44, 11, -2, 53, 47, 53, 35, 39, 18, 24, 29, 36, 24, 38, 27, 17, 7, 18, 47, 58, 39, 34, -6, 19, 78},
	'e' & 31:  {0, 22, 38, 28, 6, 32, 20, 12, 30, 47, 52, 50, 22, 28, 9, 43, 36, 22, 3, 6, 15, 34, 37, 10, 11, 7, 51, 62},
	'f' & 31:  {0, 13, 40, 47, 36, 0, 13, 36, 36, 10, 49, 27, 14, -8, 15, 9, 28, 21, -9, 30, 17, 9, 46, 26, 41, 10, 38, 44},
	'g' & 31:  {0, 44, 66, 50, 56, 4, 40, 18, 8, 35, 44, 36, 20, 32, 5, 36, 64, 27, 0, 19, 24, 26, 45, 37, 41, 30, 27, 71},
	'h' & 31:  {0, 18, 60, 30, 32, -4, 37, 24, 49, 25, 24, 39, 8, 32, -14, 14, 19, 32, 6, 45, -23, 16, 35, 59, 30, 24, 42, 47},
	'i' & 31:  {0, 10, -8, -6, -7, -10, -5, -16, 26, 43, 2, 9, -13, 8, -16, -31, -8, 30, -15, -11, -22, 32, 6, 22, 11, 19, -17, 29},
	'j' & 31:  {0, 17, 36, 39, 63, 9, 50, 24, 34, 20, 37, -16, 40, 48, 21, 21, 15, 40, 18, -5, 33, 20, 34, 26, 52, 31, 30, 10},
	'k' & 31:  {0, 29, 20, 35, -6, -1, 42, 2, 12, 43, 33, 37, 35, 30, 7, 46, 29, -2, 39, 15, 9, 43, 42, 10, 47, 41, 71, 42},
	'l' & 31:  {0, 26, 35, 32, 8, -2, 17, 8, 35, 25, 75, 40, 21, 69, 24, 16, 13, 86, 40, 7, 23, 23, 30, 25, 53, -4, 63, 51},
	'm' & 31:  {0, 12, -7, 47, 42, -16, 30, 26, 35, 29, 33, 76, 15, 12, 20, -3, 1, 36, 27, 12, 18, 26, 72, 44, 53, 26, 38, 26},
	'n' & 31:  {0, 34, 57, 14, -10, 13, 22, -2, 32, 39, 47, 24, 11, 41, 13, 39, 35, 59, 23, 0, -6, 37, 22, 27, 58, 31, 38, 52},
	'o' & 31:  {0, 25, 8, 8, 11, 4, -10, -4, 30, 31, -10, 10, 3, 13, -8, 8, 5, 46, -15, 9, -8, 11, 12, -5, 9, 6, 43, 47},
	'p' & 31:  {0, 12, 43, 22, 15, -13, 49, 22, 18, 39, 32, 34, -5, 19, 31, -5, 24, 25, -13, 14, 2, 12, 24, 25, 43, 5, 49, 52},
	'q' & 31:  {0, 23, 38, 23, 39, 20, 48, 23, 16, 36, 32, 39, -11, 26, 29, 23, 30, 34, 56, 16, 23, -4, 43, 78, 35, 20, 48, 16},
	'r' & 31:  {0, 29, 48, 31, 17, 10, 21, -1, 40, 36, 48, 35, 33, 16, 0, 19, 39, 47, 14, 14, 20, 46, 46, 33, 40, 1, 56, 57},
	's' & 31:  {0, 45, 55, 32, 28, 3, 31, 22, 16, 37, 65, 36, 47, 51, 25, 31, 24, 54, 5, 0, 3, 34, 38, 9, 46, 15, 46, 42},
	't' & 31:  {0, 29, 57, 27, 33, 6, 11, 40, 0, 27, 78, 18, 34, 34, 30, 27, 16, 95, 4, 17, 25, 43, 75, -14, 29, 6, 34, 47},
	'u' & 31:  {0, 1, 3, 4, -3, -12, 0, 1, 41, 14, 38, 22, -32, 6, -5, 32, -14, 42, -32, -8, -13, 40, 18, 25, -6, 7, 17, 30},
	'v' & 31:  {0, 11, 43, 42, 35, -23, 40, 7, 39, 14, 42, 31, 19, 6, 26, 7, 30, 73, 23, 36, 36, 48, 50, 18, 39, 28, 28, 51},
	'w' & 31:  {0, 29, 42, 60, 23, 9, 51, 52, 25, 35, 38, 38, 27, 33, -13, -1, 33, 42, 4, 2, 34, 49, 51, 16, 46, 60, 56, 67},
	'x' & 31:  {0, 34, 45, 17, 24, 10, 31, 67, 20, 38, 33, 37, 36, -9, 41, 47, 25, 41, 44, 18, 3, 55, 36, 39, 11, 5, 40, 36},
	'y' & 31:  {0, 56, 54, 72, 43, 36, 61, 54, 87, 56, 52, 33, 31, 50, 12, 32, 37, 37, 28, 9, 27, 52, 52, 22, 34, 22, 47, 54},
	'z' & 31:  {0, 9, 44, 25, 17, 6, 38, 27, 43, 43, 46, 41, 26, 42, 19, 32, 29, 39, 16, 35, 16, 21, 35, 17, 23, 18, 44, 38},
	accented:  {0, 18, -5, 6, 26, 0, -12, -1, -12, 35, 34, -18, -12, 11, -9, 18, 26, -1, 2, 13, 0, 25, 23, 40, 19, -19, 44, 5},
	bare:      {0, 9, 13, 10, -3, 6, 17, 14, 9, 22, 16, 17, 9, 5, 2, 25, 12, 27, 4, -6, 1, 25, 19, 9, 26, 11, 25, 85},
	afterGap:  {0, -6, 2, -5, -24, -16, 2, -13, 2, 3, 10, -10, -1, 1, -13, 8, 4, 15, -22, -21, -15, 2, 3, -28, 22, -37, 2, 31},
	afterMark: {0, 43, 43, 35, 21, 15, 34, 28, 24, 43, 36, 42, 35, 30, 23, 45, 42, 62, 23, 15, 22, 47, 40, 27, 49, 22, 44, 59},
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
	lower: {0, -47, -57, -41, -45, -36, -40, -34, -28, -25, -24, -20, -17, -10, 0, 11, 29, 39, 47, 55, 57},
	title: {0, 13, -26, -25, -35, -29, -32, -31, -27, -24, -14, -10, 4, 13, 19, 25, 33, 41, 49, 55, 61},
	upper: {0, -20, -34, -21, -16, -7, -8, 2, 21, 35, 41, 47, 53, 57, 59, 61, 63, 63, 63, 63, 63},
	mixed: {0, 16, 16, 8, 8, 13, 20, 21, 37, 25, 20, 16, 14, 12, 10, 10, 10, 10, 10, 10, 10},
}

// script is how a tokenizer treats the letters of a script: what the first one of a word adds, and what each that follows.
type script struct {
	begin, more int16
}

var (
	han        = script{40, 47}
	rareHan    = script{64, 96}
	kana       = script{33, 33}
	hangul     = script{24, 24}
	cyrillic   = script{1, 13}
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
