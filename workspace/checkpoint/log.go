package checkpoint

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"
)

// Log is a file of records beside the contents. A record is there as a whole or not at all, also when the process dies while it is
// written; it is not durable before the system writes it. The file also says when its process was last alive. A store has one log,
// and one process at a time that writes it. Its methods are safe for concurrent use.
type Log struct {
	store *Store

	mu  sync.Mutex
	f   *os.File
	end int64
}

const (
	logName   = "baseline"
	logMagic  = "tenonlg1"
	logHeader = int64(len(logMagic) + 8) // and when the process was alive, in nanoseconds
	maxRecord = 1 << 30
)

// DamagedLogError says that a log has not even one whole record.
type DamagedLogError struct{ File string }

func (e *DamagedLogError) Error() string { return fmt.Sprintf("%s is damaged", e.File) }

// CreateLog begins a log with a record. It takes the place of the one before, at once and as a whole. The caller closes it.
func (s *Store) CreateLog(first []byte) (_ *Log, err error) {
	if err := s.settle(); err != nil {
		return nil, fmt.Errorf("checkpoints: %w", err)
	}
	temp := tempPrefix + rand.Text()
	f, err := s.root.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("checkpoints: %w", err)
	}
	l := &Log{store: s, f: f, end: logHeader}
	_, err = f.WriteAt([]byte(logMagic), 0)
	if err == nil {
		err = l.Append(first)
	}
	if err = errors.Join(err, f.Close()); err == nil { // some systems do not rename what is open
		err = s.root.Rename(temp, logName)
	}
	if err == nil {
		l.f, err = s.root.OpenFile(logName, os.O_RDWR, 0)
	}
	if err != nil {
		_ = s.root.Remove(temp)
		return nil, fmt.Errorf("checkpoints: %w", err)
	}
	return l, nil
}

// Append adds a record, and says that the process is alive.
func (l *Log) Append(record []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, 8+len(record)), uint32(len(record)))
	frame = append(binary.BigEndian.AppendUint32(frame, crc32.ChecksumIEEE(record)), record...)
	if _, err := l.f.WriteAt(frame, l.end); err != nil {
		return fmt.Errorf("checkpoints: %w", err)
	}
	l.end += int64(len(frame))
	return l.beat()
}

// Beat says that the process is alive.
func (l *Log) Beat() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.beat()
}

func (l *Log) beat() error {
	now := binary.BigEndian.AppendUint64(nil, uint64(time.Now().UnixNano()))
	if _, err := l.f.WriteAt(now, int64(len(logMagic))); err != nil {
		return fmt.Errorf("checkpoints: %w", err)
	}
	return nil
}

// Size is how large the file is, in bytes.
func (l *Log) Size() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.end
}

// Close lets go of the file, which stays.
func (l *Log) Close() error { return l.f.Close() }

// ReadLog returns the records of the log, and when its process was last known to be alive. The error is [fs.ErrNotExist] when there is
// no log, a [*DamagedLogError], or what the system says.
func (s *Store) ReadLog() (records [][]byte, alive time.Time, err error) {
	if err := s.lookAgain(); err != nil {
		return nil, alive, fmt.Errorf("checkpoints: %w", err)
	}
	if s.root == nil {
		return nil, alive, fmt.Errorf("checkpoints: %w", fs.ErrNotExist)
	}
	f, err := s.root.Open(logName)
	if err != nil {
		return nil, alive, fmt.Errorf("checkpoints: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, alive, fmt.Errorf("checkpoints: %w", err)
	}
	if int64(len(data)) >= logHeader && string(data[:len(logMagic)]) == logMagic {
		alive = time.Unix(0, int64(binary.BigEndian.Uint64(data[len(logMagic):])))
		for data = data[logHeader:]; len(data) >= 8; {
			size, sum := int64(binary.BigEndian.Uint32(data)), binary.BigEndian.Uint32(data[4:])
			if size > maxRecord || size > int64(len(data)-8) || crc32.ChecksumIEEE(data[8:8+size]) != sum {
				break
			}
			records = append(records, data[8:8+size:8+size])
			data = data[8+size:]
		}
	}
	if len(records) == 0 {
		return nil, alive, fmt.Errorf("checkpoints: %w", &DamagedLogError{s.path(logName)})
	}
	return records, alive, nil
}

// HasLog reports whether there is a log.
func (s *Store) HasLog() bool {
	if s.lookAgain() != nil || s.root == nil {
		return false
	}
	_, err := s.root.Stat(logName)
	return err == nil
}

// RemoveLog removes the log, if there is one. The one who writes it has closed it.
func (s *Store) RemoveLog() error {
	if s.root == nil {
		return nil
	}
	if err := s.root.Remove(logName); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("checkpoints: %w", err)
	}
	return nil
}
