package files

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	utf16 "golang.org/x/text/encoding/unicode"

	"github.com/tenon-agent/tenon/tool"
)

// coding is the encoding of a file. The zero value takes the bytes as text, whether they are valid UTF-8 or not.
type coding struct {
	name string
	encoding.Encoding
}

// A byte order mark is a part of the text, so that encoding restores it.
var (
	utf16LE = coding{"UTF-16LE", utf16.UTF16(utf16.LittleEndian, utf16.IgnoreBOM)}
	utf16BE = coding{"UTF-16BE", utf16.UTF16(utf16.BigEndian, utf16.IgnoreBOM)}
	western = coding{"Windows-1252", charmap.Windows1252} // Latin-1 and more
)

// asian lists the two-byte encodings, with their most common characters.
var asian = []struct {
	coding
	common string
	least  float64 // share of common characters that identifies the encoding
}{
	{coding{"GBK", simplifiedchinese.GBK}, simplified, 0.3},
	{coding{"Big5", traditionalchinese.Big5}, traditional, 0.3},
	{coding{"EUC-KR", korean.EUCKR}, hangul, 0.3},
	{coding{"Shift-JIS", japanese.ShiftJIS}, kana, 0.25},
	{coding{"EUC-JP", japanese.EUCJP}, kana, 0.25},
}

const (
	simplified  = "的一是不了在有人我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运配置默认序码错误输返值参"
	traditional = "的一是不了在有人我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西月話合回特代內信表化老給世位次度門任常先海通教原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活更別打女變四神總何電數安少報才結反受目太量再感建務做接必場件計管期市直資命山金指許統區保至隊形社便空決治展科司五基書非則聽白卻界達光放強即難且權思王象完設式色路記品住告類求據程邊該交規取格望術領共確傳師觀清今切院讓識候帶導爭運檔案預碼錯誤輸返值參"
	hangul      = "이다는에을의가고로하지한도은를기서사자어리니그나시인해라대아것들수있정보일과부스제전상주만여면구장게안할원으원적성무공신생국동우마오연관용조된되합없않습세경요음위모소었했때러더등또간내입출력파명설문값류변"
	kana        = "ぁあぃいぅうぇえぉおかがきぎくぐけげこごさざしじすずせぜそぞただちぢっつづてでとどなにぬねのはばぱひびぴふぶぷへべぺほぼぽまみむめもゃやゅゆょよらりるれろわをんァアィイゥウェエォオカガキギクグケゲコゴサザシジスズセゼソゾタダチヂッツヅテデトドナニヌネノハバパヒビピフブプヘベペホボポマミムメモャヤュユョヨラリルレロワヲンヴー"
)

// decodeText returns the text of a file and its encoding. If the encoding is uncertain, the bytes are the text, so that an edit keeps
// all bytes that it does not change. Encoding the text always restores the same bytes.
func decodeText(data []byte) (string, coding) {
	if utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 {
		return string(data), coding{}
	}
	for _, c := range candidates(data) {
		if text, ok := c.decode(data); ok {
			return text, c
		}
	}
	return string(data), coding{}
}

// decode reports false if encoding the text does not restore the same bytes.
func (c coding) decode(data []byte) (string, bool) {
	text, err := c.NewDecoder().Bytes(data)
	if err != nil || tool.Binary(string(text)) {
		return "", false
	}
	back, err := c.NewEncoder().Bytes(text)
	return string(text), err == nil && bytes.Equal(back, data)
}

// exact returns the bytes of a text, and false if they do not restore the text.
func (c coding) exact(text string) ([]byte, bool) {
	data, err := c.NewEncoder().Bytes([]byte(text))
	if err != nil {
		return nil, false
	}
	back, err := c.NewDecoder().Bytes(data)
	return data, err == nil && string(back) == text
}

