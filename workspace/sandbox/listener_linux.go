package sandbox

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// receiveListener takes a listening socket that was sent over a connection.
func receiveListener(control *net.UnixConn) (net.Listener, error) {
	buf, rights := make([]byte, 1), make([]byte, syscall.CmsgSpace(4))
	_, n, _, _, err := control.ReadMsgUnix(buf, rights)
	if err != nil {
		return nil, err
	}
	messages, err := syscall.ParseSocketControlMessage(rights[:n])
	if err != nil || len(messages) == 0 {
		return nil, errors.Join(err, errors.New("no listener came"))
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	if err != nil || len(fds) == 0 {
		return nil, errors.Join(err, errors.New("no listener came"))
	}
	file := os.NewFile(uintptr(fds[0]), "listener")
	defer file.Close()
	return net.FileListener(file)
}
