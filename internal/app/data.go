package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/tenon-agent/tenon/conversation"
	"github.com/tenon-agent/tenon/internal/attach"
)

// databaseName is the file in the data directory that holds all sessions.
const databaseName = "sessions.db"

// DataDir returns the directory of Tenon's data: $TENON_DATA_DIR, or a directory in the user's directory for application data. It is
// absolute and need not exist.
func DataDir(getenv func(string) string) (string, error) {
	if dir := getenv("TENON_DATA_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	return dataDirOf(runtime.GOOS, getenv)
}

// dataDirOf returns the data directory on an operating system.
func dataDirOf(goos string, getenv func(string) string) (string, error) {
	home := getenv("HOME")
	switch goos {
	case "windows":
		if dir := getenv("LocalAppData"); dir != "" {
			return filepath.Join(dir, "tenon"), nil
		}
		return "", errors.New("cannot store sessions: neither TENON_DATA_DIR nor LocalAppData is set; set TENON_DATA_DIR to a directory")
	case "darwin", "ios":
		if home != "" {
			return filepath.Join(home, "Library", "Application Support", "tenon"), nil
		}
	default:
		// Programs must ignore a relative path: https://specifications.freedesktop.org/basedir-spec/latest/
		if dir := getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
			return filepath.Join(dir, "tenon"), nil
		}
		if home != "" {
			return filepath.Join(home, ".local", "share", "tenon"), nil
		}
	}
	return "", errors.New("cannot store sessions: neither TENON_DATA_DIR nor HOME is set; set TENON_DATA_DIR to a directory")
}

// makeDataDir creates the data directory, readable by its owner only. It also creates the directories of contents, because a sandbox can
// only hide a directory that exists.
func makeDataDir(dir string) error {
	for _, name := range []string{conversation.ContentsName, conversation.BaselinesName, attach.DirName, worktreesName, mcpName, apisName} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return fmt.Errorf("cannot create the data directory: %w; set TENON_DATA_DIR to a directory that you can write", err)
		}
	}
	return nil
}