// encode returns the bytes of a text. The error names a character that the encoding lacks.
func (c coding) encode(text string) ([]byte, error) {
	if c.Encoding == nil {
		return []byte(text), nil
	}
	if data, ok := c.exact(text); ok {
		return data, nil
	}
	line := 1
	for _, r := range text {
		if r == '\n' {
			line++
			continue
		}
		if _, ok := c.exact(string(r)); ok {
			continue
		}
		return nil, tool.Codef("tool.encoding", "the file is in %s, which has no %q (U+%04X), as in line %d of the new text; use other characters, "+
			"or convert the file to UTF-8 first", c.name, r, r, line)
	}
	return nil, tool.Codef("tool.encoding", "the file is in %s, which cannot encode the new text; convert the file to UTF-8 first", c.name)
}

// candidates returns the encodings that data has with certainty, if any.
func candidates(data []byte) []coding {
	switch {
	case bytes.HasPrefix(data, []byte{0xff, 0xfe}):
		return []coding{utf16LE}
	case bytes.HasPrefix(data, []byte{0xfe, 0xff}):
		return []coding{utf16BE}
	case bytes.IndexByte(data, 0) >= 0:
		return wide(data)
	}
	sample := data[:min(len(data), 64<<10)]
	best, second, found := 0.0, 0.0, coding{}
	for _, a := range asian {
		share := a.share(sample, a.common)
		if share > best {
			best, second = share, best
			found = coding{}
			if share >= a.least {
				found = a.coding
			}
			continue
		}
		second = max(second, share)
	}
	if found.Encoding != nil && best >= 1.5*second {
		return []coding{found}
	}
	if isWestern(data) {
		return []coding{western}
	}
	return nil
}

// wide recognizes UTF-16 without a byte order mark, if most of it is ASCII.
func wide(data []byte) []coding {
	if len(data)%2 != 0 || len(data) < 4 {
		return nil
	}
	for order, c := range map[binary.ByteOrder]coding{binary.LittleEndian: utf16LE, binary.BigEndian: utf16BE} {
		plain := 0
		for i := 0; i < len(data); i += 2 {
			switch u := order.Uint16(data[i:]); {
			case u == 0:
				return nil
			case u >= ' ' && u < 0x7f || u == '\n' || u == '\t' || u == '\r':
				plain++
			}
		}
		if plain*10 >= len(data)/2*6 {
			return []coding{c}
		}
	}
	return nil
}

// share is the part of the characters beyond ASCII that are common ones; 0 if the bytes are in another encoding, or too few.
func (c coding) share(data []byte, common string) float64 {
	const fewest = 3
	text, err := c.NewDecoder().Bytes(data)
	if err != nil {
		return 0
	}
	n, hits, broken := 0, 0, 0
	for _, r := range string(text) {
		switch {
		case r < utf8.RuneSelf, r >= 0x3000 && r < 0x3040, r >= 0xff01 && r <= 0xff5e: // punctuation
		case r == utf8.RuneError:
			broken++
		case r >= 0xe000 && r < 0xf900: // for private use
			return 0
		default:
			n++
			if strings.ContainsRune(common, r) {
				hits++
			}
		}
	}
	// The sample may end within a character.
	if n < fewest || broken > 1 {
		return 0
	}
	return float64(hits) / float64(n)
}

// isWestern reports whether the bytes beyond ASCII are letters within words, or punctuation, of Western European languages.
func isWestern(data []byte) bool {
	const (
		letters     = "ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜßàáâãäåæçèéêëìíîïñòóôõöøùúûüŒœ"
		punctuation = "€‚„…‘’“”•–—™¡£§©«®°±²³·»¼½¾¿×\u00a0µªº"
	)
	n, good, row := 0, 0, 0
	for i, b := range data {
		if b < utf8.RuneSelf {
			row = 0
			if b < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1b", rune(b)) {
				return false
			}
			continue
		}
		n++
		row++
		r := charmap.Windows1252.DecodeByte(b)
		switch {
		case row > 3 || unicode.IsControl(r):
			return false
		case strings.ContainsRune(letters, r):
			if letter(data, i-1) || letter(data, i+1) {
				good++
			}
		case strings.ContainsRune(punctuation, r):
			good++
		}
	}
	return n > 0 && good*10 >= n*9
}

func letter(data []byte, i int) bool {
	return i >= 0 && i < len(data) && (data[i]|0x20 >= 'a' && data[i]|0x20 <= 'z' || data[i] >= 0xc0)
}
