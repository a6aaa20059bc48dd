package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// databaseName is the file in the data directory that holds all sessions.
const databaseName = "sessions.db"

// checkpointsName is the directory in the data directory with what files contained, by session.
const checkpointsName = "checkpoints"

// DataDir is where Tenon keeps what must not be lost: $TENON_DATA_DIR, or the user's directory for data of programs. It
// is absolute. It need not exist.
func DataDir(getenv func(string) string) (string, error) {
	if dir := getenv("TENON_DATA_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	return dataDirOf(runtime.GOOS, getenv)
}

// dataDirOf is the data directory by the custom of an operating system.
func dataDirOf(goos string, getenv func(string) string) (string, error) {
	home := getenv("HOME")
	switch goos {
	case "windows":
		if dir := getenv("LocalAppData"); dir != "" {
			return filepath.Join(dir, "tenon"), nil
		}
		return "", errors.New("no place for sessions: neither TENON_DATA_DIR nor LocalAppData is set; set TENON_DATA_DIR to a directory")
	case "darwin", "ios":
		if home != "" {
			return filepath.Join(home, "Library", "Application Support", "tenon"), nil
		}
	default:
		// A relative path is to be ignored: https://specifications.freedesktop.org/basedir-spec/latest/
		if dir := getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
			return filepath.Join(dir, "tenon"), nil
		}
		if home != "" {
			return filepath.Join(home, ".local", "share", "tenon"), nil
		}
	}
	return "", errors.New("no place for sessions: neither TENON_DATA_DIR nor HOME is set; set TENON_DATA_DIR to a directory")
}

// makeDataDir creates the data directory, for its owner only. What holds the files of sessions is there before a command is confined: a
// sandbox can only hide what there is.
func makeDataDir(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, checkpointsName), 0o700); err != nil {
		return fmt.Errorf("make the data directory: %w; set TENON_DATA_DIR to a directory that you can write", err)
	}
	return nil
}
