package baseline

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// logFile is a file of records. A record is in it whole or not at all, also if the process dies while it writes. The file has the time at
// which the process was last alive, too.
type logFile struct {
	f   *os.File
	end int64
}

const (
	logMagic  = "tenonlg1"
	logHeader = int64(len(logMagic) + 8) // and the time, in nanoseconds
	maxRecord = 1 << 30
)

// DamagedError reports that a log has not even one whole record.
type DamagedError struct{ File string }

// Error implements [error].
func (e *DamagedError) Error() string { return fmt.Sprintf("%s is damaged", e.File) }

// Begin replaces the log by one with a record, at once and as a whole.
func (b *Baseline) Begin(first []byte) (err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	name := filepath.Join(b.dir, logName)
	f, err := os.OpenFile(name+".new", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	l := &logFile{f: f, end: logHeader}
	_, err = f.WriteAt([]byte(logMagic), 0)
	if err == nil {
		err = l.append(first)
	}
	if err = errors.Join(err, f.Close()); err != nil { // some systems do not rename an open file
		return err
	}
	if b.log != nil {
		_ = b.log.f.Close() // it was written
		b.log = nil
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	if l.f, err = os.OpenFile(name, os.O_RDWR, 0); err == nil {
		b.log = l
	}
	return err
}

// Append adds a record to the log, and notes that the process is alive.
func (b *Baseline) Append(record []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.log == nil {
		return fs.ErrClosed
	}
	return b.log.append(record)
}

func (l *logFile) append(record []byte) error {
	frame := binary.BigEndian.AppendUint32(make([]byte, 0, 8+len(record)), uint32(len(record)))
	frame = append(binary.BigEndian.AppendUint32(frame, crc32.ChecksumIEEE(record)), record...)
	if _, err := l.f.WriteAt(frame, l.end); err != nil {
		return err
	}
	l.end += int64(len(frame))
	return l.beat()
}

// Beat notes that the process is alive.
func (b *Baseline) Beat() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.log == nil {
		return fs.ErrClosed
	}
	return b.log.beat()
}

func (l *logFile) beat() error {
	now := binary.BigEndian.AppendUint64(nil, uint64(time.Now().UnixNano()))
	_, err := l.f.WriteAt(now, int64(len(logMagic)))
	return err
}

// Size returns the bytes of the log; 0: there is none.
func (b *Baseline) Size() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.log == nil {
		return 0
	}
	return b.log.end
}

// Log returns the records of the log, and the time at which its process was last known to be alive. The error is a [*DamagedError], or the
// system's.
func (b *Baseline) Log() (records [][]byte, alive time.Time, err error) {
	f, err := os.Open(filepath.Join(b.dir, logName))
	if err != nil {
		return nil, alive, err
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, alive, err
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
		return nil, alive, &DamagedError{f.Name()}
	}
	return records, alive, nil
}
