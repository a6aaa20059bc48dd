package sandbox

import (
	"errors"
	"net"
	"os"
	"syscall"
)

// receiveListeners takes listening sockets that were sent over a connection, at least one.
func receiveListeners(control *net.UnixConn) ([]net.Listener, error) {
	buf, rights := make([]byte, 1), make([]byte, syscall.CmsgSpace(4*(1+maxRelays)))
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
	var list []net.Listener
	for _, fd := range fds {
		file := os.NewFile(uintptr(fd), "listener")
		l, failed := net.FileListener(file)
		if err = errors.Join(err, failed, file.Close()); failed == nil {
			list = append(list, l)
		}
	}
	if err != nil {
		for _, l := range list {
			l.Close()
		}
		return nil, err
	}
	return list, nil
}
