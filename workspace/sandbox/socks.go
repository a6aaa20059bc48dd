package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
)

// Answers of SOCKS5.
const (
	socksGranted    = 0
	socksFailed     = 1
	socksRefused    = 2
	socksNoCommand  = 7
	socksNoAddress  = 8
	socksVersion    = 5
	socksConnect    = 1
	socksNoMethod   = 0xff
	socksAddress4   = 1
	socksDomain     = 3
	socksAddress6   = 4
	socksNoPassword = 0
)

// socksError is an answer other than success.
type socksError byte

func (e socksError) Error() string { return "SOCKS request refused with code " + strconv.Itoa(int(e)) }

// readSOCKS reads a request to connect, and answers the greeting before it.
func readSOCKS(c io.ReadWriter) (name string, port int, err error) {
	var head [4]byte
	if _, err := io.ReadFull(c, head[:2]); err != nil {
		return "", 0, err
	}
	methods := make([]byte, head[1])
	if _, err := io.ReadFull(c, methods); err != nil {
		return "", 0, err
	}
	if head[0] != socksVersion {
		return "", 0, fmt.Errorf("version %d of SOCKS", head[0])
	}
	method := byte(socksNoMethod)
	for _, m := range methods {
		if m == socksNoPassword {
			method = m
		}
	}
	if _, err := c.Write([]byte{socksVersion, method}); err != nil {
		return "", 0, err
	}
	if method == socksNoMethod {
		return "", 0, errors.New("the SOCKS client wants to sign in")
	}
	if _, err := io.ReadFull(c, head[:]); err != nil {
		return "", 0, err
	}
	if name, err = readSOCKSAddress(c, head[3]); err != nil {
		return "", 0, err
	}
	if _, err := io.ReadFull(c, head[2:4]); err != nil {
		return "", 0, err
	}
	if head[0] != socksVersion || head[1] != socksConnect {
		return "", 0, socksError(socksNoCommand)
	}
	return name, int(head[2])<<8 | int(head[3]), nil
}

func readSOCKSAddress(c io.Reader, kind byte) (string, error) {
	size := []byte{0}
	switch kind {
	case socksAddress4:
		size[0] = 4
	case socksAddress6:
		size[0] = 16
	case socksDomain:
		if _, err := io.ReadFull(c, size); err != nil {
			return "", err
		}
	default:
		return "", socksError(socksNoAddress)
	}
	text := make([]byte, size[0])
	if _, err := io.ReadFull(c, text); err != nil {
		return "", err
	}
	if kind == socksDomain {
		return string(text), nil
	}
	addr, _ := netip.AddrFromSlice(text)
	return addr.String(), nil
}

// socks serves a client that speaks SOCKS5.
func (p *proxy) socks(c net.Conn, in io.Reader) {
	name, port, err := readSOCKS(struct {
		io.Reader
		io.Writer
	}{in, c})
	answer := func(code byte) {
		_, _ = c.Write([]byte{socksVersion, code, 0, socksAddress4, 0, 0, 0, 0, 0, 0})
	}
	if refused, ok := errors.AsType[socksError](err); ok {
		answer(byte(refused))
		return
	}
	if err != nil {
		return
	}
	out, err := p.dial(name, port)
	switch refused := (*refusal)(nil); {
	case errors.As(err, &refused):
		answer(socksRefused)
	case err != nil:
		answer(socksFailed)
	default:
		answer(socksGranted)
		p.join(c, in, out)
	}
}
